"""What x[key] and x[key] = y are on traced arrays."""

from __future__ import annotations

import numpy as np

from strop.trace_array import GRAPH, Traced, astype, broadcast_to, cast, full, is_one, lift, pointwise, result_type
from strop.trace_dims import SymInt, Untraceable, extremum, is_int, looks_negative, same
from strop.trace_lists import as_list
from strop.trace_layout import (
    all_of,
    arange,
    assign_region,
    bound_of,
    from_front,
    is_extent,
    moveaxis,
    pad,
    places_along,
    reshape,
    reverse,
    slice_axes,
    take,
    take_along_axis,
)


def _cut_of(entry: slice, extent, windows=True):
    """Where the extent of a slice changes with the step of a loop."""
    if not GRAPH.passes or not is_one(1 if entry.step is None else entry.step):
        return None
    from strop.trace_ragged import cut_of

    return cut_of(entry, extent, windows)


def _cut_out(value: Traced, whole: Traced, cuts: dict, places: dict, gathers: dict):
    from strop.trace_ragged import cut_out

    if gathers:
        raise Untraceable("an extent that changes with each step")
    return cut_out(value, whole, cuts, places)


def _span(entry: slice, extent):
    """Where it begins and ends."""
    from strop.trace_sizes import check_place, cut_off

    if GRAPH.passes:
        for bound in (entry.start, entry.stop):
            check_place(bound, extent, bound=True)
    literal = is_int(entry.start) and is_int(entry.stop) and isinstance(extent, SymInt)
    if literal and entry.start < 0 <= entry.stop:
        raise Untraceable("a slice that begins at the end and ends at the front")  # no polynomial says its length
    begin, end = bound_of(entry.start, extent, 0), bound_of(entry.stop, extent, extent)
    if is_int(begin) and is_int(end):
        end = max(begin, end)
    return cut_off(begin, end, extent)


def _place(entry, extent):
    if GRAPH.forks and is_int(entry) and isinstance(extent, SymInt):  # perhaps there is none, and then nobody asks
        if GRAPH.tries:
            raise Untraceable("'try' around an index that depends on a branch")
        return extremum("min", [entry, extent - 1]) if entry >= 0 else extremum("max", [0, extent + entry])
    if not GRAPH.passes and not GRAPH.forks:
        return entry
    from strop.trace_sizes import check_place

    return check_place(entry, extent, bound=False)


def expand_key(key, rank: int) -> list:
    """One entry an axis, and None for new axes."""
    key = list(key) if isinstance(key, tuple) else [key]
    key = [
        np.asarray(entry) if isinstance(entry, list) and all(is_int(i) for i in entry) else entry
        for entry in key
    ]
    key = [numbers_of(entry) if getattr(entry, "range", None) else entry for entry in key]
    used = sum(entry is not None and entry is not Ellipsis for entry in key)
    ellipses = sum(entry is Ellipsis for entry in key)
    if used > rank or ellipses > 1:
        raise Untraceable(f"{used} indices for an array of rank {rank}")
    if not ellipses:
        key.append(Ellipsis)
    at = next(i for i, entry in enumerate(key) if entry is Ellipsis)
    return key[:at] + [slice(None)] * (rank - used) + key[at + 1 :]


def numbers_of(walk) -> Traced:
    """Of range(n)."""
    from strop.trace_layout import arange

    first, step = walk.range
    return arange(walk.count) * step + first


def is_mask(entry) -> bool:
    return isinstance(entry, (Traced, np.ndarray)) and entry.dtype == np.bool_ and entry.ndim > 0


def has_mask(key) -> bool:
    return any(map(is_mask, key)) if isinstance(key, tuple) else is_mask(key)


def with_masks(key):
    """np.nonzero(m) as an index is m itself."""
    if not any(hasattr(entry, "is_masked") for entry in (key if isinstance(key, tuple) else (key,))):
        return key
    from strop import trace_found

    return trace_found.with_masks(key)


def _at_computed_places(value: Traced, key: list) -> tuple[Traced, list]:
    """x[k, 0] for a k that is computed: of that axis the one element is left."""
    key, axis = list(key), 0
    for place, entry in enumerate(key):
        if isinstance(entry, Traced) and entry.ndim == 0 and entry.dtype.kind in "iu":
            taken = take(value, reshape(astype(entry, np.int64), (1,)), axis)
            value = Traced(taken.node, taken.shape, taken.dtype, view_of=value)
            key[place] = 0
        axis += entry is not None
    return value, key


