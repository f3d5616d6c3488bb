"""NumPy's functions that arrange arrays: grids, blocks, borders, rotations."""

from __future__ import annotations

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, astype, axes_of, axis_of, broadcast_to, lift, pointwise, product, transpose
from strop.trace_calls import HANDLERS, call, handles
from strop.trace_creation import converted
from strop.trace_dims import SymInt, Untraceable, is_int, looks_negative
from strop.trace_layout import part
from strop.trace_sizes import count_where_taken


def along(axis: int, begin, end) -> tuple:
    """The key of a part of an axis."""
    return (slice(None),) * axis + (slice(begin, end),)


# ---- borders -------------------------------------------------------------------------------------------


def _border(x: Traced, axis: int, width, mode: str, first: bool) -> Traced:
    extent = x.shape[axis]
    if mode == "edge":
        edge = part(x, axis, 0, 1) if first else part(x, axis, extent - 1, extent)
        return broadcast_to(edge, (*x.shape[:axis], width, *x.shape[axis + 1 :]))
    if mode == "wrap":
        return part(x, axis, extent - width, extent) if first else part(x, axis, 0, width)
    begin = 1 if mode == "reflect" else 0
    end = extent - begin
    return layout.reverse(part(x, axis, begin, begin + width) if first else part(x, axis, end - width, end), axis)


def bordered(x: Traced, widths, mode: str) -> Traced:
    """By what lies inside ("edge", "reflect", "symmetric" or "wrap"), of which there is enough."""
    for axis, (before, after) in enumerate(widths):
        pieces = [] if _is_zero(before) else [_border(x, axis, before, mode, True)]
        pieces += [x] if _is_zero(after) else [x, _border(x, axis, after, mode, False)]
        x = layout.concatenate(pieces, axis)
    return x


def _is_zero(width) -> bool:
    return is_int(width) and width == 0


def _with_any_borders(x: Traced, axis: int, before, after, mode: str) -> Traced:
    """However few there are inside."""
    extent = x.shape[axis]
    pieces = [x]
    if not _is_zero(before):
        pieces.insert(0, layout.take(x, _places_around(layout.arange(before) - before, extent, mode), axis))
    if not _is_zero(after):
        pieces.append(layout.take(x, _places_around(layout.arange(after) + extent, extent, mode), axis))
    return layout.concatenate(pieces, axis)


def _places_around(place: Traced, extent, mode: str) -> Traced:
    """Where the elements of a border are, whose places count from the first one inside."""
    if mode == "wrap":
        return pointwise("remainder", place, extent)
    last = extent - 1 if mode == "reflect" else extent
    period = pointwise("maximum", 2 * last, 1)
    turned = pointwise("remainder", place, period)
    if mode == "reflect":
        return last - pointwise("absolute", last - turned)
    return pointwise("minimum", turned, period - 1 - turned)


