"""NumPy's statistics, histograms, differences and interpolation, as formulas over the graph's operations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from strop import trace_contraction as product_of
from strop import trace_layout as layout
from strop.trace_array import (
    GRAPH,
    Traced,
    astype,
    axes_of,
    axis_of,
    broadcast_to,
    full,
    is_number,
    lift,
    mean,
    pointwise,
    real,
    reduce,
)
from strop.trace_arrangement import along
from strop.trace_calls import HANDLERS, call, handles
from strop.trace_dims import SymInt, Untraceable, is_int, same
from strop.trace_elementwise import choose
from strop.trace_order import element_at, searchsorted, sort
from strop.trace_sizes import are_granted
from strop.trace_quantiles import ONE_ELEMENT, quantile_place, rounded


FEW_TAPS = 64  # of a filter that is written out


# ---- without NaN ---------------------------------------------------------------------------------------


def _filled(x, value) -> Traced:
    x = lift(x)
    return choose(pointwise("isnan", x), value, x) if x.dtype.kind == "f" else x


def _numbers(x, axis, keepdims):
    """How many are not NaN."""
    x = lift(x)
    some = pointwise("equal", x, x)
    return reduce("sum", astype(some, x.dtype if x.dtype.kind == "f" else np.int64), axis, keepdims)


HANDLERS["nansum"] = lambda x, axis=None, keepdims=False: reduce("sum", _filled(x, 0), axis, keepdims)
HANDLERS["nanprod"] = lambda x, axis=None, keepdims=False: reduce("prod", _filled(x, 1), axis, keepdims)
HANDLERS["nancumsum"] = lambda x, axis=None: call("cumsum", (_filled(x, 0), axis), {})
HANDLERS["nancumprod"] = lambda x, axis=None: call("cumprod", (_filled(x, 1), axis), {})


def _register_nan_extrema():
    def extreme(op, fill):
        def apply(x, axis=None, keepdims=False):
            found = reduce(op, _filled(x, fill), axis, keepdims)
            return choose(_numbers(x, axis, keepdims) > 0, found, math.nan)

        return apply

    for name, fill in (("max", -math.inf), ("min", math.inf)):
        HANDLERS[f"nan{name}"] = extreme(name, fill)
        HANDLERS[f"nanarg{name}"] = lambda x, axis=None, keepdims=False, op=f"arg{name}", fill=fill: reduce(
            op, _filled(x, fill), axis, keepdims
        )


_register_nan_extrema()


@handles("nanmean")
def nanmean(x, axis=None, keepdims=False):
    return reduce("sum", _filled(x, 0), axis, keepdims) / _numbers(x, axis, keepdims)


@handles("nanmedian")
def nanmedian(x, axis=None, keepdims=False):
    x = lift(x)
    if axis is None:
        rank, x, axis = x.ndim, layout.reshape(x, (x.size,)), 0
        keepdims = keepdims and rank == 1
    ordered, count = sort(_filled(x, math.inf), axis), astype(_numbers(x, axis, True), np.int64)
    low, high = (
        layout.take_along_axis(ordered, pointwise("maximum", pointwise("floor_divide", count - less, 2), 0), axis)
        for less in (1, 0)
    )
    middle = choose(count > 0, (low + high) * 0.5, math.nan)
    return middle if keepdims else layout.squeeze(middle, axis)


@handles("nanquantile")
def nanquantile(x, q, axis=None, method="linear", keepdims=False):
    """Between two places of an order that NaN are behind; how many are none decides where."""
    if method != "linear" or not is_number(q) or isinstance(q, SymInt):
        raise Untraceable("this form of 'np.nanquantile' has no graph operation")
    x = lift(x)
    if axis is None:
        x, axis = layout.reshape(x, (x.size,)), 0
    ordered, count = sort(_filled(x, math.inf), axis), astype(_numbers(x, axis, True), np.float64)
    place = pointwise("maximum", count - 1, 0.0) * float(q)
    low, high = (
        layout.take_along_axis(ordered, astype(pointwise(way, place), np.int64), axis) for way in ("floor", "ceil")
    )
    part = astype(place - pointwise("floor", place), x.dtype)
    found = choose(count > 0, low + (high - low) * part, math.nan)
    return found if keepdims else layout.squeeze(found, axis)


HANDLERS["nanpercentile"] = lambda x, q, axis=None, method="linear", keepdims=False: nanquantile(
    x, q / 100, axis, method, keepdims
)


@handles("nanvar")
def nanvar(x, axis=None, ddof=0, keepdims=False):
    x = lift(x)
    centred = _filled(x - nanmean(x, axis, True), 0)
    return reduce("sum", pointwise("square", centred), axis, keepdims) / (_numbers(x, axis, keepdims) - ddof)


@handles("nanstd")
def nanstd(x, axis=None, ddof=0, keepdims=False):
    return pointwise("sqrt", nanvar(x, axis, ddof, keepdims))


# ---- orders --------------------------------------------------------------------------------------------


def _quantile(x, q, axis, keepdims, method):
    q, count = float(q), x.shape[axis_of(axis, x.ndim)]
    if not 0 <= q <= 1:
        raise Untraceable(f"the quantile {q} is not between 0 and 1")
    exact = Fraction(q).limit_denominator(100000)
    if method == "linear" and abs(float(exact) - q) < 1e-12:
        return _between_elements(x, exact, axis, keepdims)
    place = _limited(quantile_place(method, q, count), count - 1)
    if method in ONE_ELEMENT:
        return _element(x, axis, place, keepdims)
    below = rounded("floor", place)
    low, high = (real(_element(x, axis, at, keepdims)) for at in (below, rounded("ceil", place)))
    part = place - below
    return low + (high - low) * (part if is_number(part) else astype(part, low.dtype))


def _between_elements(x, q: Fraction, axis, keepdims):
    """Between the two elements beside the place (n - 1) q, which is exact for a q with few digits."""
    last = x.shape[axis_of(axis, x.ndim)] - 1
    below = last * q.numerator // q.denominator
    above = (last * q.numerator + q.denominator - 1) // q.denominator
    low, high = (real(element_at(x, axis, place, keepdims)[0]) for place in (below, above))
    part = astype(lift(last * q.numerator - below * q.denominator), low.dtype) / q.denominator
    return low + (high - low) * part


def _limited(place, last):
    if is_number(place):
        return min(max(place, 0.0), float(last))
    return pointwise("minimum", pointwise("maximum", place, 0.0), astype(lift(last), np.float64))


def _element(x, axis, place, keepdims):
    """At a place of the order that is a number, or that depends on an extent."""
    if is_number(place):
        return element_at(x, axis, int(place), keepdims)[0]
    found = layout.take(sort(x, axis), astype(place, np.int64), axis)
    return layout.expand_dims(found, axis_of(axis, x.ndim)) if keepdims else found


@handles("quantile")
def quantile(x, q, axis=None, method="linear", keepdims=False, interpolation=None):
    x = lift(x)
    if isinstance(axis, (tuple, list)):
        raise Untraceable("'np.quantile' over several axes has no graph operation")
    if axis is None:
        rank, x, axis = x.ndim, layout.reshape(x, (x.size,)), 0
        keepdims = keepdims and rank == 1
    method = interpolation or method
    if is_number(q) and not isinstance(q, SymInt):
        return _quantile(x, q, axis, keepdims, method)
    if not isinstance(q, (list, tuple, np.ndarray)) or np.ndim(q) != 1:
        raise Untraceable("a quantile that is computed has no graph operation")
    return layout.stack([_quantile(x, one, axis, keepdims, method) for one in q], 0)


@handles("percentile")
def percentile(x, q, axis=None, method="linear", keepdims=False, interpolation=None):
    share = [float(one) / 100 for one in q] if isinstance(q, (list, tuple, np.ndarray)) and np.ndim(q) else q / 100
    return quantile(x, share, axis, method, keepdims, interpolation)


# An order is a partition too; which one NumPy's is depends on its version.
HANDLERS["partition"] = lambda x, kth, axis=-1, kind=None: sort(x, axis)
HANDLERS["argpartition"] = lambda x, kth, axis=-1, kind=None: call("argsort", (x, axis), {})


# ---- moments of two ------------------------------------------------------------------------------------


@handles("cov")
def covariance(m, y=None, rowvar=True, bias=False, ddof=None):
    def variables(of):
        x = astype(lift(of), np.float64)  # as NumPy does: squares of large values fit
        return layout.expand_dims(x, 0) if x.ndim < 2 else x if rowvar else x.T

    x = variables(m) if y is None else layout.concatenate([variables(m), variables(y)], 0)
    if ddof is None:
        ddof = 0 if bias else 1
    centred = x - mean(x, 1, True)
    result = product_of.matmul(centred, centred.T) / (x.shape[1] - ddof)
    return layout.squeeze(result)


@handles("corrcoef")
def correlation(m, y=None, rowvar=True):
    c = covariance(m, y, rowvar)
    if not c.ndim:
        return c / c
    deviations = pointwise("sqrt", layout.diagonal(c))
    c = c / layout.expand_dims(deviations, 1) / deviations
    return pointwise("maximum", pointwise("minimum", c, 1), -1)


HANDLERS["cumulative_sum"] = lambda x, axis=None, dtype=None: call("cumsum", (x, axis), {"dtype": dtype})
HANDLERS["cumulative_prod"] = lambda x, axis=None, dtype=None: call("cumprod", (x, axis), {"dtype": dtype})


# ---- histograms ----------------------------------------------------------------------------------------


def _counted(index, weights, bins) -> Traced:
    return layout.scatter("sum", full((bins,), 0, weights.dtype), index, weights, 0)


@handles("bincount")
def bincount(x, weights=None, minlength=0):
    """Of places below `minlength`; without it the result's extent depends on values."""
    if is_int(minlength) and minlength == 0:
        raise Untraceable("'np.bincount' without minlength gives a shape that depends on values")
    x = lift(x)
    weights = full(x.shape, 1, np.int64) if weights is None else astype(lift(weights), np.float64)
    return _counted(x, broadcast_to(weights, x.shape), minlength)


