"""PyTorch's operations that rearrange, create and index tensors, as nodes of the graph."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from strop import trace_layout as layout
from strop.import_values import OPERATIONS, as_dtype, as_tensor, imports, per_axis
from strop.trace_array import (
    Traced,
    astype,
    axis_of,
    broadcast_shapes,
    broadcast_to,
    full,
    is_one,
    lift,
    pointwise,
    product,
    reduce,
    transpose,
)
from strop.trace_arrangement import bordered, roll
from strop.trace_dims import Untraceable, is_int, same, steps_in
from strop.trace_index_arrays import counted_from_front, gather_several
from strop.trace_layout import part
from strop.trace_sizes import cut_off

# ---- shapes ----------------------------------------------------------------------------------------------


@imports("view", "reshape", "_unsafe_view", "_reshape_alias", "view_copy", "_reshape_copy")
def _view(out, x, shape, *_):
    if not isinstance(shape, (list, tuple)):
        raise Untraceable("a view as another dtype has no graph operation")
    return layout.reshape(x, shape)


OPERATIONS["permute"] = OPERATIONS["permute_copy"] = lambda out, x, order: transpose(
    x, [axis_of(axis, x.ndim) for axis in order]
)


@imports("transpose", "swapaxes")
def _transpose(out, x, first, second):
    order = list(range(x.ndim))
    a, b = axis_of(first, x.ndim), axis_of(second, x.ndim)
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


OPERATIONS["t"] = lambda out, x: transpose(x, tuple(reversed(range(x.ndim))))
OPERATIONS["movedim"] = lambda out, x, source, destination: layout.moveaxis(x, source, destination)
OPERATIONS["unsqueeze"] = OPERATIONS["unsqueeze_copy"] = lambda out, x, axis: layout.expand_dims(x, axis)
OPERATIONS["flatten"] = lambda out, x, first=0, last=-1: _flattened(x, first, last)


def _flattened(x, first, last):
    first, last = axis_of(first, x.ndim), axis_of(last, x.ndim)
    return layout.reshape(x, x.shape[:first] + (product(x.shape[first : last + 1]),) + x.shape[last + 1 :])


@imports("expand", "expand_copy", "broadcast_to")
def _expand(out, x, shape, **_):
    lead = len(shape) - x.ndim
    kept = [
        x.shape[i - lead] if is_int(extent) and extent == -1 else extent for i, extent in enumerate(shape)
    ]
    return broadcast_to(x, kept)


@imports("expand_as")
def _expand_as(out, x, other):
    return broadcast_to(x, other.shape)


@imports("squeeze", "squeeze_copy")
def _squeeze(out, x, axes=None):
    axes = range(x.ndim) if axes is None else axes if isinstance(axes, (list, tuple)) else [axes]
    drop = {axis_of(axis, x.ndim) for axis in axes if x.ndim}
    return layout.reshape(x, [e for i, e in enumerate(x.shape) if i not in drop or not is_one(e)])


@imports("cat", "concatenate", "concat")
def _cat(out, tensors, axis=0):
    # PyTorch skips tensors of shape (0,).
    tensors = [x for x in tensors if not (x.ndim == 1 and is_int(x.shape[0]) and x.shape[0] == 0)]
    return layout.concatenate([as_dtype(x, out) for x in tensors], axis)


OPERATIONS["stack"] = lambda out, tensors, axis=0: layout.stack([as_dtype(x, out) for x in tensors], axis)
OPERATIONS["flip"] = lambda out, x, axes: layout.reverse(x, tuple(axes))


@imports("repeat")
def _repeat(out, x, counts):
    x = layout.reshape(x, (1,) * (len(counts) - x.ndim) + x.shape)
    mixed = [extent for pair in zip(counts, x.shape) for extent in pair]
    apart = layout.reshape(x, [extent for one in x.shape for extent in (1, one)])
    wide = broadcast_to(apart, mixed)
    return layout.reshape(wide, [n * extent for n, extent in zip(counts, x.shape)])


@imports("repeat_interleave.self_int")
def _repeat_interleave(out, x, count, axis=None, **_):
    if axis is None:
        x, axis = layout.reshape(x, (x.size,)), 0
    place = axis_of(axis, x.ndim) + 1
    wide = layout.expand_dims(x, place)
    wide = broadcast_to(wide, wide.shape[:place] + (count,) + wide.shape[place + 1 :])
    return layout.reshape(wide, x.shape[: place - 1] + (x.shape[place - 1] * count,) + x.shape[place:])


@imports("roll")
def _roll(out, x, shifts, axes=()):
    shifts = per_axis(shifts, 1)
    return roll(x, shifts, per_axis(axes, 1)) if axes else roll(x, shifts[0])


# ---- parts -----------------------------------------------------------------------------------------------


def _bounds(x, axis, start, end):
    """Counted from the front and clamped, as far as that can be known."""
    extent = x.shape[axis]
    return cut_off(layout.bound_of(start, extent, 0), layout.bound_of(_end(end), extent, extent), extent)


def _end(end):
    """PyTorch's largest integer is the end of the axis."""
    return None if is_int(end) and end >= 2**62 else end


