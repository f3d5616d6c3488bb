"""PyTorch's reductions, scans, softmax, norms and losses as nodes of the graph."""

from __future__ import annotations

import math

import numpy as np

from strop import trace_layout as layout
from strop.import_pointwise import softplus
from strop.import_values import OPERATIONS, as_dtype, as_tensor, imports
from strop.trace_scipy import pairs
from strop.trace_array import Traced, astype, axes_of, full, pointwise, product, reduce
from strop.trace_array import scan as scan_of

# ---- reductions ------------------------------------------------------------------------------------------


def _axes(axes):
    """PyTorch's empty list means all axes."""
    if isinstance(axes, (list, tuple)):
        return tuple(axes) or None
    return axes


@imports("sum")
def _sum(out, x, axes=None, keepdim=False, **_):
    return reduce("sum", as_dtype(x, out), _axes(axes), keepdim, out) if x.ndim else as_tensor(x, out)


@imports("prod")
def _prod(out, x, axis=None, keepdim=False, **_):
    return reduce("prod", as_dtype(x, out), axis, keepdim, out) if x.ndim else as_tensor(x, out)


@imports("mean")
def mean(out, x, axes=None, keepdim=False, **_):
    x = as_dtype(x, out)
    axes = axes_of(_axes(axes), x.ndim)
    return _sum(out, x, axes, keepdim) / product(x.shape[axis] for axis in axes) if axes else x


def _extremum(op):
    def apply(out, x, axes=None, keepdim=False):
        return reduce(op, x, _axes(axes), keepdim)

    def with_place(out, x, axis, keepdim=False):
        return reduce(op, x, axis, keepdim), reduce("arg" + op, x, axis, keepdim)

    OPERATIONS["a" + op] = apply
    OPERATIONS[op] = apply
    OPERATIONS[f"{op}.dim"] = with_place
    OPERATIONS["arg" + op] = lambda out, x, axis=None, keepdim=False: reduce("arg" + op, x, axis, keepdim)


_extremum("max")
_extremum("min")
OPERATIONS["aminmax"] = lambda out, x, dim=None, keepdim=False: (
    reduce("min", x, dim, keepdim),
    reduce("max", x, dim, keepdim),
)
OPERATIONS["any"] = lambda out, x, axes=None, keepdim=False: reduce("any", x, _axes(axes), keepdim)
OPERATIONS["all"] = lambda out, x, axes=None, keepdim=False: reduce("all", x, _axes(axes), keepdim)


def variance(out, x, axes, correction=1, keepdim=False) -> Traced:
    axes = axes_of(_axes(axes), x.ndim)
    centred = x - mean(out, x, axes, True)
    count = product(x.shape[axis] for axis in axes)
    return reduce("sum", pointwise("square", centred), axes, keepdim) / (count - correction if correction else count)


def _correction(unbiased, correction):
    return (1 if unbiased in (None, True) else 0) if correction is None else int(correction)


def _spread(finish):
    def apply(out, x, axes=None, *rest, correction=None, keepdim=False, unbiased=None):
        if isinstance(axes, bool):
            axes, unbiased = None, axes
        if rest:
            unbiased, keepdim = rest[0], rest[1] if len(rest) > 1 else keepdim
        return finish(out, x, axes, _correction(unbiased, correction), keepdim)

    return apply


OPERATIONS["var"] = _spread(variance)
OPERATIONS["std"] = _spread(lambda *spread: pointwise("sqrt", variance(*spread)))
OPERATIONS["var_mean"] = _spread(
    lambda out, x, axes, correction, keepdim: (variance(out, x, axes, correction, keepdim), mean(out, x, axes, keepdim))
)


@imports("linalg_vector_norm", "norm")
def _norm(out, x, order=2, axes=None, keepdim=False, **_):
    order = 2 if order is None else order
    size = pointwise("absolute", as_dtype(x, out))
    axes = _axes(axes)
    if order in (math.inf, -math.inf):
        return reduce("max" if order > 0 else "min", size, axes, keepdim)
    if order == 0:
        return reduce("sum", astype(pointwise("not_equal", x, 0), out), axes, keepdim)
    if order == 1:
        return reduce("sum", size, axes, keepdim)
    if order == 2:
        return pointwise("sqrt", reduce("sum", pointwise("square", as_dtype(x, out)), axes, keepdim))
    return pointwise("power", reduce("sum", pointwise("power", size, order), axes, keepdim), 1 / order)