@handles("histogram")
def histogram(x, bins=10, range=None, density=None, weights=None):  # noqa: A002
    x = lift(x)
    if not layout.is_extent(bins):
        return _histogram_between(x, lift(bins), density, weights)
    x = layout.reshape(x if x.dtype.kind == "f" else astype(x, GRAPH.working), (x.size,))
    low, high = range if range is not None else (reduce("min", x), reduce("max", x))
    low, high = astype(lift(low), x.dtype), astype(lift(high), x.dtype)
    one_value = pointwise("equal", low, high)
    low, high = choose(one_value, low - 0.5, low), choose(one_value, high + 0.5, high)
    width = (high - low) / lift(bins)
    edges = _even_edges(low, high, width, bins, range, x.dtype)
    index = astype(pointwise("floor", (x - low) / width), np.int64)
    index = pointwise("maximum", pointwise("minimum", index, bins - 1), 0)
    # The quotient is rounded; the edges decide.
    index = index - astype(pointwise("less", x, layout.take(edges, index)), np.int64)
    index = pointwise("maximum", index, 0)
    after = pointwise("logical_and", x >= layout.take(edges, index + 1), index < bins - 1)
    index = index + astype(after, np.int64)
    inside = pointwise("logical_and", x >= low, x <= high)
    return _counts_inside(index, inside, bins, weights, width if density else None), edges