def getitem(value: Traced, key):
    if value.is_list and isinstance(key, slice):
        value = as_list(Traced(value.node, value.shape, value.dtype, fill=value.filled))  # a list's parts are copies
    key = with_masks(key)
    if has_mask(key):
        from strop.trace_masks import get_masked

        return get_masked(value, key)
    value, key = _at_computed_places(value, expand_key(key, value.ndim))
    if any(_runs_backwards(entry) for entry in key):
        return _backwards(value, key)
    begins: list = []
    ends: list = []
    steps: list = []
    reversed_axes: list[int] = []
    gathers: dict = {}
    cuts: dict = {}  # by axis: slices whose extent changes with the step of a loop
    shape_key = []  # what becomes of each axis: "keep", "drop", "new"
    for entry in key:
        if entry is None:
            shape_key.append("new")
            continue
        axis = len(begins)
        extent = value.shape[axis]
        begin, end, step = 0, extent, 1
        if isinstance(entry, slice):
            step = 1 if entry.step is None else entry.step
            if looks_negative(step):
                if entry.start is not None or entry.stop is not None:
                    raise Untraceable("a slice with a negative step and bounds")
                reversed_axes.append(axis)
                step = -step
            elif (cut := _cut_of(entry, extent)) is not None:
                cuts[axis] = cut
                begin, end = cut.begin, cut.end
            else:
                begin, end = _span(entry, extent)
            shape_key.append("keep")
        elif is_extent(entry):
            if is_int(entry) and is_int(extent) and not -extent <= entry < extent:
                raise IndexError(f"index {entry} is out of bounds for extent {extent}")
            entry = _place(entry, extent)
            begin = from_front(entry, extent)
            end = begin + 1
            shape_key.append("drop")
        else:
            gathers[axis] = lift(entry)
            shape_key.append("keep")
        begins.append(begin)
        ends.append(end)
        steps.append(step)
    result = reverse(value, tuple(reversed_axes)) if reversed_axes else value
    if any(any(cut.padding) for cut in cuts.values()):
        result = pad(result, [cuts[i].padding if i in cuts else (0, 0) for i in range(value.ndim)])
    result = slice_axes(result, begins, ends, steps)
    extents = iter(result.shape)
    kept = []
    places = {}  # axis of `value` -> axis of the result
    axis = -1
    for word in shape_key:
        if word == "new":
            kept.append(1)
            continue
        axis += 1
        extent = next(extents)
        if word == "keep":
            places[axis] = len(kept)
            kept.append(extent)
    result = reshape(result, kept)
    if cuts:
        return _cut_out(value, result, cuts, places, gathers)
    if not gathers:
        return result
    gathered = gather(result, {places[a]: index for a, index in gathers.items()})
    if len(gathers) == 1 and _has_a_number_apart(key):
        ((axis, index),) = gathers.items()
        for i in range(index.ndim):
            gathered = moveaxis(gathered, places[axis] + i, i)
    return gathered


def _has_a_number_apart(key: list) -> bool:
    """x[0, :, i]: NumPy puts the axes of i first."""
    chosen = [place for place, entry in enumerate(key) if entry is not None and not isinstance(entry, slice)]
    return len(chosen) > 1 and chosen[-1] - chosen[0] >= len(chosen)


def _runs_backwards(entry) -> bool:
    """x[t::-1], x[b:a:-2]"""
    return _counts_down(entry) and (entry.start is not None or entry.stop is not None)


def _counts_down(entry) -> bool:
    return isinstance(entry, slice) and is_int(entry.step) and entry.step < 0


def _backwards(value: Traced, key: list):
    """The same elements forwards, and then reversed."""

    def following(bound):
        if bound is None:
            return None
        if isinstance(bound, Traced) or looks_negative(bound + 1) != looks_negative(bound):
            raise Untraceable("a slice with a negative step and bounds")
        return bound + 1

    def end_behind(bound):
        return None if is_int(bound) and bound == -1 else following(bound)

    forwards = [
        slice(following(entry.stop), end_behind(entry.start)) if _runs_backwards(entry) else entry for entry in key
    ]
    back = [
        None if entry is None else slice(None, None, entry.step) if _runs_backwards(entry) else slice(None)
        for entry in key
        if entry is None or isinstance(entry, slice)
    ]
    if not all(entry is None or isinstance(entry, slice) or is_extent(entry) for entry in key):
        raise Untraceable("a slice with a negative step and bounds")
    part_ = getitem(value, tuple(forwards))
    return part_[tuple(slice(None) if entry is None else entry for entry in back)]


