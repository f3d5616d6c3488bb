"""PyTorch's products, convolutions, pooling and attention as nodes of the graph."""

from __future__ import annotations

import math

from strop import trace_contraction as contraction
from strop import trace_layout as layout
from strop.import_layout import pad_or_crop
from strop.import_reductions import mean, softmax
from strop.import_values import OPERATIONS, as_dtype, imports, per_axis
from strop.trace_array import Traced, boolean, full, lift, pointwise, product, reduce, transpose
from strop.trace_dims import Untraceable, is_int
from strop.trace_layout import part

# ---- products --------------------------------------------------------------------------------------------

for _name in ("mm", "bmm", "matmul", "mv"):
    OPERATIONS[_name] = lambda out, a, b: contraction.matmul(a, b)
OPERATIONS["dot"] = OPERATIONS["vdot"] = lambda out, a, b: contraction.dot(a, b)
OPERATIONS["einsum"] = lambda out, equation, operands, **_: contraction.einsum(equation, *operands)
OPERATIONS["outer"] = OPERATIONS["ger"] = lambda out, a, b: contraction.outer(a, b)


@imports("linear")
def _linear(out, x, weight, bias=None):
    lead = "abcdefgh"[: x.ndim - 1]
    if weight.ndim == 1:
        y = contraction.contract(x, weight, lead + "k", "k", lead)
    else:
        y = contraction.contract(x, weight, lead + "k", "nk", lead + "n")
    return y if bias is None else y + bias


@imports("addmm", "baddbmm", "addmv")
def _addmm(out, c, a, b, beta=1, alpha=1):
    product_ = contraction.matmul(a, b)
    product_ = product_ if alpha == 1 else product_ * alpha
    return product_ if beta == 0 else product_ + (c if beta == 1 else c * beta)


@imports("addbmm")
def _addbmm(out, c, a, b, beta=1, alpha=1):
    return _addmm(out, c, *(layout.reshape(transpose(a, (1, 0, 2)), (a.shape[1], a.shape[0] * a.shape[2])),
                            layout.reshape(b, (b.shape[0] * b.shape[1], b.shape[2]))), beta, alpha)


@imports("bilinear")
def _bilinear(out, a, b, weight, bias=None):
    lead = "abcdefgh"[: a.ndim - 1]
    y = contraction.einsum(f"{lead}x,oxy,{lead}y->{lead}o", a, weight, b)
    return y if bias is None else y + bias


# ---- convolution -----------------------------------------------------------------------------------------

SPATIAL = "pqr"  # output positions
KERNEL = "xyz"  # positions in the kernel


def windows_of(x: Traced, kernel, stride, dilation) -> Traced:
    """x[N, C, *spatial] as [N, C, *positions, *kernel]."""
    axes = tuple(range(x.ndim - len(kernel), x.ndim))
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    view = layout.sliding_window_view(x, spans, axes)
    lead = x.ndim - len(kernel)
    steps = [1] * lead + list(stride) + list(dilation)
    return layout.slice_axes(view, [0] * view.ndim, list(view.shape), steps)


def _correlate(x: Traced, weight: Traced, stride, dilation, groups) -> Traced:
    rank = x.ndim - 2
    view = windows_of(x, weight.shape[2:], stride, dilation)
    p, k = SPATIAL[:rank], KERNEL[:rank]
    if is_int(groups) and groups == 1:
        return contraction.contract(view, weight, "nc" + p + k, "oc" + k, "no" + p)
    positions = view.shape[2 : 2 + rank]
    n, outputs = x.shape[0], weight.shape[0]
    view = layout.reshape(view, (n, groups, weight.shape[1], *view.shape[2:]))
    filters = layout.reshape(weight, (groups, layout.exact_divide(outputs, groups), *weight.shape[1:]))
    y = contraction.contract(view, filters, "ngc" + p + k, "goc" + k, "ngo" + p)
    return layout.reshape(y, (n, outputs, *positions))