def _even_edges(low, high, width, bins, range, dtype):  # noqa: A002
    """As np.linspace has them: in double where the range's ends are numbers."""
    if range is not None and is_int(bins) and all(isinstance(end, (int, float)) for end in range) and range[0] != range[1]:
        return lift(np.linspace(*range, int(bins) + 1).astype(dtype))
    places = layout.arange(bins + 1)
    return choose(pointwise("equal", places, bins), high, astype(places, dtype) * width + low)


def _histogram_between(x: Traced, edges: Traced, density, weights):
    """Edges that increase; the last one belongs to the last bin."""
    x = layout.reshape(x, (x.size,))
    bins = edges.shape[0] - 1
    index = searchsorted(edges, x, "right") - 1
    index = index - astype(pointwise("equal", x, edges[bins]), np.int64)
    inside = pointwise("logical_and", index >= 0, index < bins)
    index = pointwise("maximum", pointwise("minimum", index, bins - 1), 0)
    return _counts_inside(index, inside, bins, weights, diff(edges) if density else None), edges


def _counts_inside(index: Traced, inside: Traced, bins, weights, widths):
    """With widths of the bins: densities."""
    counts = full(index.shape, 1, np.int64) if weights is None else layout.reshape(lift(weights), index.shape)
    counts = _counted(index, choose(inside, counts, 0), bins)
    return counts if widths is None else counts / (reduce("sum", counts) * widths)