def gather(value: Traced, indices: dict) -> Traced:
    for index in indices.values():
        if index.dtype.kind not in "iu":
            raise Untraceable("an index array is not of integers")
    if len(indices) == 1:
        ((axis, index),) = indices.items()
        return take(value, index, axis)
    return _gather_rows(value, indices)


def _gather_rows(value: Traced, indices: dict) -> Traced:
    """x[np.arange(M), labels]: one element of each row."""
    (first, row), (second, index) = sorted(indices.items())[:2]
    simple = len(indices) == 2 and (first, second) == (0, 1) and row.iota is not None and index.ndim == 1
    if not simple or row.ndim != 1 or not same(row.iota, value.shape[0]):
        from strop.trace_index_arrays import gather_several

        return gather_several(value, indices)
    rest = value.ndim - 2
    column = reshape(index, (index.shape[0], 1) + (1,) * rest)
    if rest:
        column = broadcast_to(column, (index.shape[0], 1) + value.shape[2:])
    picked = take_along_axis(value, column, 1)
    return reshape(picked, (value.shape[0],) + value.shape[2:])


# ---- assignment --------------------------------------------------------------------------------------


def setitem(target: Traced, key, value):
    if target.is_list and (isinstance(key, slice) or result_type([lift(value), target])[0] != target.dtype):
        raise Untraceable("a list of varying length is not of one type: make an array of it")
    key = with_masks(key)
    if has_mask(key):
        from strop.trace_masks import set_masked

        set_masked(target, key, value)
        return
    key = expand_key(key, target.ndim)
    if any(entry is None for entry in key):
        _assign_to_new_axes(target, key, value)
        return
    if any(isinstance(entry, (Traced, np.ndarray, list)) and lift(entry).ndim for entry in key):
        from strop.trace_index_arrays import set_by_indices

        set_by_indices(target, key, value)
        return
    if any(isinstance(entry, Traced) and not entry.ndim and entry.dtype.kind in "iu" for entry in key):
        _assign_computed(target, key, value)
        return
    cuts = {
        axis: cut.span
        for axis, (entry, extent) in enumerate(zip(key, target.shape))
        if isinstance(entry, slice) and (cut := _cut_of(entry, extent, windows=False)) is not None
    }
    if cuts:
        from strop.trace_ragged_calls import assign

        assign(target, key, cuts, value)
        return
    if any(_counts_down(entry) for entry in key):
        _assign_backwards(target, key, value)
        return
    strided = [axis for axis, entry in enumerate(key) if isinstance(entry, slice) and entry.step not in (None, 1)]
    if strided:
        _assign_strided(target, key, strided, value)
        return
    begins, ends, dropped = [], [], []
    for axis, (entry, extent) in enumerate(zip(key, target.shape)):
        if isinstance(entry, slice):
            begin, end = _span(entry, extent)
            begins.append(begin)
            ends.append(end)
        elif is_extent(entry):
            entry = _place(entry, extent)
            begins.append(from_front(entry, extent))
            ends.append(begins[-1] + 1)
            dropped.append(axis)
        else:
            raise Untraceable("assignment through an index array")
    whole = all(
        same(begin, 0) and same(end, extent) for begin, end, extent in zip(begins, ends, target.shape)
    )
    if whole and not dropped:
        target.assign(value)
    else:
        _assign_region(target, value, begins, ends, dropped)


def _assign_to_new_axes(target: Traced, key: list, value):
    """x[:, None] = y: without these axes."""
    if not all(entry is None or isinstance(entry, slice) or is_extent(entry) for entry in key):
        raise Untraceable("assignment to a new axis, and through an index array")
    rest = [entry for entry in key if entry is not None]
    shown = [entry for entry in key if entry is None or isinstance(entry, slice)]
    inner = iter(full(target.shape, 0, target.dtype)[tuple(rest)].shape)
    wide = broadcast_to(lift(value), [1 if entry is None else next(inner) for entry in shown])
    narrow = [extent for entry, extent in zip(shown, wide.shape) if entry is not None]
    setitem(target, tuple(rest), reshape(wide, narrow))


