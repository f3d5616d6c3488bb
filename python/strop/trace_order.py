"""Orders as nodes of the graph, which has none for them: an element's place is how many come before it, and what is at a
place is a sum in which all others are zero. So n elements cost n² comparisons. NaN is not ordered.
"""

from __future__ import annotations

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import Traced, astype, axis_of, full, lift, pointwise, reduce
from strop.trace_calls import handles
from strop.trace_dims import Untraceable


def zero(dtype) -> Traced:
    return full((), 0, dtype)


def places_of(x: Traced, descending: bool) -> Traced:
    """Along the last axis: how many elements come before each; of equal ones the first."""
    one, other = layout.expand_dims(x, -1), layout.expand_dims(x, -2)
    i, j = layout.index_grid(x.shape[-1], x.shape[-1])
    before = pointwise("greater" if descending else "less", other, one)
    earlier = pointwise("logical_and", pointwise("equal", other, one), pointwise("less", j, i))
    return reduce("sum", astype(pointwise("logical_or", before, earlier), np.int64), x.ndim)


def _at_places(places: Traced, wanted, values: Traced) -> Traced:
    """The value whose place is wanted: [..., n] and [k] give [..., k], a number gives [...]."""
    if isinstance(wanted, Traced) and wanted.ndim:
        places, values = layout.expand_dims(places, -2), layout.expand_dims(values, -2)
        wanted = layout.expand_dims(wanted, -1)
    chosen = pointwise("where", pointwise("equal", places, wanted), values, zero(values.dtype))
    return reduce("sum", chosen, chosen.ndim - 1, False, values.dtype)


def ordered(x: Traced, axis, wanted, descending=False, keepdim=True):
    """What is at these places of the order along the axis, and where it was."""
    if not x.ndim:
        return x, zero(np.int64)
    axis = axis_of(axis, x.ndim)
    last = layout.moveaxis(x, axis, -1)
    places = places_of(last, descending)
    values, indices = _at_places(places, wanted, last), _at_places(places, wanted, layout.arange(last.shape[-1]))
    if isinstance(wanted, Traced) and wanted.ndim:
        return layout.moveaxis(values, -1, axis), layout.moveaxis(indices, -1, axis)
    return tuple(layout.expand_dims(one, axis) if keepdim else one for one in (values, indices))


def extent_of(x: Traced, axis):
    return x.shape[axis_of(axis, x.ndim)] if x.ndim else 1


# ---- NumPy's names -------------------------------------------------------------------------------------


def _sorted(x, axis, kind):
    if kind not in (None, "quicksort", "stable", "mergesort", "heapsort"):
        raise Untraceable(f"a sort of kind {kind!r}")
    x = lift(x)
    if axis is None:
        x, axis = layout.reshape(x, (x.size,)), -1
    return ordered(x, axis, layout.arange(extent_of(x, axis)))


@handles("sort")
def sort(x, axis=-1, kind=None, stable=None):
    return _sorted(x, axis, kind)[0]


@handles("argsort")
def argsort(x, axis=-1, kind=None, stable=None):
    return _sorted(x, axis, kind)[1]


@handles("ndarray.sort")
def sort_in_place(x, axis=-1, kind=None, stable=None):
    x.assign(sort(x, axis, kind))


@handles("median")
def median(x, axis=None, keepdims=False):
    x = lift(x)
    if axis is None:
        rank, x, axis = x.ndim, layout.reshape(x, (x.size,)), 0
    elif isinstance(axis, tuple):
        raise Untraceable("'np.median' over several axes has no graph operation")
    else:
        rank = 0
    count = extent_of(x, axis)
    low, high = (ordered(x, axis, place, keepdim=keepdims)[0] for place in ((count - 1) // 2, count // 2))
    middle = (low + high) * 0.5
    return layout.reshape(middle, (1,) * rank) if keepdims and rank else middle


@handles("searchsorted")
def searchsorted(boundaries, x, side="left"):
    inside = pointwise("less_equal" if side == "right" else "less", boundaries, layout.expand_dims(lift(x), -1))
    return reduce("sum", astype(inside, np.int64), inside.ndim - 1)


@handles("digitize")
def digitize(x, bins, right=False):
    """Of bins that increase."""
    return searchsorted(bins, x, "left" if right else "right")