@handles("pad")
def pad(x, pad_width, mode="constant", constant_values=0, reflect_type="even"):
    x = lift(x)
    if isinstance(pad_width, dict):
        by_axis = {axis_of(axis, x.ndim): width for axis, width in pad_width.items()}
        pad_width = [by_axis.get(axis, (0, 0)) for axis in range(x.ndim)]
        pad_width = [(width, width) if layout.is_extent(width) else width for width in pad_width]
    widths = [(count_where_taken(a), count_where_taken(b)) for a, b in layout.pad_widths(pad_width, x.ndim)]
    if mode == "constant":
        return layout.pad(x, widths, constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap") or reflect_type != "even":
        raise Untraceable(f"'np.pad' with mode '{mode}' has no graph operation")
    for axis, (before, after) in enumerate(widths):
        extent = x.shape[axis]
        most = extent - 1 if mode == "reflect" else extent
        if mode != "edge" and not is_int(extent):
            x = _with_any_borders(x, axis, before, after, mode)
            continue
        if mode != "edge" and any(is_int(width) and width > most for width in (before, after)):
            raise Untraceable(f"'np.pad' of an extent of {extent} by more than it holds")
        x = bordered(x, [(before, after) if i == axis else (0, 0) for i in range(x.ndim)], mode)
    return x


# ---- grids ---------------------------------------------------------------------------------------------


@handles("meshgrid")
def meshgrid(*vectors, indexing="xy", sparse=False, copy=True):
    values = [layout.reshape(lift(v), (lift(v).size,)) for v in vectors]
    places = list(range(len(values)))
    if indexing == "xy" and len(values) > 1:
        places[:2] = [1, 0]
    shape = [values[places.index(axis)].size for axis in range(len(values))]
    grids = [
        layout.reshape(value, [value.size if axis == place else 1 for axis in range(len(values))])
        for place, value in zip(places, values)
    ]
    return grids if sparse else [broadcast_to(grid, shape) for grid in grids]


@handles("indices")
def indices(dimensions, dtype=None, sparse=False):
    shape = layout.shape_of(dimensions)
    counts = [layout.arange(extent, dtype=dtype) for extent in shape]
    grids = meshgrid(*counts, indexing="ij", sparse=sparse)
    return tuple(grids) if sparse else layout.stack(grids, 0)


class Mesh:
    """np.mgrid and np.ogrid over extents that vary."""

    def __init__(self, real, sparse: bool):
        self.real, self.sparse = real, sparse

    def __getitem__(self, key):
        slices = key if isinstance(key, tuple) else (key,)
        bounds = [(one.start or 0, one.stop, 1 if one.step is None else one.step) for one in slices]
        if not any(isinstance(number, SymInt) for one in bounds for number in one):
            return self.real[key]
        counts = [layout.arange(*one) for one in bounds]
        if len(counts) == 1 and not isinstance(key, tuple):
            return counts[0]
        grids = meshgrid(*counts, indexing="ij", sparse=self.sparse)
        return grids if self.sparse else layout.stack(grids, 0)


@handles("fromfunction")
def from_function(function, shape, dtype=None):
    grids = indices(shape, float if dtype is None else dtype)
    return function(*(grids[axis] for axis in range(len(layout.shape_of(shape)))))


@handles("ix_")
def open_mesh(*vectors):
    return tuple(meshgrid(*vectors, indexing="ij", sparse=True))


@handles("linspace")
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if not layout.is_extent(num) or lift(start).ndim or lift(stop).ndim:
        raise Untraceable("this form of 'np.linspace' has no graph operation")
    steps = pointwise("maximum", num - 1, 1) if endpoint else lift(num)
    step = pointwise("divide", pointwise("subtract", stop, start), steps)
    places = layout.arange(num)
    result = pointwise("add", pointwise("multiply", astype(places, GRAPH.working), step), start)
    if lift(start).weak and lift(stop).weak and result.dtype == np.float32:
        first, last, count, at = (astype(lift(one), np.float64) for one in (start, stop, steps, places))
        # As NumPy rounds: the step is a quotient, of the count as an array (no place is above it), which nobody turns into
        # a product, and a bound that is never met keeps the product out of a multiply-add.
        product = at * ((last - first) / pointwise("maximum", at, count))
        wide = pointwise("maximum", product, float(np.finfo(np.float64).min)) + first
        if endpoint:  # which NumPy writes as it was given
            wide = pointwise("where", pointwise("equal", at, count), last, wide)
        GRAPH.wide[result.node] = wide.node
    result = result if dtype is None else converted(result, dtype)
    return (result, step) if retstep else result


# ---- joining, cutting, turning ---------------------------------------------------------------------------


@handles("atleast_3d")
def at_least_3d(x):
    """A vector is a row, a matrix has its depth last."""
    x = lift(x)
    return layout.reshape(x, {0: (1, 1, 1), 1: (1, *x.shape, 1), 2: (*x.shape, 1)}.get(x.ndim, x.shape))


HANDLERS["dstack"] = lambda arrays: layout.concatenate([at_least_3d(a) for a in arrays], 2)
HANDLERS["hsplit"] = lambda x, sections: layout.split(x, sections, 0 if lift(x).ndim == 1 else 1)
HANDLERS["vsplit"] = lambda x, sections: layout.split(x, sections, 0)
HANDLERS["dsplit"] = lambda x, sections: layout.split(x, sections, 2)


@handles("column_stack")
def column_stack(arrays):
    columns = [layout.expand_dims(lift(a), -1) if lift(a).ndim == 1 else lift(a) for a in arrays]
    return layout.concatenate(columns, 1)


@handles("append")
def append(x, values, axis=None):
    return layout.concatenate([x, values], axis)


@handles("block")
def block(arrays):
    def depth(nested):
        return 1 + max(depth(one) for one in nested) if isinstance(nested, list) else 0

    def rank(nested):
        return max(rank(one) for one in nested) if isinstance(nested, list) else lift(nested).ndim

    levels = depth(arrays)
    wanted = max(levels, rank(arrays))

    def joined(nested, level):
        if not isinstance(nested, list):
            x = lift(nested)
            return layout.reshape(x, (1,) * (wanted - x.ndim) + x.shape)
        return layout.concatenate([joined(one, level - 1) for one in nested], -level)

    return joined(arrays, levels)


@handles("unstack")
def unstack(x, axis=0):
    x = layout.moveaxis(lift(x), axis, 0)
    return tuple(x)


@handles("rollaxis")
def rollaxis(x, axis, start=0):
    axis = axis_of(axis, lift(x).ndim)
    start = start + lift(x).ndim if start < 0 else start
    return layout.moveaxis(x, axis, start - 1 if axis < start else start)


@handles("rot90")
def rotated(x, k=1, axes=(0, 1)):
    x = lift(x)
    first, second = axes_of(axes, x.ndim) if axes[0] < axes[1] else tuple(axis_of(a, x.ndim) for a in axes)
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    turns = k % 4
    if turns == 0:
        return x
    if turns == 2:
        return layout.reverse(layout.reverse(x, first), second)
    if turns == 1:
        return transpose(layout.reverse(x, second), order)
    return layout.reverse(transpose(x, order), second)


@handles("roll")
def roll(x, shift, axis=None):
    x = lift(x)
    if axis is None:
        return layout.reshape(roll(layout.reshape(x, (x.size,)), shift, 0), x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for one, by in zip(axes, shifts):
        if not layout.is_extent(by):
            raise Untraceable("'np.roll' by a computed number has no graph operation")
        place = axis_of(one, x.ndim)
        extent = x.shape[place]
        begin = -by % extent if looks_negative(by) else extent - by % extent
        if is_int(begin) and begin in (0, extent):
            continue
        x = layout.concatenate([part(x, place, begin, extent), part(x, place, 0, begin)], place)
    return x


HANDLERS["fft.fftshift"] = lambda x, axes=None: _shifted(lift(x), axes, 1)
HANDLERS["fft.ifftshift"] = lambda x, axes=None: _shifted(lift(x), axes, -1)


def _shifted(x: Traced, axes, sign: int) -> Traced:
    """Half of each extent, rounded down; back: rounded up."""
    places = axes_of(axes, x.ndim)
    return roll(x, [x.shape[axis] // 2 * sign for axis in places], list(places))


# ---- diagonals and places ------------------------------------------------------------------------------


@handles("diag")
def diag(x, k=0):
    x = lift(x)
    if x.ndim == 2:
        return layout.diagonal(x, k)
    if not is_int(k):
        raise Untraceable("a diagonal whose offset is not a literal")
    return layout.pad(layout.diagonal_matrix(x), [(max(-k, 0), max(k, 0)), (max(k, 0), max(-k, 0))])


HANDLERS["diagflat"] = lambda x, k=0: diag(layout.reshape(lift(x), (lift(x).size,)), k)


@handles("fill_diagonal")
def fill_diagonal(x, value, wrap=False):
    if x.ndim != 2 or wrap:
        raise Untraceable("this form of 'np.fill_diagonal' has no graph operation")
    i, j = layout.index_grid(*x.shape)
    value = lift(value)
    value = layout.reshape(value, (value.shape[0], 1)) if value.ndim else value
    x.assign(pointwise("where", pointwise("equal", i, j), astype(value, x.dtype), x))


@handles("diag_indices")
def diag_indices(count, ndim=2):
    return tuple(layout.arange(count) for _ in range(ndim))


@handles("ravel_multi_index")
def flat_places(places, dimensions):
    shape = layout.shape_of(dimensions)
    result = lift(places[0])
    for place, extent in zip(places[1:], shape[1:]):
        result = result * extent + place
    return result


@handles("unravel_index")
def places_of_flat(index, shape):
    shape, index = layout.shape_of(shape), lift(index)
    places = []
    for axis in range(len(shape)):
        rest = product(shape[axis + 1 :])
        whole = index if is_int(rest) and rest == 1 else pointwise("floor_divide", index, rest)
        places.append(whole if axis == 0 else pointwise("remainder", whole, shape[axis]))
    return tuple(places)


def at_one_place(x, place, axis):
    """(array, place, axis), none of them from the end; without an axis of the flat array"""
    x = x if hasattr(x, "shape") else lift(x)
    if axis is None:
        x, axis = call("ravel", (x,), {}), 0
    at = axis_of(axis, len(x.shape))
    return x, x.shape[at] + place if looks_negative(place) else place, at


@handles("delete")
def delete(x, place, axis=None):
    if not layout.is_extent(place):
        raise Untraceable("'np.delete' of several places has no graph operation")
    x, place, at = at_one_place(x, place, axis)
    before, behind = x[along(at, None, place)], x[along(at, place + 1, None)]
    return call("concatenate", ([before, behind], at), {})


@handles("insert")
def insert(x, place, values, axis=None):
    if not layout.is_extent(place):
        raise Untraceable("'np.insert' at several places has no graph operation")
    x, place, at = at_one_place(lift(x), place, axis)
    values = lift(values)
    values = layout.moveaxis(layout.reshape(values, (1,) * (x.ndim - values.ndim) + values.shape), 0, at)
    values = broadcast_to(values, (*x.shape[:at], values.shape[at], *x.shape[at + 1 :]))
    return call("concatenate", ([x[along(at, None, place)], astype(values, x.dtype), x[along(at, place, None)]], at), {})
