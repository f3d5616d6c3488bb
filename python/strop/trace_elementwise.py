"""NumPy's and SciPy's elementwise functions that are formulas over those of the graph."""

from __future__ import annotations

import math

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import Traced, astype, lift, pointwise, reduce
from strop.trace_calls import HANDLERS, handles
from strop.trace_dims import Untraceable


def choose(condition, one, other) -> Traced:
    return pointwise("where", condition, one, other)


def _is_nan(x) -> Traced:
    return pointwise("isnan", x) if lift(x).dtype.kind == "f" else pointwise("not_equal", x, x)


# ---- parts and signs of numbers ------------------------------------------------------------------------


@handles("trunc", "fix", "math.trunc")
def truncated(x):
    x = lift(x)
    return choose(x < 0, pointwise("ceil", x), pointwise("floor", x)) if x.dtype.kind == "f" else x


@handles("fmod", "math.fmod")
def truncated_remainder(a, b):
    size = pointwise("remainder", pointwise("absolute", a), pointwise("absolute", b))
    return choose(lift(a) < 0, -size, size)


@handles("modf")
def parts(x):
    whole = truncated(x)
    return lift(x) - whole, whole


@handles("divmod")
def quotient_and_remainder(a, b):
    return pointwise("floor_divide", a, b), pointwise("remainder", a, b)


@handles("signbit")
def has_sign(x):
    x = lift(x)
    if x.dtype.kind != "f":
        return x < 0
    zero = pointwise("logical_and", pointwise("equal", x, 0), pointwise("divide", 1.0, x) < 0)
    return pointwise("logical_or", x < 0, zero)


@handles("copysign", "math.copysign")
def with_sign(x, sign):
    size = pointwise("absolute", x)
    return choose(has_sign(sign), -size, size)


@handles("heaviside")
def step(x, at_zero):
    x = lift(x)
    beside = astype(x >= 0, x.dtype)
    return choose(_is_nan(x), x, choose(pointwise("equal", x, 0), at_zero, beside))


@handles("ldexp", "math.ldexp")
def scaled_by_power(x, exponent):
    return pointwise("multiply", x, pointwise("exp2", exponent))


@handles("cbrt", "special.cbrt", "math.cbrt")
def cube_root(x):
    """By a logarithm, and a step of Newton's for the digits that it lost."""
    x = lift(x)
    size = pointwise("absolute", x)
    root = pointwise("exp", pointwise("log", size) * (1 / 3))
    better = root - (root - size / pointwise("square", root)) * (1 / 3)
    alone = pointwise("logical_or", pointwise("equal", size, 0), pointwise("equal", size, math.inf))
    return choose(alone, x, pointwise("sign", x) * better)


# ---- choices and questions -----------------------------------------------------------------------------


def _register_extrema():
    def handler(op):
        def apply(a, b):
            return choose(_is_nan(a), b, choose(_is_nan(b), a, pointwise(op, a, b)))

        return apply

    HANDLERS["fmax"], HANDLERS["fmin"] = handler("maximum"), handler("minimum")


_register_extrema()


