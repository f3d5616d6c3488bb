"""Several index arrays at once, x[i, j], as one index into their axes flattened; and what is written through them.

What is written has the order of a loop, and the graph no node for that: a target takes the last of those that are meant
for it, whose place is a scatter's maximum. What is added, or combined otherwise, is a scatter.
"""

from __future__ import annotations

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import Traced, astype, broadcast_shapes, broadcast_to, full, lift, pointwise, product, transpose
from strop.trace_dims import Untraceable, same
from strop.trace_places import with_something

REFUSAL = "this form of indexed assignment has no graph operation"


def counted_from_front(index: Traced, extent) -> Traced:
    """Computed indices, of which negative ones count from the end."""
    index = astype(index, np.int64)
    if index.iota is not None:
        return index
    return pointwise("where", pointwise("less", index, 0), pointwise("add", index, extent), index)


def _flattened(indices: dict, shape) -> tuple[tuple, Traced]:
    """The shape of all indices together, and for each the place in the axes flattened."""
    common = broadcast_shapes(*(index.shape for index in indices.values()))
    first, *others = sorted(indices)
    flat = counted_from_front(indices[first], shape[first])
    for axis in others:
        flat = flat * shape[axis] + counted_from_front(indices[axis], shape[axis])
    return common, broadcast_to(flat, common)


def _order(indices: dict, rank: int) -> tuple[list[int], int]:
    """The axes as the result has them, and how many come before those with indices: NumPy puts these first where others
    stand between them."""
    axes = sorted(indices)
    if axes == list(range(axes[0], axes[-1] + 1)):
        return list(range(rank)), axes[0]
    return axes + [axis for axis in range(rank) if axis not in axes], 0


def gather_several(value: Traced, indices: dict) -> Traced:
    _, flat = _flattened(indices, value.shape)
    order, before = _order(indices, value.ndim)
    shape = [value.shape[axis] for axis in order]
    behind = before + len(indices)
    merged = [*shape[:before], product(shape[before:behind]), *shape[behind:]]
    return layout.take(layout.reshape(transpose(value, order), merged), flat, before)


def put(target: Traced, indices: dict, values, op: str = "") -> Traced:
    """`target` afterwards. `indices`: by axis. `op`: "sum", "max" or "min" of what meets in one place, with what was
    there; empty: the last one stays."""
    common, flat = _flattened(indices, target.shape)
    order, before = _order(indices, target.ndim)
    shape = [target.shape[axis] for axis in order]
    outer, inner = shape[:before], shape[before + len(indices) :]
    count, merged = product(common), product(shape[before : before + len(indices)])
    rest = tuple(1 for _ in (*outer, *inner))
    flat = layout.reshape(flat, (count,))
    values = broadcast_to(astype(lift(values), target.dtype), (*outer, *common, *inner))
    values = layout.moveaxis(layout.reshape(values, (*outer, count, *inner)), before, 0)
    old = layout.moveaxis(layout.reshape(transpose(target, order), (*outer, merged, *inner)), before, 0)
    if op:
        result = layout.scatter(op, old, layout.reshape(flat, (count, *rest)), values, 0)
    else:
        last = last_of((merged,), 0, flat)
        written = layout.take(values, pointwise("maximum", last, 0), 0)
        result = pointwise("where", layout.reshape(pointwise("less", last, 0), (merged, *rest)), old, written)
    result = layout.reshape(layout.moveaxis(result, 0, before), shape)
    return transpose(result, [order.index(axis) for axis in range(target.ndim)])


def last_of(shape, axis: int, index: Traced) -> Traced:
    """The last source of each target of this shape, -1 where there is none: what a loop over the sources leaves."""
    count = index.shape[axis]
    at = layout.reshape(layout.arange(count), (count, *(1 for _ in index.shape[axis + 1 :])))
    return layout.scatter("max", full(shape, -1, np.int64), index, broadcast_to(at, index.shape), axis)


def put_in_rows(target: Traced, index: Traced, values) -> Traced:
    """target[np.arange(M), index] = values: at most one of each row."""
    rest = target.ndim - 2
    columns = layout.arange(target.shape[1])
    here = pointwise("equal", columns, layout.expand_dims(counted_from_front(index, target.shape[1]), 1))
    values = layout.expand_dims(broadcast_to(astype(lift(values), target.dtype), (target.shape[0], *target.shape[2:])), 1)
    return pointwise("where", layout.reshape(here, (*here.shape, *(1 for _ in range(rest)))), values, target)


def are_rows(target: Traced, indices: dict) -> bool:
    """np.arange(M) of the first axis, and one index for each."""
    if sorted(indices) != [0, 1]:
        return False
    row, index = indices[0], indices[1]
    known = row.iota is not None and row.ndim == index.ndim == 1 and same(row.iota, target.shape[0])
    return known and same(index.shape[0], target.shape[0])


def indices_of(key: list) -> dict:
    """Of the axes with index arrays, where all others are taken whole."""
    found = {}
    for axis, entry in enumerate(key):
        if isinstance(entry, (Traced, np.ndarray, list)):
            found[axis] = lift(entry)
            if found[axis].dtype.kind not in "iu":
                raise Untraceable("an index array is not of integers")
    return found


def set_by_indices(target: Traced, key: list, value, op: str = ""):
    """target[key] = value, or what `op` makes of both. One entry an axis."""
    indices = indices_of(key)
    wide = tuple(slice(None) if axis in indices else entry for axis, entry in enumerate(key))
    if any(not isinstance(entry, slice) for entry in wide):
        raise Untraceable(REFUSAL)
    with_something(target)
    part = target if all(entry == slice(None) for entry in wide) else target[wide]
    changed = put_in_rows(part, indices[1], value) if not op and are_rows(part, indices) else put(part, indices, value, op)
    if part is target:
        target.assign(changed)
    else:
        target[wide] = changed