@imports("slice", "slice_copy")
def _slice(out, x, axis=0, start=None, end=None, step=1):
    axis = axis_of(axis, x.ndim)
    begin, end = _bounds(x, axis, start, end)
    return part(x, axis, begin, end, step)


@imports("narrow")
def _narrow(out, x, axis, start, length):
    axis = axis_of(axis, x.ndim)
    begin = x.shape[axis] + start if layout.looks_negative(start) else start
    return part(x, axis, begin, begin + length)


@imports("window")
def _window(out, x, axis, start, length):
    found = x[(slice(None),) * axis + (slice(start, start + length),)]
    if found.shape != (*x.shape[:axis], length, *x.shape[axis + 1 :]):
        raise Untraceable("a window that reaches over an edge of its tensor in some steps")
    return found


@imports("select", "select_copy")
def _select(out, x, axis, index):
    axis = axis_of(axis, x.ndim)
    if steps_in(index):
        return x[(slice(None),) * axis + (index,)]  # below 0 in some steps perhaps
    begin = x.shape[axis] + index if layout.looks_negative(index) else index
    one = part(x, axis, begin, begin + 1)
    return layout.reshape(one, x.shape[:axis] + x.shape[axis + 1 :])


@imports("split", "split_copy")
def _split(out, x, size, axis=0):
    if isinstance(size, (list, tuple)):
        return _split_with_sizes(out, x, size, axis)
    axis = axis_of(axis, x.ndim)
    extent = x.shape[axis]
    if not (is_int(extent) and is_int(size)):
        raise Untraceable("the number of parts of 'aten.split' depends on a dimension")
    return [part(x, axis, at, min(extent, at + size)) for at in range(0, extent, size)]


@imports("split_with_sizes", "split_with_sizes_copy")
def _split_with_sizes(out, x, sizes, axis=0):
    axis, begin, parts = axis_of(axis, x.ndim), 0, []
    for size in sizes:
        parts.append(part(x, axis, begin, begin + size))
        begin = begin + size
    return parts


@imports("unbind", "unbind_copy")
def _unbind(out, x, axis=0):
    axis = axis_of(axis, x.ndim)
    if not is_int(x.shape[axis]):
        raise Untraceable("the number of parts of 'aten.unbind' depends on a dimension")
    return [_select(out, x, axis, i) for i in range(x.shape[axis])]


@imports("unfold", "unfold_copy")
def _unfold(out, x, axis, size, step):
    axis = axis_of(axis, x.ndim)
    windows = layout.sliding_window_view(x, (size,), (axis,))
    return part(windows, axis, 0, windows.shape[axis], step)


def _with_part(out, x, source, axis, begin, end):
    pieces = [part(x, axis, 0, begin), as_dtype(source, out), part(x, axis, end, x.shape[axis])]
    return layout.concatenate([piece for piece in pieces if not same(piece.shape[axis], 0)], axis)


@imports("slice_scatter")
def _slice_scatter(out, x, source, axis=0, start=None, end=None, step=1):
    axis = axis_of(axis, x.ndim)
    if step != 1:
        written = Traced(x.node, x.shape, x.dtype)
        written[tuple([*(slice(None) for _ in range(axis)), slice(start, _end(end), step)])] = as_dtype(source, out)
        return written
    return _with_part(out, x, source, axis, *_bounds(x, axis, start, end))


@imports("select_scatter")
def _select_scatter(out, x, source, axis, index):
    axis = axis_of(axis, x.ndim)
    begin = x.shape[axis] + index if layout.looks_negative(index) else index
    return _with_part(out, x, layout.expand_dims(source, axis), axis, begin, begin + 1)


# ---- padding ---------------------------------------------------------------------------------------------


def pad_or_crop(x: Traced, widths, fill=0) -> Traced:
    """(before, after) for each axis; negative ones crop."""
    for axis, (before, after) in enumerate(widths):
        crop = [-w if is_int(w) and w < 0 else 0 for w in (before, after)]
        if any(crop):
            x = part(x, axis, crop[0], x.shape[axis] - crop[1])
    return layout.pad(x, [tuple(w if not is_int(w) else max(w, 0) for w in pair) for pair in widths], fill)


