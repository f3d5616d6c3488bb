"""PyTorch's sorting, scattering and interpolation as nodes of the graph.

What is added, or combined otherwise, is a scatter. What is written has the order of a loop, and the graph no node for
that: a target takes the last of those that are meant for it, whose place is a scatter's maximum.
"""

from __future__ import annotations

import math

import numpy as np

from strop import trace_layout as layout
from strop.import_reductions import scan
from strop.import_values import OPERATIONS, as_dtype, as_tensor, imports
from strop.trace_array import (
    Traced,
    astype,
    axis_of,
    broadcast_shapes,
    broadcast_to,
    full,
    pointwise,
    product,
    reduce,
)
from strop.trace_constants import constant_array
from strop.trace_dims import Untraceable, is_int, same
from strop.trace_index_arrays import last_of, put
from strop.trace_layout import part
from strop.trace_masks import where_masked
from strop.trace_order import element_at, extent_of, in_order, log_cumulative_sum, searchsorted, zero
from strop.trace_statistics import histogram

# ---- order -----------------------------------------------------------------------------------------------


@imports("sort")
def _sort(out, x, axis=-1, descending=False):
    return in_order(x, axis, None, descending)


@imports("sort.stable")
def _sort_stable(out, x, *, stable=None, dim=-1, descending=False):
    return _sort(out, x, dim, descending)


@imports("argsort")
def _argsort(out, x, axis=-1, descending=False):
    return _sort(out, x, axis, descending)[1]


@imports("argsort.stable")
def _argsort_stable(out, x, *, stable=None, dim=-1, descending=False):
    return _argsort(out, x, dim, descending)


@imports("topk")
def _topk(out, x, count, axis=-1, largest=True, *_):
    if is_int(count) and count == 1 and x.ndim:
        op = "max" if largest else "min"
        return reduce(op, x, axis, True), reduce("arg" + op, x, axis, True)
    return in_order(x, axis, count, largest)


@imports("kthvalue")
def _kth_value(out, x, k, axis=-1, keepdim=False):
    return element_at(x, axis, k - 1, keepdim)


