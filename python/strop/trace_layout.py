"""Shapes and indices of traced arrays: reshape, slices, padding, windows, gather, assignment."""

from __future__ import annotations

import functools

import numpy as np

from strop.trace_array import (
    GRAPH,
    Traced,
    astype,
    axes_of,
    axis_of,
    broadcast_shapes,
    broadcast_to,
    cast,
    full,
    is_number,
    is_one,
    lift,
    pointwise,
    product,
    result_type,
    transpose,
)
from strop.trace_dims import SymInt, Untraceable, exact_divide, extremum, is_int, looks_negative, same, show, text


def is_extent(value) -> bool:
    return isinstance(value, SymInt) or is_int(value)


def shape_of(shape) -> tuple:
    """A shape argument: a number or a sequence of numbers."""
    if is_extent(shape):
        return (shape,)
    if isinstance(shape, (tuple, list, np.ndarray)) and all(is_extent(extent) for extent in shape):
        return tuple(extent if isinstance(extent, SymInt) else int(extent) for extent in shape)
    raise Untraceable("a shape depends on the values of an array")


def _cancel(left: list, right: list) -> tuple[list, list]:
    """Both lists without the extents that they share."""
    rest = list(right)
    kept = []
    for extent in left:
        at = next((i for i, other in enumerate(rest) if same(extent, other)), None)
        if at is None:
            kept.append(extent)
        else:
            del rest[at]
    return kept, rest


def reshape(value: Traced, shape) -> Traced:
    value = lift(value)
    shape = list(shape_of(shape))
    unknown = [i for i, extent in enumerate(shape) if not isinstance(extent, SymInt) and extent == -1]
    if len(unknown) > 1:
        raise Untraceable("reshape with more than one -1")
    if unknown:
        value = _fitting(value, shape)
    have, want = _cancel(value.shape, [extent for i, extent in enumerate(shape) if i not in unknown])
    if unknown:
        shape[unknown[0]] = exact_divide(product(have), product(want))
    elif all(is_int(extent) for extent in have + want) and product(have) != product(want):
        raise Untraceable(f"cannot reshape {show(value.shape)} into {show(shape)}")
    value = _fitting(value, shape)
    if len(shape) == value.ndim and all(same(a, b) for a, b in zip(shape, value.shape)):
        return value
    before = GRAPH.nodes[value.node]
    if GRAPH.passes and before["op"] == "reshape" and before["family"] == "layout":  # back to what it was
        if GRAPH.nodes[before["operands"][0]]["shape"] == [text(extent) for extent in shape]:
            return Traced(before["operands"][0], shape, value.dtype, view_of=value, fill=value.filled)
    node = GRAPH.add("layout", "reshape", [value.node], shape, GRAPH.dtype(value.node))
    return Traced(node, shape, value.dtype, view_of=value, fill=value.filled)


def _fitting(value: Traced, shape) -> Traced:
    from strop.trace_sizes import fit_before_reshape

    return fit_before_reshape(value, shape) if GRAPH.forks else value


def expand_dims(value, axis) -> Traced:
    value = lift(value)
    return reshape(value, expanded(value.shape, axis))


def expanded(shape, axis) -> list:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(shape) + len(axes)
    places = {axis_of(one, rank) for one in axes}
    extents = iter(shape)
    return [1 if i in places else next(extents) for i in range(rank)]


def squeeze(value, axis=None) -> Traced:
    value = lift(value)
    return reshape(value, squeezed(value.shape, axis))


def squeezed(shape, axis=None) -> list:
    axes = [i for i, extent in enumerate(shape) if is_one(extent)] if axis is None else axes_of(axis, len(shape))
    if any(is_int(shape[i]) and shape[i] != 1 for i in axes):
        raise Untraceable("squeeze of an axis that is not 1")
    return [extent for i, extent in enumerate(shape) if i not in axes]


def moveaxis(value: Traced, source, destination) -> Traced:
    value = lift(value)
    sources = [axis_of(a, value.ndim) for a in (source if isinstance(source, (tuple, list)) else [source])]
    places = [
        axis_of(a, value.ndim)
        for a in (destination if isinstance(destination, (tuple, list)) else [destination])
    ]
    rest = [axis for axis in range(value.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources)):
        rest.insert(place, axis)
    return transpose(value, rest)