# ---- differences and sums ------------------------------------------------------------------------------


@handles("diff")
def diff(x, n=1, axis=-1, prepend=None, append=None):
    x = lift(x)
    place = axis_of(axis, x.ndim)

    def slab(values):
        values = lift(values)
        shape = (*x.shape[:place], 1, *x.shape[place + 1 :])
        return astype(values if values.ndim else broadcast_to(values, shape), x.dtype)

    pieces = [slab(prepend)] if prepend is not None else []
    pieces += [x, *([slab(append)] if append is not None else [])]
    x = layout.concatenate(pieces, place)
    for _ in range(n):
        op = "not_equal" if x.dtype.kind == "b" else "subtract"
        x = pointwise(op, x[along(place, 1, None)], x[along(place, None, -1)])
    return x


HANDLERS["ediff1d"] = lambda x: diff(layout.reshape(lift(x), (lift(x).size,)))


@handles("gradient")
def gradient(f, *spacing, axis=None, edge_order=1):
    """Central differences inside, one-sided ones at both ends."""
    f = real(f)
    axes = axes_of(axis, f.ndim)
    steps = list(spacing) * len(axes) if len(spacing) == 1 else list(spacing) or [1.0] * len(axes)
    if len(steps) != len(axes) or any(lift(step).ndim for step in steps):
        raise Untraceable("'np.gradient' over uneven steps has no graph operation")
    found = [_slope(f, place, step, edge_order) for place, step in zip(axes, steps)]
    return found[0] if len(found) == 1 else tuple(found)


def _slope(f: Traced, axis: int, step, edge_order: int) -> Traced:
    first, last = f[along(axis, 1, 2)] - f[along(axis, 0, 1)], f[along(axis, -1, None)] - f[along(axis, -2, -1)]
    if edge_order == 2:
        first = -1.5 * f[along(axis, 0, 1)] + 2 * f[along(axis, 1, 2)] - 0.5 * f[along(axis, 2, 3)]
        last = 1.5 * f[along(axis, -1, None)] - 2 * f[along(axis, -2, -1)] + 0.5 * f[along(axis, -3, -2)]
    inner = (f[along(axis, 2, None)] - f[along(axis, None, -2)]) / pointwise("multiply", step, 2.0)
    return layout.concatenate([first / step, inner, last / step], axis)


@handles("trapezoid", "trapz")
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = lift(y)
    place = axis_of(axis, y.ndim)
    step = dx
    if x is not None:
        x = lift(x)
        step = diff(x, axis=place if x.ndim == y.ndim else 0)
        if x.ndim != y.ndim:
            step = layout.reshape(step, [step.size if i == place else 1 for i in range(y.ndim)])
    both = y[along(place, 1, None)] + y[along(place, None, -1)]
    return reduce("sum", both * step, place) * 0.5