def _pairs(x, widths):
    """PyTorch lists the last axis first."""
    pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)]
    return [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]


@imports("constant_pad_nd")
def _constant_pad(out, x, widths, value=0):
    return pad_or_crop(x, _pairs(x, widths), value)


def _register_borders():
    def pads(mode):
        return lambda out, x, widths: bordered(x, _pairs(x, widths), mode)

    for name, mode in (("reflection", "reflect"), ("replication", "edge")):
        for count in (1, 2, 3):
            OPERATIONS[f"{name}_pad{count}d"] = pads(mode)


_register_borders()


@imports("pad")
def _pad(out, x, widths, mode="constant", value=None):
    if mode == "constant":
        return _constant_pad(out, x, widths, 0 if value is None else value)
    return bordered(x, _pairs(x, widths), {"reflect": "reflect", "replicate": "edge"}.get(mode, "wrap"))


# ---- creation --------------------------------------------------------------------------------------------


@imports("full")
def _full(out, shape, value, **_):
    return full(layout.shape_of(tuple(shape)), value, out)


@imports("empty", "empty_permuted", "empty_strided")
def _empty(out, shape, *_, **__):
    return full(layout.shape_of(tuple(shape)), 0, out)  # as good as any


OPERATIONS["empty_like"] = lambda out, x, **_: _empty(out, x.shape)
OPERATIONS["new_empty"] = lambda out, x, shape, **_: _empty(out, shape)
OPERATIONS["zeros"] = lambda out, shape, **_: _full(out, shape, 0)
OPERATIONS["ones"] = lambda out, shape, **_: _full(out, shape, 1)
OPERATIONS["new_zeros"] = lambda out, x, shape, **_: _full(out, shape, 0)
OPERATIONS["new_ones"] = lambda out, x, shape, **_: _full(out, shape, 1)
OPERATIONS["new_full"] = lambda out, x, shape, value, **_: _full(out, shape, value)
OPERATIONS["full_like"] = lambda out, x, value, **_: full(x.shape, value, out)
OPERATIONS["zeros_like"] = lambda out, x, **_: full(x.shape, 0, out)
OPERATIONS["ones_like"] = lambda out, x, **_: full(x.shape, 1, out)
OPERATIONS["fill"] = lambda out, x, value: broadcast_to(as_tensor(value, out), x.shape)
OPERATIONS["copy"] = lambda out, x, source, *_: broadcast_to(as_tensor(source, out), x.shape)


@imports("arange")
def _arange(out, *bounds, **_):
    begin, end, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    numbers = [int(v) if isinstance(v, float) and v.is_integer() else v for v in (begin, end, step)]
    if not all(layout.is_extent(number) for number in numbers):
        raise Untraceable("'aten.arange' over numbers that are not whole has no graph operation")
    if is_int(numbers[2]) and numbers[2] < 0:
        begin, end, step = numbers
        count = (begin - end - step - 1) // -step
        return as_tensor(begin + layout.arange(count) * step, out)
    return as_tensor(layout.arange(*numbers), out)


@imports("linspace")
def _linspace(out, begin, end, count, **_):
    if not is_int(count) or count < 2:
        raise Untraceable("'aten.linspace' with a count that varies has no graph operation")
    return as_tensor(layout.arange(count), out) * ((end - begin) / (count - 1)) + begin


@imports("eye")
def _eye(out, rows, columns=None, **_):
    i, j = layout.index_grid(rows, rows if columns is None else columns)
    return astype(pointwise("equal", i, j), out)


def _triangle(lower):
    def apply(out, x, diagonal=0):
        mask = layout.triangle(x.shape[-2], x.shape[-1], diagonal, lower)
        zero = full((), 0, out)
        return pointwise("where", mask, x, zero)

    return apply


OPERATIONS["tril"], OPERATIONS["triu"] = _triangle(True), _triangle(False)


@imports("diagonal", "diagonal_copy")
def _diagonal(out, x, offset=0, axis1=0, axis2=1):
    a, b = axis_of(axis1, x.ndim), axis_of(axis2, x.ndim)
    x = transpose(x, [axis for axis in range(x.ndim) if axis not in (a, b)] + [a, b])
    if offset or not same(x.shape[-1], x.shape[-2]):
        raise Untraceable("a diagonal beside the main one, or of a matrix that is not square, has no graph operation")
    i, j = layout.index_grid(x.shape[-2], x.shape[-1])
    return reduce("sum", pointwise("where", pointwise("equal", i, j), x, full((), 0, out)), x.ndim - 1)


