import math

import torch
import triton
import triton.language as tl


@triton.jit
def _decayed_rows(Q, K, V, Out, SLOPES, n, heads, D: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    block = tl.program_id(1)
    slope = tl.load(SLOPES + pid % heads).to(tl.float32)
    base = pid.to(tl.int64) * n * D
    rows = block * BLOCK + tl.arange(0, BLOCK)
    cols = tl.arange(0, D)
    places = base + rows[:, None] * D + cols[None, :]
    q = tl.load(Q + places, mask=rows[:, None] < n, other=0.0)
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(0, block + 1):
        others = start * BLOCK + tl.arange(0, BLOCK)
        inside = base + others[:, None] * D + cols[None, :]
        k = tl.load(K + inside, mask=others[:, None] < n, other=0.0)
        v = tl.load(V + inside, mask=others[:, None] < n, other=0.0)
        far = rows[:, None] - others[None, :]
        weight = tl.where(far >= 0, tl.exp(-slope * far.to(tl.float32)), 0.0)
        scores = tl.sum(q[:, None, :] * k[None, :, :], axis=2).to(tl.float32) * weight
        acc += tl.sum(scores[:, :, None] * v[None, :, :].to(tl.float32), axis=1)
    tl.store(Out + places, acc.to(Out.dtype.element_ty), mask=rows[:, None] < n)


class LightningAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, slopes):
        q, k, v, slopes = (one.contiguous() for one in (q, k, v, slopes))
        batch, heads, n, d = q.shape
        capability = torch.cuda.get_device_capability()
        block = 16 if capability[0] >= 8 else 8
        out = torch.empty_like(v)
        with torch.cuda.device(q.device.index):
            _decayed_rows[(batch * heads, triton.cdiv(n, block))](q, k, v, out, slopes, n, heads, D=d, BLOCK=block)
        ctx.save_for_backward(q, k, v, slopes)
        return out

    @staticmethod
    def backward(ctx, grad):
        raise NotImplementedError


lightning_attention = LightningAttention.apply


def slopes_of(heads):
    return torch.tensor([math.pow(2.0, -8.0 * (i + 1) / heads) for i in range(heads)], device="cuda")


##################################################################################################################


import torch


def test_lightning_attention():
    results = {}
    torch.manual_seed(7)

    def draw(b, h, n, d):
        return [torch.randn((b, h, n, d), device="cuda", dtype=torch.float32) for _ in range(3)]

    q, k, v = draw(2, 4, 32, 16)
    results["test_case_1"] = lightning_attention(q, k, v, slopes_of(4))

    q, k, v = draw(2, 4, 40, 16)
    results["test_case_2"] = lightning_attention(q, k, v, slopes_of(4))

    q, k, v = draw(1, 2, 16, 32)
    results["test_case_3"] = lightning_attention(q, k, v, slopes_of(2).cuda())
    torch.cuda.synchronize()
    return results


result_gold = test_lightning_attention()
