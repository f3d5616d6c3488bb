"""SciPy's statistics, distances and integrals, and NumPy's even spacings, as formulas over the graph's operations."""

from __future__ import annotations

import math

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, astype, axis_of, is_number, lift, mean, pointwise, real, reduce, variance
from strop.trace_arrangement import along
from strop.trace_calls import HANDLERS, call, handles
from strop.trace_dims import Untraceable, is_int
from strop.trace_special import inverse_normal_distribution, log_of_normal_distribution, normal_distribution
from strop.trace_statistics import trapezoid

LOG_ROOT_OF_2_PI = 0.5 * math.log(2 * math.pi)

# ---- the normal distribution -----------------------------------------------------------------------------


def _standard(x, loc, scale) -> Traced:
    x = lift(x) if is_number(loc) and loc == 0 else lift(x) - loc
    return x if is_number(scale) and scale == 1 else x / scale


def _log_density(x, loc=0, scale=1) -> Traced:
    z = _standard(x, loc, scale)
    return -0.5 * pointwise("square", z) - LOG_ROOT_OF_2_PI - pointwise("log", scale)


def _density(x, loc=0, scale=1) -> Traced:
    z = _standard(x, loc, scale)
    return pointwise("exp", -0.5 * pointwise("square", z)) * (1 / math.sqrt(2 * math.pi)) / scale


HANDLERS["stats.norm.pdf"], HANDLERS["stats.norm.logpdf"] = _density, _log_density
HANDLERS["stats.norm.cdf"] = lambda x, loc=0, scale=1: normal_distribution(_standard(x, loc, scale))
HANDLERS["stats.norm.sf"] = lambda x, loc=0, scale=1: normal_distribution(-_standard(x, loc, scale))
HANDLERS["stats.norm.logcdf"] = lambda x, loc=0, scale=1: log_of_normal_distribution(_standard(x, loc, scale))
HANDLERS["stats.norm.logsf"] = lambda x, loc=0, scale=1: log_of_normal_distribution(-_standard(x, loc, scale))
HANDLERS["stats.norm.ppf"] = lambda q, loc=0, scale=1: inverse_normal_distribution(q) * scale + loc
HANDLERS["stats.norm.isf"] = lambda q, loc=0, scale=1: -inverse_normal_distribution(q) * scale + loc

# ---- moments -----------------------------------------------------------------------------------------------


@handles("stats.zscore")
def zscore(a, axis=0, ddof=0):
    x = lift(a)
    return (x - mean(x, axis, True)) / pointwise("sqrt", variance(x, axis, True, ddof))


def _moment_ratio(x: Traced, axis, power: int, keepdims: bool) -> Traced:
    centred = x - mean(x, axis, True)
    square = pointwise("square", centred)
    higher = mean(square * centred if power == 3 else pointwise("square", square), axis, keepdims)
    return higher / pointwise("power", mean(square, axis, keepdims), power / 2)


@handles("stats.skew")
def skew(a, axis=0, bias=True, keepdims=False):
    if not bias:
        raise Untraceable("'scipy.stats.skew' with bias=False has no graph operation")
    return _moment_ratio(lift(a), axis, 3, keepdims)


@handles("stats.kurtosis")
def kurtosis(a, axis=0, fisher=True, bias=True, keepdims=False):
    if not bias:
        raise Untraceable("'scipy.stats.kurtosis' with bias=False has no graph operation")
    return _moment_ratio(lift(a), axis, 4, keepdims) - (3 if fisher else 0)


@handles("stats.sem")
def standard_error(a, axis=0, ddof=1, keepdims=False):
    x = lift(a)
    count = x.shape[axis_of(axis, x.ndim)]
    return pointwise("sqrt", variance(x, axis, keepdims, ddof) / count)


HANDLERS["stats.gmean"] = lambda a, axis=0, keepdims=False: pointwise("exp", mean(pointwise("log", a), axis, keepdims))
HANDLERS["stats.hmean"] = lambda a, axis=0, keepdims=False: 1 / mean(1 / lift(a), axis, keepdims)

@handles("signal.detrend")
def detrended(data, axis=-1, type="linear"):  # noqa: A002
    x = lift(data)
    centred = x - mean(x, axis, True)
    if type == "constant":
        return centred
    place = axis_of(axis, x.ndim)
    count = x.shape[place]
    times = astype(layout.arange(count), x.dtype) - astype(lift(count) - 1, x.dtype) * 0.5
    times = layout.reshape(times, [count if i == place else 1 for i in range(x.ndim)])
    unit = times / pointwise("sqrt", reduce("sum", pointwise("square", times)))
    return centred - unit * reduce("sum", unit * centred, place, True)


# ---- distances ---------------------------------------------------------------------------------------------