@imports("logsumexp")
def _logsumexp(out, x, axes, keepdim=False):
    x = as_dtype(x, out)
    axes = axes_of(_axes(axes), x.ndim)
    top = reduce("max", x, axes, True)
    result = pointwise("log", reduce("sum", pointwise("exp", x - top), axes, True)) + top
    return result if keepdim else layout.squeeze(result, axes)


# ---- scans -----------------------------------------------------------------------------------------------


def scan(op, x: Traced, axis) -> Traced:
    if not x.ndim:
        return x
    return scan_of(op, x, axis)


OPERATIONS["cumsum"] = lambda out, x, axis, **_: scan("sum", as_tensor(x, out), axis)
OPERATIONS["cumprod"] = lambda out, x, axis, **_: scan("prod", as_tensor(x, out), axis)

# ---- softmax ---------------------------------------------------------------------------------------------


@imports("_softmax", "softmax", "_safe_softmax")
def softmax(out, x, axis, *_, **__):
    x = as_dtype(x, out)
    e = pointwise("exp", x - reduce("max", x, axis, True))
    return e / reduce("sum", e, axis, True)


@imports("_log_softmax", "log_softmax")
def log_softmax(out, x, axis, *_, **__):
    x = as_dtype(x, out)
    shifted = x - reduce("max", x, axis, True)
    return shifted - pointwise("log", reduce("sum", pointwise("exp", shifted), axis, True))


# ---- norms -----------------------------------------------------------------------------------------------


def _normalized(x, axes, eps):
    """The normalized values, the mean, the reciprocal deviation; axes kept."""
    centre = mean(x.dtype, x, axes, True)
    centred = x - centre
    spread = mean(x.dtype, pointwise("square", centred), axes, True)
    scale = pointwise("sqrt", spread + eps)
    return centred / scale, centre, pointwise("reciprocal", scale)


def _affine(y, weight, bias, shape=None):
    for op, value in (("multiply", weight), ("add", bias)):
        if value is not None:
            y = pointwise(op, y, value if shape is None else layout.reshape(value, shape))
    return y


@imports("native_layer_norm")
def _layer_norm(out, x, shape, weight, bias, eps):
    y, centre, scale = _normalized(x, tuple(range(x.ndim - len(shape), x.ndim)), eps)
    return _affine(y, weight, bias), centre, scale


@imports("layer_norm")
def _layer_norm_alone(out, x, shape, weight=None, bias=None, eps=1e-5, *_):
    return _layer_norm(out, x, shape, weight, bias, eps)[0]


@imports("rms_norm", "_fused_rms_norm")
def _rms_norm(out, x, shape, weight=None, eps=None):
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    eps = float(np.finfo(x.dtype).eps) if eps is None else eps
    scale = pointwise("sqrt", mean(out, pointwise("square", x), axes, True) + eps)
    return _affine(x / scale, weight, None)


OPERATIONS["_fused_rms_norm"] = lambda *arguments: (_rms_norm(*arguments), None)


@imports("native_group_norm")
def _group_norm(out, x, weight, bias, batch, channels, size, groups, eps):
    grouped = layout.reshape(x, (batch, groups, layout.exact_divide(channels, groups), size))
    y, centre, scale = _normalized(grouped, (2, 3), eps)
    shape = (1, channels) + (1,) * (x.ndim - 2)
    return _affine(layout.reshape(y, x.shape), weight, bias, shape), centre, scale


@imports("group_norm")
def _group_norm_alone(out, x, groups, weight=None, bias=None, eps=1e-5, *_):
    batch, channels, *spatial = x.shape
    return _group_norm(out, x, weight, bias, batch, channels, product(spatial), groups, eps)[0]


@imports("instance_norm")
def _instance_norm(out, x, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, *_):
    if not use_input_stats:
        return _batch_norm(out, x, weight, bias, running_mean, running_var, False, momentum, eps)[0]
    y, _, _ = _normalized(x, tuple(range(2, x.ndim)), eps)
    return _affine(y, weight, bias, (1, x.shape[1]) + (1,) * (x.ndim - 2))


@imports("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_functional")
def _batch_norm(out, x, weight, bias, running_mean, running_var, training, momentum, eps):
    shape = (1, x.shape[1]) + (1,) * (x.ndim - 2)
    if training:
        axes = (0, *range(2, x.ndim))
        y, centre, scale = _normalized(x, axes, eps)
        y = _affine(y, weight, bias, shape)
        return y, layout.reshape(centre, (x.shape[1],)), layout.reshape(scale, (x.shape[1],)), None, None
    centre, spread = layout.reshape(running_mean, shape), layout.reshape(running_var, shape)
    y = _affine((x - centre) / pointwise("sqrt", spread + eps), weight, bias, shape)
    return y, None, None, None, None