def concatenate(arrays, axis=0) -> Traced:
    arrays = [lift(array) for array in arrays]
    if axis is None:
        arrays, axis = [reshape(array, (array.size,)) for array in arrays], 0
    axis = axis_of(axis, arrays[0].ndim)
    if len(arrays) == 1:
        return arrays[0]
    dtype, _ = result_type(arrays)
    if any(array.ndim != arrays[0].ndim for array in arrays):
        raise Untraceable("concatenation of arrays of different rank")
    shape = list(broadcast_shapes(*(array.shape[:axis] + (1,) + array.shape[axis + 1 :] for array in arrays)))
    shape[axis] = sum((array.shape[axis] for array in arrays), 0)
    node = GRAPH.add(
        "layout", "concatenate", [cast(array, dtype) for array in arrays], shape, dtype, axes=[axis]
    )
    return Traced(node, shape, dtype)


def stack(arrays, axis=0) -> Traced:
    arrays = [lift(array) for array in arrays]
    if all(array.weak for array in arrays):
        dtype, _ = result_type(arrays)
        arrays = [astype(array, dtype) for array in arrays]
    shape = broadcast_shapes(*(array.shape for array in arrays))
    axis = axis_of(axis, len(shape) + 1)
    return concatenate([expand_dims(array, axis) for array in arrays], axis)


def pad(value, widths, fill=0) -> Traced:
    """`widths`: (before, after) for each axis."""
    value = lift(value)
    if all(is_int(width) and width == 0 for pair in widths for width in pair):
        return value
    shape = [before + extent + after for (before, after), extent in zip(widths, value.shape)]
    if not is_number(fill) or isinstance(fill, SymInt):
        raise Untraceable("np.pad with a computed value")
    fill = float(fill)
    node = GRAPH.add(
        "layout",
        "pad",
        [value.node],
        shape,
        value.dtype,
        begin=[text(pair[0]) for pair in widths],
        end=[text(pair[1]) for pair in widths],
        pad_value=fill if np.isfinite(fill) else str(fill),
    )
    return Traced(node, shape, value.dtype)


def pad_widths(widths, rank: int):
    if is_extent(widths):
        return [(widths, widths)] * rank
    widths = [tuple(pair) if isinstance(pair, (tuple, list, np.ndarray)) else pair for pair in widths]
    if len(widths) == 2 and all(is_extent(width) for width in widths):
        return [tuple(widths)] * rank
    pairs = [(pair[0], pair[-1]) for pair in widths]
    pairs = pairs * rank if len(pairs) == 1 else pairs
    if len(pairs) != rank:
        raise Untraceable(f"np.pad with {len(pairs)} widths for rank {rank}")
    return pairs


