"""Orders as nodes of the graph, which has none for them: an element's place is how many come before it, so n elements
cost n² comparisons. The values of few elements come from a network of comparisons. NaN is not ordered.
"""

from __future__ import annotations

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import Traced, astype, axis_of, broadcast_to, full, lift, pointwise, real, reduce, scan
from strop.trace_calls import handles
from strop.trace_dims import Untraceable, is_int
from strop.trace_indexing import getitem

FEW = 16  # elements that a network sorts


def zero(dtype) -> Traced:
    return full((), 0, dtype)


def places_of(x: Traced, descending: bool) -> Traced:
    """Along the last axis: how many elements come before each; of equal ones the first."""
    one, other = layout.expand_dims(x, -1), layout.expand_dims(x, -2)
    i, j = layout.index_grid(x.shape[-1], x.shape[-1])
    before = pointwise("greater" if descending else "less", other, one)
    earlier = pointwise("logical_and", pointwise("equal", other, one), pointwise("less", j, i))
    return reduce("sum", astype(pointwise("logical_or", before, earlier), np.int64), x.ndim)


def _comparisons(count: int):
    """Pairs that sort so many elements, by merges of odd and even ones (Batcher 1968; Knuth, volume 3, 5.2.2 M)."""
    top = 1 << max((count - 1).bit_length() - 1, 0)
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            yield from ((i, i + d) for i in range(count - d) if i & p == r)
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2


def _few_in_order(last: Traced, descending: bool) -> list:
    """Each element of the order along the last axis."""
    few = [getitem(last, (Ellipsis, i)) for i in range(last.shape[-1])]
    for i, j in _comparisons(len(few)):
        few[i], few[j] = pointwise("minimum", few[i], few[j]), pointwise("maximum", few[i], few[j])
    return few[::-1] if descending else few


def _is_few(last: Traced) -> bool:
    return is_int(last.shape[-1]) and 2 <= last.shape[-1] <= FEW and last.dtype.kind != "b"


def in_order(x: Traced, axis, count=None, descending=False):
    """The first `count` elements, or all, of the order along the axis, and where they were."""
    if not x.ndim:
        return x, zero(np.int64)
    axis = axis_of(axis, x.ndim)
    last = layout.moveaxis(x, axis, -1)
    along, places = last.ndim - 1, places_of(last, descending)

    def placed(values):
        values = broadcast_to(values, last.shape)
        return layout.scatter("sum", full(last.shape, 0, values.dtype), places, values, along)

    def first(ordered):
        ordered = ordered if count is None else getitem(ordered, (Ellipsis, slice(count)))
        return layout.moveaxis(ordered, -1, axis)

    values = layout.stack(_few_in_order(last, descending), along) if _is_few(last) else placed(last)
    return first(values), first(placed(layout.arange(last.shape[-1])))


def element_at(x: Traced, axis, place, keepdim=True):
    """The element at this place of the order along the axis, and where it was."""
    both = tuple(getitem(layout.moveaxis(one, axis, -1), (Ellipsis, slice(place, place + 1))) if one.ndim else one
                 for one in in_order(x, axis))
    return tuple(layout.moveaxis(one, -1, axis) if keepdim or not one.ndim else layout.reshape(one, one.shape[:-1])
                 for one in both)


def extent_of(x: Traced, axis):
    return x.shape[axis_of(axis, x.ndim)] if x.ndim else 1


# ---- NumPy's names -------------------------------------------------------------------------------------


def _sorted(x, axis, kind):
    if kind not in (None, "quicksort", "stable", "mergesort", "heapsort"):
        raise Untraceable(f"a sort of kind {kind!r}")
    x = lift(x)
    if axis is None:
        x, axis = layout.reshape(x, (x.size,)), -1
    return in_order(x, axis)


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
    low, high = (real(element_at(x, axis, place, keepdims)[0]) for place in ((count - 1) // 2, count // 2))
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


def log_cumulative_sum(x: Traced, axis: int) -> Traced:
    """log(cumsum(exp(x))). Each sum has its own shift, so no exponential overflows and none that counts vanishes."""
    axis = axis_of(axis, x.ndim)
    last = layout.moveaxis(x, axis, -1)
    top = scan("max", last, -1)
    shift = pointwise("where", pointwise("equal", top, -np.inf), zero(x.dtype), top)
    terms = pointwise("exp", layout.expand_dims(last, -2) - layout.expand_dims(shift, -1))
    kept = layout.triangle(last.shape[-1], last.shape[-1], 0, True)
    total = reduce("sum", pointwise("where", kept, terms, zero(x.dtype)), last.ndim)
    return layout.moveaxis(pointwise("log", total) + shift, -1, axis)
