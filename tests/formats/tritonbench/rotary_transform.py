from typing import Optional, Union

import torch
import triton
import triton.language as tl


@triton.jit
def rotary_kernel(OUT, X, COS, SIN, seqlen, nheads, rotary_dim, seqlen_ro, stride_out_batch, stride_out_seqlen,
                  stride_out_nheads, stride_x_batch, stride_x_seqlen, stride_x_nheads, BLOCK_K: tl.constexpr,
                  INTERLEAVED: tl.constexpr, BLOCK_M: tl.constexpr):
    pid_m = tl.program_id(axis=0)
    pid_batch = tl.program_id(axis=1)
    pid_head = tl.program_id(axis=2)
    half = rotary_dim // 2
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rk = tl.arange(0, BLOCK_K)
    X += pid_batch * stride_x_batch + pid_head * stride_x_nheads
    OUT += pid_batch * stride_out_batch + pid_head * stride_out_nheads
    mask = (rm[:, None] < seqlen) & (rk[None, :] < half)
    cos = tl.load(COS + rm[:, None] * half + rk[None, :], mask=mask, other=1.0).to(tl.float32)
    sin = tl.load(SIN + rm[:, None] * half + rk[None, :], mask=mask, other=0.0).to(tl.float32)
    if INTERLEAVED:
        first, second = 2 * rk, 2 * rk + 1
    else:
        first, second = rk, rk + half
    x0 = tl.load(X + rm[:, None] * stride_x_seqlen + first[None, :], mask=mask, other=0.0).to(tl.float32)
    x1 = tl.load(X + rm[:, None] * stride_x_seqlen + second[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(OUT + rm[:, None] * stride_out_seqlen + first[None, :], x0 * cos - x1 * sin, mask=mask)
    tl.store(OUT + rm[:, None] * stride_out_seqlen + second[None, :], x0 * sin + x1 * cos, mask=mask)


def apply_rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool = False,
                 inplace: bool = False) -> torch.Tensor:
    """
    x: (batch, seqlen, nheads, headdim), cos and sin: (seqlen_ro, rotary_dim / 2)
    """
    batch, seqlen, nheads, headdim = x.shape
    seqlen_ro, rotary_dim = cos.shape
    rotary_dim *= 2
    assert sin.shape == cos.shape
    assert rotary_dim <= headdim, "rotary_dim must be <= headdim"
    assert headdim <= 256, "Only support headdim <= 256"
    assert seqlen_ro >= seqlen
    assert x.dtype == cos.dtype == sin.dtype
    cos, sin = cos.contiguous(), sin.contiguous()
    output = torch.empty_like(x) if not inplace else x
    if rotary_dim < headdim and not inplace:
        output[..., rotary_dim:].copy_(x[..., rotary_dim:])
    BLOCK_K = triton.next_power_of_2(rotary_dim // 2)
    BLOCK_M = 8
    grid = (triton.cdiv(seqlen, BLOCK_M), batch, nheads)
    with torch.cuda.device(x.device.index):
        rotary_kernel[grid](output, x, cos, sin, seqlen, nheads, rotary_dim, seqlen_ro, output.stride(0), output.stride(1),
                            output.stride(2), x.stride(0), x.stride(1), x.stride(2), BLOCK_K, interleaved, BLOCK_M)
    return output


##################################################################################################################################################


import torch


def test_apply_rotary():
    results = {}
    batch, seqlen, nheads, headdim, rotary_dim = 2, 64, 4, 64, 32

    def tables(n, dim):
        angles = torch.rand(n, dim // 2, device='cuda') * 6.28
        return torch.cos(angles), torch.sin(angles)

    x = torch.randn(batch, seqlen, nheads, headdim, device='cuda')
    results['test_case_1'] = apply_rotary(x, *tables(seqlen, rotary_dim))

    x = torch.randn(1, 48, 2, headdim, device='cuda')
    results['test_case_2'] = apply_rotary(x, *tables(48, rotary_dim))

    x = torch.randn(batch, seqlen, nheads, headdim, device='cuda')
    results['test_case_3'] = apply_rotary(x, *tables(seqlen, rotary_dim), interleaved=True)
    return results


result_gold = test_apply_rotary()
