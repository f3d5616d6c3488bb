"""Inverse trigonometric and hyperbolic functions, from those that the graph has.

Each formula loses no digits near the ends of its range; `x` and `y` are traced arrays or numbers.
"""

from __future__ import annotations

import math

from strop.trace_array import Traced, lift, pointwise


def arc_sine(x) -> Traced:
    x = lift(x)
    return 2 * pointwise("atan", x / (1 + pointwise("sqrt", (1 - x) * (1 + x))))


def arc_cosine(x) -> Traced:
    x = lift(x)
    return 2 * pointwise("atan", pointwise("sqrt", (1 - x) / (1 + x)))


def angle_of(y, x) -> Traced:
    """atan2; an x of negative zero counts as zero."""
    y, x = lift(y), lift(x)
    side = pointwise("where", pointwise("equal", y, 0), pointwise("divide", 1.0, y), y)  # also of a zero with a sign
    angle = pointwise("atan", y / x)
    behind = pointwise("where", side < 0, angle - math.pi, angle + math.pi)
    angle = pointwise("where", x < 0, behind, angle)
    angle = pointwise("where", pointwise("equal", x, 0), pointwise("sign", y) * (math.pi / 2), angle)
    infinite = pointwise(
        "logical_and",
        pointwise("equal", pointwise("absolute", x), math.inf),
        pointwise("equal", pointwise("absolute", y), math.inf),
    )
    sign = pointwise("sign", y)
    diagonal = pointwise("where", x < 0, sign * (3 * math.pi / 4), sign * (math.pi / 4))
    return pointwise("where", infinite, diagonal, angle)


def hyperbolic_sine(x) -> Traced:
    """By expm1, which keeps what is small; exp(x) may be too large where half of it is not."""
    size = pointwise("absolute", x)
    above = pointwise("expm1", size)
    usual = 0.5 * (above + above / (above + 1))
    return pointwise("sign", x) * pointwise("where", size > 15, pointwise("exp", size - math.log(2)), usual)


def hyperbolic_cosine(x) -> Traced:
    size = pointwise("absolute", x)
    usual = 0.5 * (pointwise("exp", size) + pointwise("exp", -size))
    return pointwise("where", size > 15, pointwise("exp", size - math.log(2)), usual)


def area_sine(x) -> Traced:
    """asinh, by log1p, which keeps what is small."""
    x = lift(x)
    size = pointwise("absolute", x)
    square = pointwise("square", size)
    usual = pointwise("log1p", size + square / (1 + pointwise("sqrt", square + 1)))
    return pointwise("sign", x) * _for_large(size, usual)


def area_cosine(x) -> Traced:
    """acosh, by log1p of x - 1, which keeps what is near 1."""
    x = lift(x)
    above = x - 1
    return _for_large(x, pointwise("log1p", above + pointwise("sqrt", above * (above + 2))))


def _for_large(x, usual) -> Traced:
    """log(2 x), whose square may be too large for the type."""
    return pointwise("where", x > 1e8, pointwise("log", x) + math.log(2), usual)


def area_tangent(x) -> Traced:
    return 0.5 * (pointwise("log1p", x) - pointwise("log1p", -lift(x)))