def _assign_backwards(target: Traced, key: list, value):
    """x[b:a:-2] = y: the same elements forwards, and y reversed."""
    block = broadcast_to(lift(value), getitem(target, tuple(key)).shape)
    kept = [axis for axis, entry in enumerate(key) if isinstance(entry, slice)]
    forwards, turned = list(key), []
    for place, axis in enumerate(kept):
        entry, extent = key[axis], target.shape[axis]
        if not _counts_down(entry):
            continue
        first = extent - 1 if entry.start is None else from_front(entry.start, extent)
        if is_int(first) and is_int(extent):
            first = min(first, extent - 1)
        last = first + entry.step * (block.shape[place] - 1)
        forwards[axis] = slice(last, first + 1, -entry.step)
        turned.append(place)
    setitem(target, tuple(forwards), reverse(block, tuple(turned)))


def _assign_strided(target: Traced, key: list, axes: list, value):
    """x[:, 1::2] = y: y is chosen where the index is one of these."""
    from strop.trace_places import with_something

    if any(not is_int(key[axis].step) or key[axis].step < 1 for axis in axes):
        raise Untraceable("assignment to a strided part of an array")
    with_something(target)
    wide = tuple(slice(None) if axis in axes else entry for axis, entry in enumerate(key))
    old = getitem(target, wide)
    kept = [axis for axis, entry in enumerate(key) if isinstance(entry, slice)]
    shape, ranges = list(old.shape), {}
    for axis in axes:
        extent, entry = target.shape[axis], key[axis]
        begin, end = bound_of(entry.start, extent, 0), bound_of(entry.stop, extent, extent)
        shape[kept.index(axis)] = (end - begin - 1) // entry.step + 1
        ranges[kept.index(axis)] = (begin, end, entry.step)
    block = astype(broadcast_to(lift(value), shape), target.dtype)
    inside = []
    for axis, (begin, end, step) in ranges.items():
        extent = old.shape[axis]
        from_begin = pointwise("subtract", arange(extent), begin)
        place = pointwise("floor_divide", from_begin, step)
        block = take(block, pointwise("maximum", pointwise("minimum", place, shape[axis] - 1), 0), axis)
        here = [pointwise("equal", pointwise("remainder", from_begin, step), 0)]
        if not same(begin, 0):
            here.append(pointwise("greater_equal", from_begin, 0))
        if not same(end, extent):
            here.append(pointwise("less", from_begin, end - begin))
        inside.append(reshape(all_of(here), (extent,) + (1,) * (old.ndim - 1 - axis)))
    setitem(target, wide, pointwise("where", all_of(inside), block, old))


def _assign_computed(target: Traced, key: list, value):
    """x[k] = y for a k that is computed: y is chosen where the index is k."""
    axes = [axis for axis, entry in enumerate(key) if isinstance(entry, Traced)]
    others = [entry for axis, entry in enumerate(key) if axis not in axes]
    if any(key[axis].ndim or key[axis].dtype.kind not in "iu" for axis in axes) or not all(
        is_extent(entry) or isinstance(entry, slice) for entry in others
    ):
        raise Untraceable("assignment through an index array")
    from strop.trace_index_arrays import counted_from_front
    from strop.trace_places import with_something

    with_something(target)
    wide = tuple(slice(None) if axis in axes else entry for axis, entry in enumerate(key))
    old = getitem(target, wide)
    kept = [axis for axis, entry in enumerate(key) if axis in axes or isinstance(entry, slice)]
    inside = []
    for axis in axes:
        extent = target.shape[axis]
        place = counted_from_front(key[axis], extent)
        inside.append(pointwise("equal", places_along(extent, len(kept) - 1 - kept.index(axis)), place))
    value = lift(value)
    lost_axes = [kept.index(axis) for axis in axes]
    given = [1 if axis in lost_axes else extent for axis, extent in enumerate(old.shape)]
    inner = [extent for axis, extent in enumerate(old.shape) if axis not in lost_axes]
    block = reshape(broadcast_to(value, inner), given)
    setitem(target, wide, pointwise("where", all_of(inside), astype(block, target.dtype), old))


def _assign_region(target: Traced, value, begins, ends, dropped):
    block = [end - begin for begin, end in zip(begins, ends)]
    inner = [extent for axis, extent in enumerate(block) if axis not in dropped]
    value = reshape(broadcast_to(lift(value), inner), block)
    assign_region(target, Traced(cast(value, target.dtype), block, target.dtype), begins, ends)
