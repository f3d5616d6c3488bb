from typing import Tuple

import torch
import triton
import triton.language as tl


@triton.heuristics({"HAS_SMOOTHING": lambda args: args["smoothing"] > 0.0})
@triton.jit
def cross_entropy_fwd_kernel(loss_ptr, lse_ptr, logits_ptr, labels_ptr, smoothing, logit_scale, ignore_index, n_cols,
                             logits_row_stride, BLOCK_SIZE: tl.constexpr, HAS_SMOOTHING: tl.constexpr):
    row = tl.program_id(0)
    logits_ptr += row * logits_row_stride.to(tl.int64)
    label = tl.load(labels_ptr + row)
    peak = -float("inf")
    total = 0.0
    logits_sum = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(logits_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32) * logit_scale
        if HAS_SMOOTHING:
            logits_sum += tl.sum(tl.where(cols < n_cols, x, 0.0))
        higher = tl.maximum(peak, tl.max(x))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher))
        peak = higher
    lse = tl.log(total) + peak
    tl.store(lse_ptr + row, lse)
    if label == ignore_index:
        loss = 0.0
    else:
        picked = tl.load(logits_ptr + label).to(tl.float32) * logit_scale
        if HAS_SMOOTHING:
            loss = lse - smoothing * logits_sum / n_cols - (1 - smoothing) * picked
        else:
            loss = lse - picked
    tl.store(loss_ptr + row, loss)


class CrossEntropyLoss(torch.autograd.Function):

    @staticmethod
    def forward(ctx, logits, labels, smoothing=0.0, logit_scale=1.0, ignore_index=-100):
        n_rows, n_cols = logits.shape
        assert labels.shape == (n_rows,)
        if logits.stride(-1) != 1:
            logits = logits.contiguous()
        losses = torch.empty(n_rows, dtype=torch.float, device=logits.device)
        lse = torch.empty(n_rows, dtype=torch.float, device=logits.device)
        BLOCK_SIZE = min(triton.next_power_of_2(n_cols), 4096)
        with torch.cuda.device(logits.device.index):
            cross_entropy_fwd_kernel[(n_rows,)](losses, lse, logits, labels, smoothing, logit_scale, ignore_index, n_cols,
                                                logits.stride(0), BLOCK_SIZE=BLOCK_SIZE, num_warps=8)
        ctx.save_for_backward(logits, lse, labels)
        ctx.mark_non_differentiable(lse)
        return losses, lse

    @staticmethod
    def backward(ctx, grad_losses, grad_lse):
        logits, lse, labels = ctx.saved_tensors
        p = torch.exp(logits - lse[:, None])
        p[torch.arange(len(labels)), labels] -= 1
        return p * grad_losses[:, None], None, None, None, None


def cross_entropy_loss(
    logits: torch.Tensor,
    labels: torch.Tensor,
    label_smoothing: float = 0.0,
    logit_scale: float = 1.0,
    ignore_index: int = -100,
) -> Tuple[torch.Tensor, torch.Tensor]:
    """
    Arguments:
        logits: (batch, vocab_size)
        labels: (batch,)
        label_smoothing: float
        logit_scale: float. Multiply logits by this scale before the loss.
        ignore_index: int. The loss is 0 where labels == ignore_index.
    Returns:
        losses: (batch,), float
        lse: (batch,), float
    """
    return CrossEntropyLoss.apply(logits, labels, label_smoothing, logit_scale, ignore_index)


##################################################################################################################################################


def test_cross_entropy_loss():
    torch.manual_seed(0)
    results = {}

    logits = torch.randn(32, 1000, device="cuda")
    labels = torch.randint(0, 1000, (32,), device="cuda")
    results["test_case_1"] = cross_entropy_loss(logits, labels)

    logits = torch.randn(16, 5000, device="cuda")
    labels = torch.randint(0, 5000, (16,), device="cuda")
    results["test_case_2"] = cross_entropy_loss(logits, labels)

    results["test_case_3"] = cross_entropy_loss(logits, labels, label_smoothing=0.1)

    logits = torch.randn(8, 300, device="cuda", requires_grad=True)
    labels = torch.randint(0, 300, (8,), device="cuda")
    losses, lse = cross_entropy_loss(logits, labels)
    losses.sum().backward()
    results["test_case_4"] = (losses.detach(), lse.detach(), logits.grad)
    return results


result_gold = test_cross_entropy_loss()
