import torch
import triton
import triton.language as tl


@triton.jit
def index_select_kernel(output_ptr, source_ptr, index_ptr, num_indices, num_cols, stride0, stride1,
                        BLOCK_SIZE_INDEX: tl.constexpr, BLOCK_SIZE_COL: tl.constexpr):
    pid0 = tl.program_id(axis=0)
    pid1 = tl.program_id(axis=1)
    places = pid0 * BLOCK_SIZE_INDEX + tl.arange(0, BLOCK_SIZE_INDEX)
    rows = tl.load(index_ptr + places, mask=places < num_indices)
    cols = pid1 * BLOCK_SIZE_COL + tl.arange(0, BLOCK_SIZE_COL)
    mask = (places[:, None] < num_indices) & (cols[None, :] < num_cols)
    values = tl.load(source_ptr + rows[:, None] * stride0 + cols[None, :] * stride1, mask=mask)
    tl.store(output_ptr + places[:, None] * num_cols + cols[None, :], values, mask=mask)


def index_select_cat_fwd(
    output: torch.Tensor,
    source: torch.Tensor,
    index: torch.Tensor,
):
    if not (source.is_cuda and index.is_cuda):
        raise ValueError("The index tensor and the source tensor must be of type CUDA!")
    if not source.ndim == 2:
        raise ValueError(f"Expected 2-dimensional tensor, got {source.ndim}.")
    if not index.ndim == 1:
        raise ValueError(f"Expected 1-dimensional tensor, got {index.ndim}.")
    num_rows, num_cols = source.shape
    num_indices = index.shape[0]
    if num_indices >= num_rows:
        raise ValueError("The number of indices cannot exceed the number of rows in the source matrix.")
    BLOCK_SIZE_INDEX = 1
    BLOCK_SIZE_COL = 512

    def grid(meta):
        return (
            triton.cdiv(num_indices, meta["BLOCK_SIZE_INDEX"]),
            triton.cdiv(num_cols, meta["BLOCK_SIZE_COL"]),
        )

    index_select_kernel[grid](output, source, index, num_indices, num_cols, source.stride(0), source.stride(1),
                              BLOCK_SIZE_INDEX=BLOCK_SIZE_INDEX, BLOCK_SIZE_COL=BLOCK_SIZE_COL)
    return output


##################################################################################################################################################


import torch

def test_index_select_cat_fwd():
    results = {}
    source = torch.randn(128, 256, device='cuda')
    index = torch.randint(0, 128, (16,), device='cuda')
    output = torch.empty(16, 256, device='cuda')
    results['test_case_1'] = index_select_cat_fwd(output, source, index)

    index = torch.randint(0, 128, (100,), device='cuda')
    output = torch.empty(100, 256, device='cuda')
    results['test_case_2'] = index_select_cat_fwd(output, source, index)

    # too many indices
    try:
        index_select_cat_fwd(torch.empty(200, 256, device='cuda'), source, torch.randint(0, 128, (200,), device='cuda'))
    except ValueError as e:
        results['test_case_3'] = str(e)
    return results

result_gold = test_index_select_cat_fwd()