@imports("median.dim", "nanmedian.dim")
def _median(out, x, axis, keepdim=False):
    return element_at(x, axis, (extent_of(x, axis) - 1) // 2, keepdim)


@imports("median", "nanmedian")
def _median_of_all(out, x):
    return _median(out, layout.reshape(x, (x.size,)), 0)[0]


@imports("bucketize")
def _bucketize(out, x, boundaries, *, out_int32=False, right=False):
    return astype(searchsorted(boundaries, x, "right" if right else "left"), out)


@imports("searchsorted")
def _search_sorted(out, boundaries, x, *, out_int32=False, right=False, side=None, sorter=None):
    if sorter is not None:
        raise Untraceable("'aten.searchsorted' with a sorter has no graph operation")
    apart = boundaries if boundaries.ndim == 1 else layout.expand_dims(boundaries, -2)
    return _bucketize(out, x, apart, right=right or side == "right")


# ---- scattering ------------------------------------------------------------------------------------------


def _source_of(x: Traced, axis: int, index: Traced, source) -> Traced:
    """What is scattered: as much as there are indices."""
    for i, (have, want) in enumerate(zip(x.shape, index.shape)):
        if i != axis and not same(have, want):
            raise Untraceable("a scatter whose indices are smaller than its target has no graph operation")
    if isinstance(source, Traced) and source.ndim:
        for i, extent in enumerate(index.shape):
            source = source if same(source.shape[i], extent) else part(source, i, 0, extent)
    else:
        source = broadcast_to(as_tensor(source, x.dtype), index.shape)
    return as_dtype(source, x.dtype)


SCATTERED = {"sum": "sum", "add": "sum", "amax": "max", "amin": "min"}


@imports("scatter_reduce")
def _scatter_reduce(out, x, axis, index, source, how, *, include_self=True):
    if how == "mean":
        return _scatter_mean(out, x, axis, index, source, include_self)
    if how not in SCATTERED or (how not in ("sum", "add") and out.kind != "f"):
        raise Untraceable(f"'aten.scatter_reduce' with '{how}' has no graph operation here")
    axis = axis_of(axis, x.ndim)
    source = _source_of(x, axis, index, source)
    if include_self:
        return layout.scatter(SCATTERED[how], x, index, source, axis)
    nothing = {"sum": 0, "max": -math.inf, "min": math.inf}[SCATTERED[how]]
    written = layout.scatter(SCATTERED[how], full(x.shape, nothing, out), index, source, axis)
    return pointwise("where", last_of(x.shape, axis, index) < 0, x, written)


@imports("histc")
def _histc(out, x, bins=100, min=0, max=0):  # noqa: A002
    return as_tensor(histogram(x, bins, None if min == max else (min, max))[0], out)


def _scatter_mean(out, x, axis, index, source, include_self):
    """What is not written to stays."""
    if out.kind != "f":
        raise Untraceable("'aten.scatter_reduce' with 'mean' of whole numbers has no graph operation")
    axis = axis_of(axis, x.ndim)
    source = _source_of(x, axis, index, source)
    own = 1 if include_self else 0
    total = layout.scatter("sum", x if include_self else full(x.shape, 0, out), index, source, axis)
    ones = full(source.shape, 1, out)
    count = layout.scatter("sum", full(x.shape, own, out), index, ones, axis)
    return pointwise("where", count > own, total / pointwise("maximum", count, 1), x)


OPERATIONS["scatter_add"] = lambda out, x, axis, index, source: _scatter_reduce(out, x, axis, index, source, "sum")


@imports("scatter", "scatter.src", "scatter.value")
def _scatter(out, x, axis, index, source, **options):
    if options.get("reduce"):
        return _scatter_reduce(out, x, axis, index, source, options["reduce"])
    axis = axis_of(axis, x.ndim)
    source = _source_of(x, axis, index, source)
    last = last_of(x.shape, axis, index)
    written = layout.take_along_axis(source, pointwise("maximum", last, 0), axis)
    return pointwise("where", pointwise("less", last, 0), x, written)


@imports("index_put", "_unsafe_index_put")
def _index_put(out, x, indices, values, accumulate=False, *_):
    by_axis = {axis: index for axis, index in enumerate(indices) if index is not None}
    if any(index.dtype.kind == "b" for index in by_axis.values()):
        if accumulate:
            raise Untraceable("this form of indexed assignment has no graph operation")
        key = tuple(index if index is not None else slice(None) for index in indices)
        return where_masked(x, key, as_dtype(values, out))
    return put(x, by_axis, as_dtype(values, out), "sum" if accumulate else "")


@imports("mode")
def _mode(out, x, axis=-1, keepdim=False):
    """The most frequent element, of several the smallest, and where the last of it is: n² comparisons."""
    if not x.ndim:
        return x, zero(np.int64)
    last = layout.moveaxis(x, axis, -1)
    equal = pointwise("equal", layout.expand_dims(last, -1), layout.expand_dims(last, -2))
    counts = reduce("sum", astype(equal, np.int64), last.ndim)
    most = pointwise("equal", counts, reduce("max", counts, -1, True))
    value = reduce("min", pointwise("where", most, last, reduce("max", last, -1, True)), -1, True)
    here = pointwise("where", pointwise("equal", last, value), layout.arange(last.shape[-1]), zero(np.int64))
    place = reduce("max", here, -1, True)
    return tuple(layout.moveaxis(one, -1, axis) if keepdim else layout.squeeze(one, -1) for one in (value, place))


# ---- scans without a node of their own ------------------------------------------------------------------------


def _running(op):
    """Running extrema, and where the last of each was."""

    def apply(out, x, axis):
        if not x.ndim:
            return x, zero(np.int64)
        axis = axis_of(axis, x.ndim)
        values = scan(op, x, axis)
        at = layout.reshape(layout.arange(x.shape[axis]), (x.shape[axis],) + (1,) * (x.ndim - 1 - axis))
        places = pointwise("where", pointwise("equal", x, values), at, zero(np.int64))
        return values, scan("max", places, axis)

    return apply


OPERATIONS["cummax"], OPERATIONS["cummin"] = _running("max"), _running("min")


@imports("logcumsumexp")
def _log_cumulative_sum(out, x, axis):
    return log_cumulative_sum(x, axis) if x.ndim else x


# ---- interpolation -----------------------------------------------------------------------------------------


def _between(x: Traced, axis: int, extent, aligned: bool, scale) -> Traced:
    """Linear interpolation along an axis, as PyTorch places its samples."""
    have, dtype = x.shape[axis], x.dtype
    at = astype(layout.arange(extent), dtype)
    if aligned:
        at = at * ((have - 1) / (extent - 1)) if not same(extent, 1) else at * 0
    else:
        ratio = 1 / scale if scale else have / extent
        at = pointwise("maximum", (at + 0.5) * ratio - 0.5, 0)
    below = pointwise("floor", at)
    low = pointwise("minimum", astype(below, np.int64), have - 1)
    high = pointwise("minimum", low + 1, have - 1)
    share = layout.reshape(at - below, (extent,) + (1,) * (x.ndim - 1 - axis))
    return layout.take(x, low, axis) * (1 - share) + layout.take(x, high, axis) * share


@imports("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")
def _upsample_linear(out, x, size, aligned, *scales):
    scales = scales[0] if scales and isinstance(scales[0], (list, tuple)) else scales
    scales = list(scales) if any(scales) else [None] * (x.ndim - 2)
    for axis, scale in enumerate(scales, 2):
        if size is not None:
            extent = size[axis - 2]
        elif float(scale).is_integer() or is_int(x.shape[axis]):
            extent = x.shape[axis] * int(scale) if float(scale).is_integer() else math.floor(x.shape[axis] * scale)
        else:
            raise Untraceable("interpolation by a factor that is not whole, of an extent that varies, has no graph operation")
        x = _between(x, axis, extent, aligned, scale)
    return x


# ---- triangles -------------------------------------------------------------------------------------------


def _steps(numbers):
    """Few numbers, or ones that are equally far apart."""
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 0
    if all(later - number == step for number, later in zip(numbers, numbers[1:])):
        return layout.arange(len(numbers)) * step + numbers[0]
    return constant_array(np.array(numbers))


def _places_in_triangle(out, counts, first):
    """Row and column of each place, row by row: so many of each row, from the first one on."""
    of_rows, places = _steps(counts), layout.arange(sum(counts))
    ends = scan("sum", of_rows, 0)
    row = searchsorted(ends, places, "right")
    column = places - layout.take(ends - of_rows - _steps(first), row, 0)
    return as_tensor(layout.stack([row, column], 0), out)


def _are_numbers(*extents):
    if not all(is_int(extent) for extent in extents):
        raise Untraceable("indices of a triangle whose size varies have no graph operation")


@imports("tril_indices")
def _tril_indices(out, rows, columns, offset=0, **_):
    _are_numbers(rows, columns)
    return _places_in_triangle(out, [min(max(row + 1 + offset, 0), columns) for row in range(rows)], [0] * rows)


@imports("triu_indices")
def _triu_indices(out, rows, columns, offset=0, **_):
    _are_numbers(rows, columns)
    first = [max(row + offset, 0) for row in range(rows)]
    return _places_in_triangle(out, [max(columns - one, 0) for one in first], first)


# ---- bags ------------------------------------------------------------------------------------------------


def _bag_length(indices: Traced, offsets: Traced, bags):
    """How many indices each bag has, where that is one number."""
    equal = offsets.step is not None and same(offsets.step * bags, indices.shape[0])
    return offsets.step if equal else None


@imports("_embedding_bag", "_embedding_bag_forward_only")
def _embedding_bag(out, table, indices, offsets, scale=False, mode=0, sparse=False, weights=None, last=False, padding=-1):
    """Sums, means (mode 1) or maxima (mode 2) of the rows of bags, which begin at their offsets."""
    if padding != -1:
        raise Untraceable("an embedding bag with a padding index has no graph operation")
    bags = offsets.shape[0] - 1 if last else offsets.shape[0]
    rows = layout.take(table, indices, 0)
    if weights is not None:
        rows = rows * layout.expand_dims(weights, -1)
    length = None if last else _bag_length(indices, offsets, bags)
    if length is not None:
        each = layout.reshape(rows, (bags, length, table.shape[1]))
        result = reduce("max" if mode == 2 else "sum", each, 1)
        if mode == 1:
            result = result * (1 / length) if is_int(length) else result / length
    elif mode == 2:
        raise Untraceable("maxima of embedding bags of several lengths have no graph operation")
    else:
        bag = searchsorted(offsets, layout.arange(indices.shape[0]), "right") - 1
        place = layout.expand_dims(bag, -1)
        result = layout.scatter("sum", full((bags, table.shape[1]), 0, table.dtype), place, rows, 0)
        if mode == 1:
            ones = full((indices.shape[0],), 1, table.dtype)
            counts = layout.scatter("sum", full((bags,), 0, table.dtype), bag, ones, 0)
            result = result / layout.expand_dims(pointwise("maximum", counts, 1), -1)
    return result, offsets, offsets, offsets