def distance(difference: Traced, metric: str, p=2) -> Traced:
    """Along the last axis."""
    size = pointwise("absolute", difference)
    if metric == "cityblock" or (metric == "minkowski" and p == 1):
        return reduce("sum", size, -1)
    if metric == "chebyshev" or (metric == "minkowski" and p == math.inf):
        return reduce("max", size, -1)
    if metric in ("euclidean", "sqeuclidean") or (metric == "minkowski" and p == 2):
        total = reduce("sum", pointwise("square", difference), -1)
        return total if metric == "sqeuclidean" else pointwise("sqrt", total)
    if metric == "minkowski":
        return pointwise("power", reduce("sum", pointwise("power", size, p), -1), 1 / p)
    raise Untraceable(f"distances by '{metric}' have no graph operation")


def _distance_in_double(difference: Traced, metric: str, p) -> Traced:
    """As SciPy computes, whatever the type: squares of large values have to fit, so they are of shares of the largest."""
    if metric == "minkowski" and p == 2:
        metric = "euclidean"
    if metric != "euclidean":
        return distance(difference, metric, p)
    top = reduce("max", pointwise("absolute", difference), -1, True)
    usual = pointwise("logical_and", top > 0, top < math.inf)
    scale = pointwise("where", usual, top, 1.0)
    return distance(difference / scale, metric) * layout.squeeze(scale, -1)


@handles("spatial.distance.cdist")
def distances(a, b, metric="euclidean", p=2):
    return _distance_in_double(layout.expand_dims(real(a), -2) - layout.expand_dims(real(b), -3), metric, p)


def pairs(count):
    """Of places of so many: (0, 1), (0, 2), ... The row is the root of a square, and then counted exactly."""
    place = layout.arange(count * (count - 1) // 2)
    twice = lift(2 * count - 1)
    root = pointwise("sqrt", pointwise("subtract", twice * twice, place * 8))
    row = astype(pointwise("floor", (astype(twice, np.float64) - root) * 0.5), np.int64)

    def begin(of):
        return pointwise("floor_divide", of * (twice - of), 2)

    row = row - astype(begin(row) > place, np.int64)
    row = row + astype(begin(row + 1) <= place, np.int64)
    return row, place - begin(row) + row + 1


def distances_of_pairs(x: Traced, metric: str, p=2) -> Traced:
    first, second = pairs(x.shape[0])
    return distance(layout.take(x, first, 0) - layout.take(x, second, 0), metric, p)


@handles("spatial.distance.pdist")
def distances_within(x, metric="euclidean", p=2):
    x = real(x)
    first, second = pairs(x.shape[0])
    return _distance_in_double(layout.take(x, first, 0) - layout.take(x, second, 0), metric, p)


# ---- integrals ---------------------------------------------------------------------------------------------

HANDLERS["integrate.trapezoid"] = trapezoid


@handles("integrate.cumulative_trapezoid")
def running_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    y = lift(y)
    place = axis_of(axis, y.ndim)
    step = dx if x is None else call("diff", (x,), {"axis": place if lift(x).ndim == y.ndim else 0})
    if x is not None and lift(x).ndim != y.ndim:
        step = layout.reshape(step, [step.size if i == place else 1 for i in range(y.ndim)])
    both = (y[along(place, 1, None)] + y[along(place, None, -1)]) * step * 0.5
    result = call("cumsum", (both, place), {})
    if initial is None:
        return result
    return layout.concatenate([result[along(place, 0, 1)] * 0 + initial, result], place)


@handles("integrate.simpson")
def simpson(y, x=None, dx=1.0, axis=-1):
    y = lift(y)
    place = axis_of(axis, y.ndim)
    count = y.shape[place]
    if x is not None or not is_int(count) or count % 2 == 0:
        raise Untraceable("'scipy.integrate.simpson' is of an odd number of even steps here")

    def every_second(begin, end):
        return reduce("sum", y[(slice(None),) * place + (slice(begin, end, 2),)], place)

    ends = y[along(place, 0, 1)] + y[along(place, count - 1, count)]
    return (layout.squeeze(ends, place) + 4 * every_second(1, count) + 2 * every_second(2, count - 1)) * dx * (1 / 3)


# ---- even spacings -----------------------------------------------------------------------------------------


@handles("logspace")
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    steps = astype(call("linspace", (start, stop, num, endpoint), {}), np.float64)
    return astype(pointwise("power", base, steps), GRAPH.working if dtype is None else dtype)


@handles("geomspace")
def geomspace(start, stop, num=50, endpoint=True, dtype=None):
    steps = astype(call("linspace", (pointwise("log", start), pointwise("log", stop), num, endpoint), {}), np.float64)
    return astype(pointwise("exp", steps), GRAPH.working if dtype is None else dtype)


@handles("fft.fftfreq")
def frequencies(n, d=1.0):
    k = layout.arange(n)
    k = pointwise("where", k < (n + 1) // 2, k, k - n)
    return astype(k / (lift(n) * d), GRAPH.working)


@handles("fft.rfftfreq")
def frequencies_of_reals(n, d=1.0):
    return astype(layout.arange(n // 2 + 1) / (lift(n) * d), GRAPH.working)
