"""Functions that look at values, or fix extents, on their way to what torch.export takes: the same without that. And what
PyTorch takes for granted is a fact of the program: attention has as many keys as values."""

from __future__ import annotations

import math

import numpy as np
import torch

from strop.import_walks import SteppedList, Walk
from strop.trace_dims import Untraceable


def covariance(x, *, correction=1, fweights=None, aweights=None):
    if fweights is not None or aweights is not None:
        raise Untraceable("'torch.cov' with weights has no graph operation")
    if x.ndim < 2:
        centred = x - x.mean()
        return (centred * centred).sum() / (x.numel() - correction)
    centred = x - x.mean(1, keepdim=True)
    return centred @ centred.T / (x.shape[1] - correction)


def correlation(x):
    c = covariance(x)
    if not c.ndim:
        return c / c
    deviations = c.diagonal().sqrt()
    return (c / deviations.unsqueeze(1) / deviations).clamp(-1, 1)


def gaussian_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):  # noqa: A002
    """Variances below 0 are not refused: they count as `eps`."""
    if isinstance(var, torch.Tensor) and var.ndim == input.ndim - 1:
        var = var.unsqueeze(-1)
    var = torch.as_tensor(var, dtype=input.dtype).clamp(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    loss = loss + 0.5 * math.log(2 * math.pi) if full else loss
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def max_pool1d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    wide = [(1, value) if isinstance(value, int) else (1, *value) for value in (kernel_size, dilation)]
    stride = wide[0] if stride is None else (1, stride) if isinstance(stride, int) else (1, *stride)
    padding = (0, padding) if isinstance(padding, int) else (0, *padding)
    pooled = torch.nn.functional.max_pool2d(x.unsqueeze(-2), wide[0], stride, padding, wide[1], ceil_mode, return_indices)
    return tuple(one.squeeze(-2) for one in pooled) if return_indices else pooled.squeeze(-2)


def powers(x, N=None, increasing=False):  # noqa: N803
    columns = [torch.ones_like(x)]
    for _ in range((x.shape[-1] if N is None else N) - 1):
        columns.append(columns[-1] * x)
    return torch.stack(columns if increasing else columns[::-1], -1)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):  # noqa: A002
    if training:
        return torch.rrelu(input, lower, upper, True)
    return torch.nn.functional.leaky_relu(input, (lower + upper) / 2, inplace)


def fake_quantize(input, scale, zero_point, quant_min, quant_max):  # noqa: A002
    return _quantized(input, scale, zero_point, quant_min, quant_max)


def fake_quantize_channels(input, scale, zero_point, axis, quant_min, quant_max):  # noqa: A002
    along = [1] * input.ndim
    along[axis] = -1
    return _quantized(input, scale.reshape(along), zero_point.reshape(along), quant_min, quant_max)


def _quantized(x, scale, zero_point, low, high):
    """The scale's reciprocal is a float32, as PyTorch has it."""
    inverse = scale.reciprocal() if isinstance(scale, torch.Tensor) else float(np.float32(1) / np.float32(scale))
    return ((torch.round(x * inverse) + zero_point).clamp(low, high) - zero_point) * scale


def bincount(x, weights=None, minlength=0):
    """With as many counts as are asked for: values above would lengthen the result, whose shape is declared."""
    if not minlength:
        raise Untraceable("'bincount' without a minlength has a result whose extent depends on values")
    hit = x.unsqueeze(0) == torch.arange(minlength).unsqueeze(1)
    if weights is None:
        return hit.sum(1)
    return (hit * (weights if weights.dtype == torch.float32 else weights.double())).sum(1)


def scaled_dot_product_attention(query, key, value, *arguments, **options):
    if key.size(-2) != value.size(-2):
        raise ValueError(f"attention over {key.size(-2)} keys and {value.size(-2)} values")
    return _attention(query, key, value, *arguments, **options)


def length(x):
    """What `len` is in a reference: of a tensor an extent, where Python's own gives an integer; likewise of what loops go
    over or have filled."""
    if isinstance(x, (SteppedList, Walk)):
        return x.count
    return x.shape[0] if isinstance(x, torch.Tensor) and x.ndim else len(x)


def root(x):
    return torch.sym_sqrt(x) if isinstance(x, (torch.SymInt, torch.SymFloat)) else _root(x)