@handles("unwrap")
def unwrapped(p, discont=None, axis=-1, period=2 * math.pi):
    p = lift(p)
    place, half = axis_of(axis, p.ndim), period / 2
    step = diff(p, axis=place)
    nearest = pointwise("remainder", step + half, period) - half
    turned = pointwise("logical_and", pointwise("equal", nearest, -half), step > 0)
    jump = choose(turned, half, nearest) - step
    jump = choose(pointwise("absolute", step) < (half if discont is None else discont), 0.0, jump)
    return layout.concatenate([p[along(place, 0, 1)], p[along(place, 1, None)] + call("cumsum", (jump, place), {})], place)


# ---- filters and interpolation -------------------------------------------------------------------------


@handles("convolve")
def convolve(a, v, mode="full"):
    a, v = lift(a), lift(v)
    return _filtered(*((v, layout.reverse(a)) if _is_longer(v, a, mode) else (a, layout.reverse(v))), mode)


@handles("correlate")
def correlate(a, v, mode="valid"):
    a, v = lift(a), lift(v)
    if _is_longer(v, a, mode):
        return layout.reverse(_filtered(v, a, mode))
    return _filtered(a, v, mode)


def _is_longer(one: Traced, other: Traced, mode: str) -> bool:
    """Of extents that vary: at the sizes that are asked for; where none are, a signal of a varying extent is taken to
    be longer than a filter of a given one."""
    have, want = one.shape[0], other.shape[0]
    if is_int(have) and is_int(want):
        return have > want
    if mode == "full" or not GRAPH.points:
        return is_int(want) and not is_int(have)
    longer = not are_granted([want - have])
    if longer and not are_granted([have - want - 1]):
        raise Untraceable("which of both is longer depends on the size")
    return longer


def _filtered(signal: Traced, taps: Traced, mode: str) -> Traced:
    count = taps.shape[0]
    before, after = {
        "full": (count - 1, count - 1),
        "same": (count - 1 - (count - 1) // 2, (count - 1) // 2),
        "valid": (0, 0),
    }[mode]
    padded = layout.pad(signal, [(before, after)])
    if not is_int(count) or count > FEW_TAPS:
        return product_of.matmul(layout.sliding_window_view(padded, count, 0), taps)
    extent = signal.shape[0] + before + after - count + 1
    total = padded[along(0, 0, extent)] * taps[0]
    for i in range(1, count):
        total = total + padded[along(0, i, i + extent)] * taps[i]
    return total


@handles("interp")
def interp(x, xp, fp, left=None, right=None, period=None):
    """At places that increase; outside of them the values at the ends."""
    if period is not None:
        raise Untraceable("'np.interp' with a period has no graph operation")
    x, xp, fp = (astype(lift(one), np.float64) for one in (x, xp, fp))
    count = xp.shape[0]
    below = pointwise("maximum", pointwise("minimum", searchsorted(xp, x, "right") - 1, count - 2), 0)
    x0, x1, y0, y1 = (layout.take(of, below + i) for of, i in ((xp, 0), (xp, 1), (fp, 0), (fp, 1)))
    inside = y0 + (y1 - y0) * ((x - x0) / (x1 - x0))
    first, last = xp[0], xp[count - 1]
    result = choose(x < first, fp[0] if left is None else left, inside)
    return choose(x > last, fp[count - 1] if right is None else right, choose(pointwise("equal", x, last), fp[count - 1], result))


@handles("add.reduceat")
def sums_between(x, places, axis=0):
    """Where the places are equally far apart and cover the axis."""
    x, places = lift(x), lift(places)
    axis = axis_of(axis, x.ndim)
    step = places.step
    if step is None or not is_int(step) or not same(places.shape[0] * step, x.shape[axis]):
        raise Untraceable("'np.add.reduceat' at places that do not cover the axis evenly has no graph operation")
    count = places.shape[0]
    split = layout.reshape(x, (*x.shape[:axis], count, step, *x.shape[axis + 1 :]))
    return reduce("sum", split, axis + 1)