@imports("diag_embed")
def _diag_embed(out, x, offset=0, axis1=-2, axis2=-1):
    if offset or (axis1, axis2) != (-2, -1):
        raise Untraceable("'aten.diag_embed' beside the main diagonal has no graph operation")
    i, j = layout.index_grid(x.shape[-1], x.shape[-1])
    return pointwise("where", pointwise("equal", i, j), layout.expand_dims(x, -1), full((), 0, out))


# ---- gathering -------------------------------------------------------------------------------------------


@imports("embedding")
def _embedding(out, table, index, *_):
    return layout.take(table, index, 0)


@imports("index_select")
def _index_select(out, x, axis, index):
    return layout.take(x, index, axis)


@imports("gather")
def _gather(out, x, axis, index, **_):
    axis = axis_of(axis, x.ndim)
    for i, (have, want) in enumerate(zip(x.shape, index.shape)):
        if i != axis and not same(have, want):
            x = part(x, i, 0, want)
    return layout.take_along_axis(x, index, axis)


@imports("take")
def _take(out, x, index):
    return layout.take(layout.reshape(x, (x.size,)), counted_from_front(index, x.size), 0)


@imports("index", "_unsafe_index")
def _index(out, x, indices):
    by_axis = {axis: index for axis, index in enumerate(indices) if index is not None}
    if any(index.dtype.kind == "b" for index in by_axis.values()):
        raise Untraceable("boolean mask indexing gives a shape that depends on values")
    return gather_several(x, by_axis)


@imports("one_hot")
def _one_hot(out, x, classes=-1):
    if is_int(classes) and classes < 0:
        raise Untraceable("'one_hot' without a number of classes gives a shape that depends on values")
    return astype(pointwise("equal", layout.expand_dims(x, -1), layout.arange(classes)), out)


# ---- images ----------------------------------------------------------------------------------------------


@imports("pixel_shuffle")
def _pixel_shuffle(out, x, r):
    *lead, c, h, w = x.shape
    n = len(lead)
    apart = layout.reshape(x, (*lead, layout.exact_divide(c, r * r), r, r, h, w))
    order = [*range(n), n, n + 3, n + 1, n + 4, n + 2]
    return layout.reshape(transpose(apart, order), (*lead, layout.exact_divide(c, r * r), h * r, w * r))


@imports("pixel_unshuffle")
def _pixel_unshuffle(out, x, r):
    *lead, c, h, w = x.shape
    n = len(lead)
    h, w = layout.exact_divide(h, r), layout.exact_divide(w, r)
    apart = layout.reshape(x, (*lead, c, h, r, w, r))
    return layout.reshape(transpose(apart, [*range(n), n, n + 2, n + 4, n + 1, n + 3]), (*lead, c * r * r, h, w))


@imports("channel_shuffle")
def _channel_shuffle(out, x, groups):
    n, c, *rest = x.shape
    apart = layout.reshape(x, (n, groups, layout.exact_divide(c, groups), *rest))
    return layout.reshape(transpose(apart, [0, 2, 1, *range(3, x.ndim + 1)]), x.shape)


@imports("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
def _upsample_nearest(out, x, size, *scales):
    spatial = x.shape[2:]
    scales = scales[0] if scales and isinstance(scales[0], (list, tuple)) else scales
    for i, extent in enumerate(spatial):
        axis, scale = i + 2, scales[i] if i < len(scales) else None
        if scale is None and is_int(extent) and is_int(size[i]) and size[i] % extent == 0:
            scale = size[i] // extent
        if scale is not None and int(scale) == scale:
            x = _repeat_interleave(out, x, int(scale), axis)
        elif is_int(extent):
            wanted = size[i] if size is not None else math.floor(extent * scale)
            if not is_int(wanted):
                raise Untraceable("upsampling to an extent that varies has no graph operation")
            places = _nearest(wanted, 1 / scale if scale else extent / wanted)
            x = layout.take(x, lift(np.minimum(places, extent - 1)), axis)
        else:
            x = layout.take(x, _nearest_of_any(extent, scale), axis)
    return x


def _nearest(count, step):
    """Where PyTorch reads, which computes it in float32."""
    return np.floor(np.arange(count, dtype=np.float32) * np.float32(step)).astype(np.int64)


def _nearest_of_any(extent, scale) -> Traced:
    """The same in whole numbers, where no place differs."""
    ratio = Fraction(scale or 0).limit_denominator(64)
    count, most = ratio.numerator, 1 << 20
    if ratio != scale or not np.array_equal(np.arange(most) * ratio.denominator // count, _nearest(most, 1 / scale)):
        raise Untraceable("upsampling an extent that varies by such a factor has no graph operation")
    return layout.arange(extent * count // ratio.denominator) * ratio.denominator // count