def _with_zeros_between(x: Traced, stride) -> Traced:
    for axis, step in enumerate(stride, 2):
        if step == 1:
            continue
        extent = x.shape[axis]
        apart = layout.expand_dims(x, axis + 1)
        apart = layout.pad(apart, [(0, step - 1 if i == axis + 1 else 0) for i in range(apart.ndim)])
        wide = layout.reshape(apart, x.shape[:axis] + (extent * step,) + x.shape[axis + 1 :])
        x = part(wide, axis, 0, (extent - 1) * step + 1)
    return x


def _transposed(x, weight, stride, padding, dilation, output_padding, groups):
    """As a convolution with a channel for each of the `stride` neighbours that a position of the image becomes, which are
    put side by side afterwards (Shi et al., "Is the deconvolution layer the same as a convolutional layer?", 2016): zeros
    between the elements of the image would be multiplied too.

    With K the taps along an axis, zeros of a dilation counted, output u is the sum over j of x[(u + padding - j) / stride]
    times w[j], where that divides: neighbour (u + padding) % stride of position (u + padding) // stride.
    """
    rank = x.ndim - 2
    _, per_group, *kernel = weight.shape
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    weight = _with_zeros_between(weight, [d if s > 1 else 1 for s, d in zip(stride, dilation)])
    taps = [-(-extent // s) for extent, s in zip(weight.shape[2:], stride)]
    steps = [1 if s > 1 else d for s, d in zip(stride, dilation)]
    filters = _filters_of_neighbours(weight, stride, taps, groups)
    first = [p // s for p, s in zip(padding, stride)]  # position that an output needs
    borders = [(d * (t - 1) - f, -(-(k - p + more) // s) - 1)
               for k, d, t, f, p, s, more in zip(spans, steps, taps, first, padding, stride, output_padding)]
    extents = [(e - 1) * s + k - 2 * p + more
               for e, s, k, p, more in zip(x.shape[2:], stride, spans, padding, output_padding)]
    y = _correlate(pad_or_crop(x, [(0, 0), (0, 0), *borders]), filters, [1] * rank, steps, groups)
    y = layout.reshape(y, (x.shape[0], groups * per_group, *stride, *y.shape[2:]))
    y = transpose(y, (0, 1, *[axis for i in range(rank) for axis in (2 + rank + i, 2 + i)]))
    y = layout.reshape(y, (*y.shape[:2], *[y.shape[2 + 2 * i] * s for i, s in enumerate(stride)]))
    for axis, (extent, p, s) in enumerate(zip(extents, padding, stride), 2):
        y = part(y, axis, p % s, p % s + extent)
    return y


def _filters_of_neighbours(weight, stride, taps, groups):
    """weight[inputs, outputs, *stride * taps] (zeros fill it up) as [outputs * neighbours, inputs, *taps], turned round;
    inputs and outputs of a group."""
    rank = weight.ndim - 2
    inputs, per_group, *kernel = weight.shape
    inner = layout.exact_divide(inputs, groups)
    weight = layout.pad(weight, [(0, 0), (0, 0), *[(0, t * s - k) for t, s, k in zip(taps, stride, kernel)]])
    split = [extent for t, s in zip(taps, stride) for extent in (t, s)]
    weight = layout.reshape(weight, (groups, inner, per_group, *split))
    of_taps = [3 + 2 * i for i in range(rank)]
    weight = transpose(layout.reverse(weight, tuple(of_taps)), (0, 2, *[axis + 1 for axis in of_taps], 1, *of_taps))
    return layout.reshape(weight, (groups * per_group * product(stride), inner, *taps))


@imports("convolution")
def _convolution(out, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    rank = weight.ndim - 2
    single = x.ndim == rank + 1
    x = layout.expand_dims(x, 0) if single else x
    stride, padding, dilation = (per_axis(value, rank) for value in (stride, padding, dilation))
    if transposed:
        y = _transposed(x, weight, stride, padding, dilation, per_axis(output_padding, rank), groups)
    else:
        x = pad_or_crop(x, [(0, 0), (0, 0)] + [(p, p) for p in padding])
        y = _correlate(x, weight, stride, dilation, groups)
    if bias is not None:
        y = y + layout.reshape(bias, (1, bias.shape[0]) + (1,) * rank)
    return layout.squeeze(y, 0) if single else y


# ---- pooling ---------------------------------------------------------------------------------------------


def _pool_geometry(x, kernel, stride, padding, dilation, ceil_mode, rank):
    """Per axis: kernel, stride, dilation, and the padding before and behind."""
    kernel = per_axis(kernel, rank)
    stride = per_axis(stride, rank) if stride else kernel
    padding, dilation = per_axis(padding, rank), per_axis(dilation, rank)
    borders = []
    for extent, k, s, p, d in zip(x.shape[-rank:], kernel, stride, padding, dilation):
        behind = p
        if ceil_mode:
            if not is_int(extent):
                raise Untraceable("pooling with ceil_mode over a dimension that varies has no graph operation")
            span = extent + 2 * p - d * (k - 1) - 1
            count = -(-span // s) + 1
            count -= (count - 1) * s >= extent + p  # the last window must begin inside
            behind = p + max(0, (count - 1) * s - span)
        borders.append((p, behind))
    return kernel, stride, dilation, [(0, 0)] * (x.ndim - rank) + borders


def _max_pool(rank):
    def apply(out, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
        kernel, stride, dilation, borders = _pool_geometry(x, kernel, stride, padding, dilation, ceil_mode, rank)
        view = windows_of(layout.pad(x, borders, -math.inf), kernel, stride, dilation)
        return reduce("max", view, tuple(range(x.ndim, x.ndim + rank)))

    return apply


def _places_of_maxima(x, kernel, stride, padding, dilation, ceil_mode, rank):
    """Of each window: where its first largest element is, in the spatial axes flattened."""
    kernel, stride, dilation, borders = _pool_geometry(x, kernel, stride, padding, dilation, ceil_mode, rank)
    view = windows_of(layout.pad(x, borders, -math.inf), kernel, stride, dilation)
    within = reduce("argmax", layout.reshape(view, (*view.shape[: x.ndim], product(kernel))), -1)
    place = lift(0)
    for i in range(rank):
        offset = pointwise("floor_divide", within, product(kernel[i + 1 :]))
        offset = pointwise("remainder", offset, kernel[i]) * dilation[i]
        axis = x.ndim - rank + i
        begin = layout.arange(within.shape[axis]) * stride[i] - borders[axis][0]
        begin = layout.reshape(begin, (within.shape[axis],) + (1,) * (rank - 1 - i))
        place = place * x.shape[axis] + begin + offset
    return place


def _max_pool_with_places(rank):
    def apply(out, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
        arguments = (x, kernel, stride, padding, dilation, ceil_mode)
        return _max_pool(rank)(out, *arguments), _places_of_maxima(*arguments, rank)

    return apply


def _max_unpool(rank):
    def apply(out, x, places, size, *_):
        """Windows that overlap write the same element twice, of the same value."""
        lead, extents = x.shape[:-rank], tuple(size[-rank:])
        flat = (*lead, product(x.shape[-rank:]))
        nothing = full((*lead, product(extents)), -math.inf, x.dtype)
        axis = len(lead)
        found = layout.scatter("max", nothing, layout.reshape(places, flat), layout.reshape(x, flat), axis)
        counts = full((*lead, product(extents)), 0, x.dtype)
        ones = full(flat, 1, x.dtype)
        written = layout.scatter("max", counts, layout.reshape(places, flat), ones, axis) > 0
        return layout.reshape(pointwise("where", written, found, 0.0), (*lead, *extents))

    return apply


def _avg_pool(rank):
    def apply(out, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor=None):
        kernel, stride, _, borders = _pool_geometry(x, kernel, stride, padding, 1, ceil_mode, rank)
        axes = tuple(range(x.ndim, x.ndim + rank))
        total = reduce("sum", windows_of(layout.pad(x, borders), kernel, stride, [1] * rank), axes)
        plain = all(before == behind == 0 for before, behind in borders)
        even = all(before == behind for before, behind in borders)
        if divisor or plain or (even and count_include_pad):
            return total / (divisor or product(kernel))
        # How many elements each window holds; what ceil_mode adds never counts.
        counted = per_axis(padding, rank) if count_include_pad else [0] * rank
        ones = full(tuple(e + 2 * c for e, c in zip(x.shape[-rank:], counted)), 1, out)
        rest = [(b - c, e - c) for (b, e), c in zip(borders[-rank:], counted)]
        counts = windows_of(layout.pad(ones, rest), kernel, stride, [1] * rank)
        return total / reduce("sum", counts, tuple(range(rank, 2 * rank)))

    return apply


for _rank in (1, 2, 3):
    OPERATIONS[f"max_pool{_rank}d"] = _max_pool(_rank)
    OPERATIONS[f"max_pool{_rank}d_with_indices"] = _max_pool_with_places(_rank)
    OPERATIONS[f"max_unpool{_rank}d"] = _max_unpool(_rank)
    OPERATIONS[f"avg_pool{_rank}d"] = _avg_pool(_rank)


def _adaptive_axis(x, axis, outputs, op):
    extent = x.shape[axis]
    if is_int(outputs) and outputs == 1:
        return _pooled(x, axis, op, True)
    if not is_int(extent) or not is_int(outputs):
        raise Untraceable("adaptive pooling of a dimension that varies has no graph operation")
    if extent % outputs == 0:
        apart = layout.reshape(x, x.shape[:axis] + (outputs, extent // outputs) + x.shape[axis + 1 :])
        return _pooled(apart, axis + 1, op, False)
    bounds = [(i * extent // outputs, -(-(i + 1) * extent // outputs)) for i in range(outputs)]
    return layout.concatenate([_pooled(part(x, axis, b, e), axis, op, True) for b, e in bounds], axis)


def _pooled(x, axis, op, keepdims):
    return mean(x.dtype, x, (axis,), keepdims) if op == "mean" else reduce("max", x, axis, keepdims)


def _adaptive(rank, op):
    def apply(out, x, outputs):
        for axis, count in zip(range(x.ndim - rank, x.ndim), per_axis(outputs, rank)):
            x = _adaptive_axis(x, axis, count, op)
        return x if op == "mean" else (x, None)

    return apply


for _rank in (1, 2, 3):
    for _prefix in ("", "_"):
        OPERATIONS[f"{_prefix}adaptive_avg_pool{_rank}d"] = _adaptive(_rank, "mean")
    OPERATIONS[f"adaptive_max_pool{_rank}d"] = _adaptive(_rank, "max")


# ---- attention -------------------------------------------------------------------------------------------


@imports("scaled_dot_product_attention")
def _attention(out, query, key, value, mask=None, dropout=0.0, causal=False, *, scale=None, enable_gqa=False):
    if dropout:
        raise Untraceable("dropout in attention draws random numbers")
    if enable_gqa and not layout.same(key.shape[-3], query.shape[-3]):
        repeats = layout.exact_divide(query.shape[-3], key.shape[-3])
        repeat = OPERATIONS["repeat_interleave.self_int"]
        key, value = repeat(out, key, repeats, -3), repeat(out, value, repeats, -3)
    width = query.shape[-1]
    factor = scale if scale is not None else 1 / math.sqrt(width) if is_int(width) else pointwise("rsqrt", lift(width))
    scores = contraction.matmul(query, transpose(key, (*range(key.ndim - 2), key.ndim - 1, key.ndim - 2))) * factor
    if causal:
        allowed = layout.triangle(query.shape[-2], key.shape[-2], 0, True)
        scores = pointwise("where", allowed, scores, -math.inf)
    if mask is not None and mask.dtype.kind == "b":
        scores = pointwise("where", boolean(mask, "mask"), scores, -math.inf)
    elif mask is not None:
        scores = scores + as_dtype(mask, out)
    return contraction.matmul(softmax(out, scores, -1), value)