def einsum(equation, *operands):
    """Operands from left to right, two at a time: PyTorch takes three and more in an order that extents decide on."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not isinstance(equation, str) or len(operands) < 3:
        return _einsum(equation, *operands)
    left, arrow, result = equation.replace(" ", "").partition("->")
    if not arrow:
        result = "." * 3 * ("..." in left) + "".join(sorted(one for one in left if one.isalpha() and left.count(one) == 1))
    terms = left.split(",")
    if len(terms) != len(operands):
        return _einsum(equation, *operands)    # which says what is wrong
    term, value = terms[0], operands[0]
    for index, (other, operand) in enumerate(zip(terms[1:], operands[1:]), 2):
        both, needed = term + other, result + "".join(terms[index:])
        kept = "." * 3 * ("..." in both) + "".join(dict.fromkeys(one for one in both if one.isalpha() and one in needed))
        kept = result if index == len(terms) else kept
        term, value = kept, _einsum(f"{term},{other}->{kept}", value, operand)
    return value


def linspace(start, end, steps, *, dtype=None, **options):
    """From both ends, as PyTorch counts; of steps that vary, which PyTorch makes a number of."""
    if not isinstance(steps, torch.SymInt) or "out" in options:
        return _linspace(start, end, steps, dtype=dtype, **options)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    places = torch.arange(steps, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
    step = (end - start) / torch.sym_max(steps - 1, 1)
    return torch.where(places * 2 < steps, start + places * step, end - (steps - 1 - places) * step).to(dtype)


def logspace(start, end, steps, base=10.0, *, dtype=None, **options):
    if not isinstance(steps, torch.SymInt) or "out" in options:
        return _logspace(start, end, steps, base, dtype=dtype, **options)
    return (base ** linspace(start, end, steps, dtype=dtype)).to(torch.get_default_dtype() if dtype is None else dtype)


def fill_diagonal_(x, fill_value, wrap=False):
    """Without strides, which fix extents."""
    if x.ndim != 2 or wrap:
        return _fill_diagonal(x, fill_value, wrap)
    return x.copy_(x.masked_fill(torch.eye(*x.shape, dtype=torch.bool), fill_value))


_linspace, _logspace, _fill_diagonal = torch.linspace, torch.logspace, torch.Tensor.fill_diagonal_
_attention, _einsum = torch.nn.functional.scaled_dot_product_attention, torch.einsum
_root, _stack, _concatenate = math.sqrt, torch.stack, torch.cat
_stack_rows, _stack_columns = torch.vstack, torch.hstack


def stack(tensors, dim=0, **options):
    return tensors.stacked(dim) if isinstance(tensors, SteppedList) else _stack(tensors, dim, **options)


def concatenate(tensors, dim=0, **options):
    return tensors.concatenated(dim) if isinstance(tensors, SteppedList) else _concatenate(tensors, dim, **options)


def stack_rows(tensors, **options):
    if not isinstance(tensors, SteppedList):
        return _stack_rows(tensors, **options)
    ndim = tensors.item_ndim()
    return tensors.concatenated(0) if ndim > 1 else tensors.stacked() if ndim else tensors.stacked().unsqueeze(1)


def stack_columns(tensors, **options):
    if not isinstance(tensors, SteppedList):
        return _stack_columns(tensors, **options)
    ndim = tensors.item_ndim()
    return tensors.concatenated(min(1, ndim - 1)) if ndim else tensors.stacked()


REPLACED = (
    (torch, "stack", stack),
    (torch, "vstack", stack_rows),
    (torch, "row_stack", stack_rows),
    (torch, "hstack", stack_columns),
    (torch, "cat", concatenate),
    (torch, "concat", concatenate),
    (torch, "concatenate", concatenate),
    (math, "sqrt", root),
    (torch.nn.functional, "scaled_dot_product_attention", scaled_dot_product_attention),
    (torch, "bincount", bincount),
    (torch, "linspace", linspace),
    (torch, "logspace", logspace),
    (torch.Tensor, "fill_diagonal_", fill_diagonal_),
    (torch.Tensor, "bincount", bincount),
    (torch, "einsum", einsum),
    (torch, "vander", powers),
    (torch, "fake_quantize_per_tensor_affine", fake_quantize),
    (torch, "fake_quantize_per_channel_affine", fake_quantize_channels),
    (torch.nn.functional, "rrelu", rrelu),
    (torch, "cov", covariance),
    (torch, "corrcoef", correlation),
    (torch.Tensor, "cov", covariance),
    (torch.Tensor, "corrcoef", correlation),
    (torch.nn.functional, "gaussian_nll_loss", gaussian_loss),
    (torch.nn.functional, "max_pool1d", max_pool1d),
)
