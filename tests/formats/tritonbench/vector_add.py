import torch
import triton
import triton.language as tl


@triton.jit
def _add_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    n_elements,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    inside = offsets < n_elements
    a = tl.load(a_ptr + offsets, mask=inside)
    b = tl.load(b_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, a + b, mask=inside)


def vector_add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The sum of two vectors on the GPU."""
    out = torch.empty_like(a)
    assert a.is_cuda and b.is_cuda and out.is_cuda
    n = out.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)
    _add_kernel[grid](a, b, out, n, BLOCK_SIZE=1024)
    return out


##################################################################################################################################################


import torch


def test_vector_add():
    results = {}
    torch.manual_seed(0)
    for i, size in enumerate([98432, 1024, 1000, 257], start=1):
        a = torch.rand(size, device='cuda')
        b = torch.rand(size, device='cuda')
        results[f"test_case_{i}"] = vector_add(a, b)
    return results


result_gold = test_vector_add()