def sliding_window_view(value, window, axis=None) -> Traced:
    value = lift(value)
    window = shape_of(window)
    if axis is None:
        if len(window) != value.ndim:
            raise Untraceable("sliding_window_view needs one window extent for each axis")
        axes = list(range(value.ndim))
    else:
        axes = [axis_of(a, value.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(set(axes)) != len(axes) or len(axes) != len(window):
        raise Untraceable("sliding_window_view over a repeated axis")
    shape = list(value.shape)
    for a, extent in zip(axes, window):
        shape[a] = shape[a] - extent + 1
    shape += window
    node = GRAPH.add(
        "layout",
        "window",
        [value.node],
        shape,
        GRAPH.dtype(value.node),
        axes=axes,
        window=[text(extent) for extent in window],
    )
    return Traced(node, shape, value.dtype, view_of=value)


def reverse(value, axis=None) -> Traced:
    value = lift(value)
    axes = [a for a in axes_of(axis, value.ndim) if not is_one(value.shape[a])]
    if not axes:
        return value
    node = GRAPH.add("layout", "reverse", [value.node], value.shape, GRAPH.dtype(value.node), axes=axes)
    return Traced(node, value.shape, value.dtype, view_of=value)


def slice_axes(value: Traced, begins, ends, steps) -> Traced:
    """Normalised bounds, steps > 0."""
    shape = []
    for begin, end, step in zip(begins, ends, steps):
        length = end - begin
        shape.append(length if is_one(step) else (length - 1) // step + 1)
    if all(same(a, b) for a, b in zip(shape, value.shape)) and all(is_one(step) for step in steps):
        return value
    if value.pieces is not None:
        if value._version != value._storage.version:
            raise Untraceable("an array is changed through another view of it")
        written = value.pieces.read(begins, ends, steps)
        if written is not None and written._storage.frozen:
            return Traced(written.node, shape, value.dtype, view_of=written)
        if written is not None:
            return Traced(written.node, shape, value.dtype, view_of=value)
    node = GRAPH.add(
        "layout",
        "slice",
        [value.node],
        shape,
        GRAPH.dtype(value.node),
        begin=[text(b) for b in begins],
        end=[text(e) for e in ends],
        step=[text(s) for s in steps],
    )
    return Traced(node, shape, value.dtype, view_of=value)


def from_front(entry, extent):
    """An index or a bound that may count from the end."""
    from strop.trace_sizes import counts_from_end

    return extent + entry if counts_from_end(entry) else entry


def bound_of(value, extent, default):
    """A slice's bound counted from the front; literals are clamped as in NumPy."""
    if value is None:
        return default
    if isinstance(value, Traced):
        raise Untraceable("a slice depends on the values of an array")
    value = from_front(value, extent)
    if is_int(value) and is_int(extent):
        return max(0, min(value, extent))
    return value


def part(value: Traced, axis: int, begin, end, step=1) -> Traced:
    """Of one axis, by bounds that count from the front."""
    begins = [begin if i == axis else 0 for i in range(value.ndim)]
    ends = [end if i == axis else extent for i, extent in enumerate(value.shape)]
    return slice_axes(value, begins, ends, [step if i == axis else 1 for i in range(value.ndim)])


def diagonal(value, offset=0, axis1=0, axis2=1) -> Traced:
    """The diagonal of two axes, as the last axis: every (columns + 1)-th element of both, flattened."""
    value = lift(value)
    if not is_int(offset):
        raise Untraceable("a diagonal whose offset is not a literal")
    first, second = axis_of(axis1, value.ndim), axis_of(axis2, value.ndim)
    rest = [axis for axis in range(value.ndim) if axis not in (first, second)]
    value = transpose(value, [*rest, first, second])
    rows, columns = value.shape[-2:]
    lead = value.shape[:-2]
    if same(rows, columns):
        length = rows - abs(offset)
    else:
        length = extremum("min", [rows + min(offset, 0), columns - max(offset, 0)])
    flat = reshape(value, (*lead, rows * columns))
    begin = offset if offset >= 0 else -offset * columns
    shape = (*lead, length)
    node = GRAPH.add(
        "layout",
        "slice",
        [flat.node],
        shape,
        GRAPH.dtype(flat.node),
        begin=[text(b) for b in [0] * len(lead) + [begin]],
        end=[text(e) for e in [*lead, begin + (length - 1) * (columns + 1) + 1]],
        step=[text(s) for s in [1] * len(lead) + [columns + 1]],
    )
    return Traced(node, shape, value.dtype, view_of=value)


def diagonal_matrix(value) -> Traced:
    """Zeros around `value`, a vector."""
    value = lift(value)
    i, j = index_grid(value.shape[0], value.shape[0])
    zero = False if value.dtype.kind == "b" else 0
    return pointwise("where", pointwise("equal", i, j), reshape(value, (value.shape[0], 1)), zero)


# ---- places that are computed --------------------------------------------------------------------------


def take(value, index, axis=None) -> Traced:
    value, index = lift(value), lift(index)
    if axis is None:
        value, axis = reshape(value, (value.size,)), 0
    axis = axis_of(axis, value.ndim)
    if GRAPH.forks or any(one.guard for one in GRAPH.passes):  # where NumPy does not read, any element will do
        last = value.shape[axis] - 1
        index = pointwise("maximum", pointwise("minimum", index, last), -1 - last)
    shape = value.shape[:axis] + index.shape + value.shape[axis + 1 :]
    node = GRAPH.add("gather", "take", [value.node, index.node], shape, value.dtype, axes=[axis])
    return Traced(node, shape, value.dtype)


def scatter(op: str, target, index, source, axis: int) -> Traced:
    """Combines each element of `source` with that of `target` where `index` says along the axis. Indices have the
    source's rank, an extent of 1 where they are the same for all."""
    node = GRAPH.add("scatter", op, [target.node, index.node, source.node], target.shape, target.dtype, axes=[axis])
    return Traced(node, target.shape, target.dtype)


def take_along_axis(value, index, axis) -> Traced:
    value, index = lift(value), lift(index)
    if axis is None:
        value, axis = reshape(value, (value.size,)), 0
    axis = axis_of(axis, value.ndim)
    if index.ndim != value.ndim:
        raise Untraceable("take_along_axis with indices of another rank")
    shape = list(
        broadcast_shapes(
            value.shape[:axis] + (1,) + value.shape[axis + 1 :],
            index.shape[:axis] + (1,) + index.shape[axis + 1 :],
        )
    )
    shape[axis] = index.shape[axis]
    index = broadcast_to(index, shape)
    value = broadcast_to(value, shape[:axis] + [value.shape[axis]] + shape[axis + 1 :])
    node = GRAPH.add("gather", "take_along", [value.node, index.node], shape, value.dtype, axes=[axis])
    return Traced(node, shape, value.dtype)


# ---- assignment --------------------------------------------------------------------------------------


def assign_region(target: Traced, value: Traced, begins, ends):
    """A block in an array: remembered where its bounds are literals (trace_pieces), else put in at once."""
    from strop.trace_pieces import begun
    from strop.trace_places import write_at_step

    if GRAPH.passes and write_at_step(target, value, begins, ends):
        return
    partial = [axis for axis, extent in enumerate(target.shape) if not same(value.shape[axis], extent)]
    if not partial:
        target.assign(value)
        return
    if target.pieces is None or not target.pieces.takes(begins, ends, partial):
        pieces = begun(target, begins, ends, partial)
        if pieces is None:
            target.assign(with_region(target, value, begins, ends, partial))
            return
        GRAPH.touch(target)
        target.pieces = pieces
    GRAPH.touch(target)
    target.pieces.write(value, begins, ends, partial)
    target.changed()


def with_region(old: Traced, value: Traced, begins, ends, axes) -> Traced:
    """A block in zeros is padding; in anything else it takes the place of what it covers, one axis inside the other."""
    if is_number(old.filled) and not isinstance(old.filled, SymInt):
        return pad(value, [(begin, extent - end) for begin, end, extent in zip(begins, ends, old.shape)], old.filled)
    return _replaced(full(old.shape, 0, old.dtype) if old.filled == "empty" else old, value, begins, ends, axes)


def _replaced(old: Traced, value: Traced, begins, ends, axes) -> Traced:
    if not axes:
        return value
    axis, inner = axes[0], axes[1:]
    middle = _replaced(part(old, axis, begins[axis], ends[axis]), value, begins, ends, inner)
    pieces = [part(old, axis, 0, begins[axis]), middle, part(old, axis, ends[axis], old.shape[axis])]
    return concatenate([piece for piece in pieces if not same(piece.shape[axis], 0)], axis)


def split(value, sections, axis=0) -> list:
    value = lift(value)
    axis = axis_of(axis, value.ndim)
    extent = value.shape[axis]
    if is_int(sections):
        step = exact_divide(extent, sections) if is_int(extent) else extent // sections
        bounds = [i * step for i in range(sections)] + [extent]
    elif isinstance(sections, SymInt):
        raise Untraceable(f"the number of arrays depends on '{sections}'")
    else:
        bounds = [0, *(bound_of(at, extent, 0) for at in sections), extent]
    return [_piece(value, axis, begin, end) for begin, end in zip(bounds, bounds[1:])]


def _piece(value: Traced, axis: int, begin, end) -> Traced:
    piece = part(value, axis, begin, end)
    if piece is not value:
        piece.parent, piece.key = value, (slice(None),) * axis + (slice(begin, end),)
    return piece


def array_split(value, sections, axis=0) -> list:
    """Into parts of which the first ones have an element more."""
    if not is_int(sections):
        return split(value, sections, axis)
    extent = lift(value).shape[axis_of(axis, lift(value).ndim)]
    step, more = extent // sections, extent % sections
    return split(value, [i * step + extremum("min", [i, more]) for i in range(1, sections)], axis)


def arange(begin, end=None, step=1, dtype=None) -> Traced:
    """A running sum over ones: there is no operation of its own."""
    if end is None:
        begin, end = 0, begin
    if not all(is_extent(value) for value in (begin, end, step)):
        raise Untraceable("'np.arange' over numbers that are not whole has no graph operation")
    count = end - begin if is_one(step) else (end - begin - 1) // step + 1
    ones = full((count,), 1, np.int64)
    node = GRAPH.add("scan", "sum", [ones.node], (count,), np.int64, axes=[0])
    result = pointwise("subtract", Traced(node, (count,), np.int64), 1)
    if not is_one(step):
        result = pointwise("multiply", result, step)
    if not same(begin, 0):
        result = pointwise("add", result, begin)
    if dtype is not None:
        result = astype(result, dtype)
    if same(begin, 0) and is_one(step):
        result.iota = count
    result.step = step if same(begin, 0) else None
    return result


def all_of(conditions: list) -> Traced:
    """Where they all hold; one at least."""
    return functools.reduce(lambda a, b: pointwise("logical_and", a, b), conditions)


def places_along(extent, behind: int) -> Traced:
    """0, 1, ... along an axis that has so many axes behind it."""
    return reshape(arange(extent), (extent,) + (1,) * behind)


def index_grid(rows, columns):
    return (places_along(rows, 1), reshape(arange(columns), (1, columns)))


def triangle(rows, columns, offset, lower: bool) -> Traced:
    """True on and below (or above) the diagonal."""
    i, j = index_grid(rows, columns)
    shifted = pointwise("subtract", j, offset) if not same(offset, 0) else j
    return pointwise("greater_equal" if lower else "less_equal", i, shifted)