@imports("_native_batch_norm_legit_no_training")
def _batch_norm_inference(out, x, weight, bias, running_mean, running_var, momentum, eps):
    return _batch_norm(out, x, weight, bias, running_mean, running_var, False, momentum, eps)


@imports("_native_batch_norm_legit.no_stats")
def _batch_norm_no_stats(out, x, weight, bias, training, momentum, eps):
    return _batch_norm(out, x, weight, bias, None, None, True, momentum, eps)


@imports("batch_norm")
def _batch_norm_alone(out, x, weight, bias, running_mean, running_var, training, momentum, eps, *_):
    return _batch_norm(out, x, weight, bias, running_mean, running_var, training, momentum, eps)[0]


# ---- losses ----------------------------------------------------------------------------------------------


def _reduced(out, loss, reduction):
    return (loss, mean(out, loss), reduce("sum", loss))[reduction] if loss.ndim else loss


OPERATIONS["mse_loss"] = lambda out, a, b, reduction=1: _reduced(out, pointwise("square", a - b), reduction)
OPERATIONS["l1_loss"] = lambda out, a, b, reduction=1: _reduced(out, pointwise("absolute", a - b), reduction)


@imports("smooth_l1_loss")
def _smooth_l1(out, a, b, reduction=1, beta=1.0):
    size = pointwise("absolute", a - b)
    if beta == 0:
        return _reduced(out, size, reduction)
    loss = pointwise("where", size < beta, pointwise("square", size) * (0.5 / beta), size - 0.5 * beta)
    return _reduced(out, loss, reduction)


@imports("huber_loss")
def _huber(out, a, b, reduction=1, delta=1.0):
    size = pointwise("absolute", a - b)
    loss = pointwise("where", size <= delta, pointwise("square", size) * 0.5, delta * (size - 0.5 * delta))
    return _reduced(out, loss, reduction)


@imports("soft_margin_loss")
def _soft_margin(out, x, target, reduction=1):
    return _reduced(out, softplus(out, -target * x), reduction)


@imports("binary_cross_entropy")
def _binary_cross_entropy(out, x, target, weight=None, reduction=1):
    log_of = pointwise("maximum", pointwise("log", x), -100.0)
    log_of_rest = pointwise("maximum", pointwise("log1p", -x), -100.0)
    loss = (target - 1) * log_of_rest - target * log_of
    return _reduced(out, loss if weight is None else loss * weight, reduction)


@imports("binary_cross_entropy_with_logits")
def _binary_cross_entropy_with_logits(out, x, target, weight=None, pos_weight=None, reduction=1):
    if pos_weight is None:
        loss = (1 - target) * x + softplus(out, -x, 1, math.inf)
    else:
        loss = (1 - target) * x + (1 + (pos_weight - 1) * target) * softplus(out, -x, 1, math.inf)
    return _reduced(out, loss if weight is None else loss * weight, reduction)


@imports("kl_div")
def _kl_div(out, x, target, reduction=1, log_target=False):
    if log_target:
        return _reduced(out, pointwise("exp", target) * (target - x), reduction)
    weighted = pointwise("where", pointwise("greater", target, 0), target * pointwise("log", target), 0.0)
    return _reduced(out, weighted - target * x, reduction)


@imports("nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss_nd", "nll_loss2d")
def _nll_loss(out, x, target, weight=None, reduction=1, ignore_index=-100):
    axis = 1 if x.ndim > 1 else 0
    kept = pointwise("not_equal", target, ignore_index)
    safe = pointwise("where", kept, target, full((), 0, target.dtype))
    picked = layout.take_along_axis(x, layout.expand_dims(safe, axis), axis)
    loss = -layout.squeeze(picked, axis)
    scale = astype(kept, out) if weight is None else layout.take(weight, safe, 0) * astype(kept, out)
    loss = loss * scale
    if reduction == 0 or not loss.ndim:
        return loss, None
    total = reduce("sum", scale)
    return (reduce("sum", loss) / total if reduction == 1 else reduce("sum", loss)), total


@imports("_pdist_forward")
def _pdist(out, x, order=2):
    first, second = pairs(x.shape[0])
    return _norm(out, layout.take(x, first, 0) - layout.take(x, second, 0), order, (-1,))


@imports("_cdist_forward")
def _cdist(out, a, b, order, *_):
    difference = layout.expand_dims(a, -2) - layout.expand_dims(b, -3)
    return _norm(out, difference, order, (-1,))

