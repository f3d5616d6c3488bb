import triton
import triton.language as tl
import torch


@triton.jit
def rmsnorm_fwd(x_ptr, w_ptr, out_ptr, stride_b, stride_m, stride_k, N_SIZE: tl.constexpr, eps: tl.constexpr,
                BLOCK_N: tl.constexpr):
    pid_batch = tl.program_id(0)
    pid_m = tl.program_id(1)
    base = pid_batch * stride_b + pid_m * stride_m
    lanes = tl.arange(0, BLOCK_N)
    squares = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, N_SIZE, BLOCK_N):
        cols = start + lanes
        x = tl.load(x_ptr + base + cols * stride_k, mask=cols < N_SIZE, other=0.0).to(tl.float32)
        squares += x * x
    rstd = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / N_SIZE + eps)
    for start in range(0, N_SIZE, BLOCK_N):
        cols = start + lanes
        w = tl.load(w_ptr + cols, mask=cols < N_SIZE)
        x = tl.load(x_ptr + base + cols * stride_k, mask=cols < N_SIZE, other=0.0).to(tl.float32)
        tl.store(out_ptr + base + cols * stride_k, x * rstd * w, mask=cols < N_SIZE)


def rmsnorm_wrapper(x, rms_weights, eps=1e-6):
    batch, M, K = x.shape
    assert rms_weights.shape[-1] == K
    out = torch.empty_like(x)
    rmsnorm_fwd[(batch, M)](x, rms_weights, out, *x.stride(), N_SIZE=K, eps=eps, BLOCK_N=256)
    return out


##################################################################################################################################################


import torch

# Test function
def test_rmsnorm():
    results = {}
    for i, (batch, M, K) in enumerate([(2, 8, 4096), (4, 16, 2048), (1, 4, 1000)]):
        x = torch.randn((batch, M, K), dtype=torch.float16, device="cuda")
        rms_weights = torch.randn((K,), dtype=torch.float16, device="cuda")
        results[f"test_case_{i + 1}"] = rmsnorm_wrapper(x, rms_weights)
    # with another epsilon
    x = torch.randn((2, 4, 512), dtype=torch.float16, device="cuda")
    results["test_case_4"] = rmsnorm_wrapper(x, torch.ones((512,), dtype=torch.float16, device="cuda"), eps=1e-5)
    return results

result_gold = test_rmsnorm()