@handles("isclose", "math.isclose")
def is_close(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    near = pointwise("absolute", pointwise("subtract", a, b)) <= atol + rtol * pointwise("absolute", b)
    finite = pointwise("less", pointwise("absolute", b), math.inf)
    near = pointwise("logical_or", pointwise("logical_and", near, finite), pointwise("equal", a, b))
    return pointwise("logical_or", near, pointwise("logical_and", _is_nan(a), _is_nan(b))) if equal_nan else near


HANDLERS["isposinf"] = lambda x: pointwise("equal", x, math.inf)
HANDLERS["isneginf"] = lambda x: pointwise("equal", x, -math.inf)
HANDLERS["allclose"] = lambda a, b, rtol=1e-5, atol=1e-8: reduce("all", is_close(a, b, rtol, atol))
HANDLERS["array_equal"] = lambda a, b: reduce("all", pointwise("equal", a, b))


@handles("isin", "in1d")
def is_in(x, values, invert=False, **_):
    values = lift(values)
    flat = layout.reshape(values, (values.size,))
    found = reduce("any", pointwise("equal", layout.expand_dims(lift(x), -1), flat), -1)
    return pointwise("logical_not", found) if invert else found


@handles("choose")
def chosen(index, choices, mode="raise"):
    index, count = lift(index), len(choices)
    if mode == "wrap":
        index = pointwise("remainder", index, count)
    result = choices[-1]
    for i in reversed(range(count - 1)):
        same = index <= i if mode == "clip" and i == 0 else pointwise("equal", index, i)
        result = choose(same, choices[i], result)
    return result


@handles("piecewise")
def piecewise(x, conditions, functions, *arguments, **options):
    """Each function is of all elements; the last one that holds is taken."""
    conditions = list(conditions) if isinstance(conditions, (list, tuple)) else [conditions]
    values = [f(x, *arguments, **options) if callable(f) else f for f in functions]
    if len(values) not in (len(conditions), len(conditions) + 1):
        raise Untraceable(f"'np.piecewise' with {len(conditions)} conditions and {len(values)} functions")
    result = pointwise("multiply", x, 0) if len(values) == len(conditions) else pointwise("add", x, 0) * 0 + values[-1]
    for condition, value in zip(conditions, values):
        result = choose(condition, value, result)
    return result


# ---- formulas ------------------------------------------------------------------------------------------

for _names, _factor in (("deg2rad radians math.radians", math.pi / 180), ("rad2deg degrees math.degrees", 180 / math.pi)):
    for _name in _names.split():
        HANDLERS[_name] = lambda x, factor=_factor: pointwise("multiply", x, factor)


@handles("logaddexp2")
def log_of_sum2(a, b):
    below = pointwise("exp2", -pointwise("absolute", pointwise("subtract", a, b)))
    return pointwise("maximum", a, b) + pointwise("log1p", below) * (1 / math.log(2))


@handles("sinc", "special.sinc")
def sinc(x):
    angle = pointwise("multiply", x, math.pi)
    zero = pointwise("equal", angle, 0)
    return choose(zero, 1.0, pointwise("sin", angle) / choose(zero, 1.0, angle))


@handles("special.xlogy")
def x_log_y(x, y):
    return choose(pointwise("equal", x, 0), 0.0, pointwise("multiply", x, pointwise("log", y)))


@handles("special.xlog1py")
def x_log1p_y(x, y):
    return choose(pointwise("equal", x, 0), 0.0, pointwise("multiply", x, pointwise("log1p", y)))


@handles("special.entr")
def entropy(x):
    x = lift(x)
    return choose(x < 0, -math.inf, -x_log_y(x, x))


@handles("special.rel_entr")
def relative_entropy(x, y):
    x, y = lift(x), lift(y)
    both = pointwise("logical_and", x > 0, y > 0)
    none = pointwise("logical_and", pointwise("equal", x, 0), y >= 0)
    return choose(both, x * pointwise("log", x / y), choose(none, x, math.inf))


@handles("special.kl_div")
def divergence(x, y):
    """x log(x / y) - x + y, whose terms cancel where x is near y: there by the series of artanh."""
    x, y = lift(x), lift(y)
    s = (y - x) / (x + y)
    square, rest = pointwise("square", s), lift(0.0)
    for n in range(15, 1, -2):
        rest = rest * square + 1 / n
    near = pointwise("absolute", s) < 0.1
    return choose(near, s * (y - x) - 2 * x * s * square * rest, relative_entropy(x, y) - x + y)


@handles("special.logit")
def logit(x):
    return pointwise("log", lift(x) / (1 - lift(x)))


@handles("special.log_expit")
def log_sigmoid(x):
    return pointwise("minimum", x, 0) - pointwise("log1p", pointwise("exp", -pointwise("absolute", x)))


@handles("special.exprel")
def relative_exponential(x):
    small = pointwise("absolute", x) < 1e-9
    return choose(small, 1 + 0.5 * lift(x), pointwise("expm1", x) / choose(small, 1.0, x))


HANDLERS["special.softplus"] = lambda x: -log_sigmoid(-lift(x))


@handles("special.huber")
def huber(delta, r):
    size = pointwise("absolute", r)
    return choose(size <= delta, 0.5 * pointwise("square", r), pointwise("multiply", delta, size - pointwise("multiply", 0.5, delta)))


@handles("special.pseudo_huber")
def pseudo_huber(delta, r):
    square = pointwise("square", lift(r) / delta)
    return pointwise("square", delta) * (square / (1 + pointwise("sqrt", 1 + square)))


@handles("special.exp10")
def power_of_ten(x):
    return pointwise("power", 10.0, x)


@handles("bitwise_count")
def bits_that_are_set(x):
    """Of the absolute value; in halves, pairs, fours and so on (Hacker's Delight, 5-1)."""
    x = lift(x)
    if x.dtype == np.bool_:
        return astype(x, np.uint8)
    if x.dtype.kind == "i":
        x = pointwise("absolute", astype(x, np.int64))
    x, count = astype(x, np.int64), lift(0)
    for shift in (0, 32):
        n = (x >> shift) & 0xFFFFFFFF
        n = n - ((n >> 1) & 0x55555555)
        n = (n & 0x33333333) + ((n >> 2) & 0x33333333)
        n = (n + (n >> 4)) & 0x0F0F0F0F
        n = n + (n >> 8)
        count = count + ((n + (n >> 16)) & 63)
    return astype(count, np.uint8)
