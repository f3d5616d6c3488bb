"""The error function's relatives, the normal distribution, Bessel functions and derivatives of log-gamma, which the graph
has no operations for: as series, whose terms are as many as the type of `x` has digits for."""

from __future__ import annotations

import math

import numpy as np

from strop.trace_array import GRAPH, Traced, astype, lift, pointwise, real
from strop.trace_calls import HANDLERS, handles
from strop.trace_dims import Untraceable, is_int
from strop.trace_elementwise import choose
from strop.trace_series import ERFCX, INVERSE_ERF, LARGE_I0, LARGE_I1, SMALL_I0, SMALL_I1

ROOT_OF_PI = math.sqrt(math.pi)
BEYOND = 30  # erfc of more is 0 in float64
FEW_TERMS = 12  # of what a step of Halley's brings to 24 bits


def exp(x) -> Traced:
    return pointwise("exp", x)


def series(coefficients, t: Traced) -> Traced:
    """Of Chebyshev polynomials (Clenshaw 1955), up to the last term that the type of `t` can show."""
    terms = list(coefficients)
    least = float(np.finfo(GRAPH.dtype(t.node)).eps) * abs(terms[0]) / 16
    while len(terms) > 2 and sum(abs(term) for term in terms[-2:]) < least:
        terms.pop()
    twice, newer, older = t * 2, lift(terms[-1]), lift(0.0)
    for term in reversed(terms[1:-1]):
        newer, older = twice * newer - older + term, newer
    return t * newer - older + terms[0]


# ---- erfc ----------------------------------------------------------------------------------------------


def _scaled_tail(size: Traced) -> Traced:
    """exp(x²) erfc(x) of x >= 0 (M. M. Shepherd and J. G. Laframboise 1981)."""
    return series(ERFCX, (size - 4) / (size + 4)) / (1 + 2 * size)


def _gaussian(size: Traced) -> Traced:
    """exp(-x²): the square of a multiple of 1/16 is exact, and what is left of it is small."""
    near = pointwise("floor", size * 16) * (1 / 16)
    return exp(-(near * near)) * exp((near - size) * (near + size))


@handles("special.erfc", "math.erfc")
def erfc(x):
    """With all digits of what is left of 1."""
    x = real(x)
    size = pointwise("minimum", pointwise("absolute", x), BEYOND)
    tail = _gaussian(size) * _scaled_tail(size)
    return choose(x < 0, 2 - tail, tail)


@handles("special.erfcx")
def scaled_erfc(x):
    x = real(x)
    size = pointwise("absolute", x)
    large = size > 1e6
    tail = choose(large, 1 / ROOT_OF_PI / size, _scaled_tail(choose(large, 1.0, size)))
    return choose(x < 0, 2 * exp(pointwise("square", x)) - tail, tail)


@handles("special.ndtr")
def normal_distribution(x):
    return 0.5 * erfc(real(x) * -math.sqrt(0.5))


@handles("special.log_ndtr")
def log_of_normal_distribution(x):
    x = real(x)
    scaled = pointwise("absolute", x) * math.sqrt(0.5)
    below = pointwise("log", 0.5 * scaled_erfc(scaled)) - 0.5 * pointwise("square", x)
    return choose(x < -1, below, pointwise("log1p", -0.5 * erfc(pointwise("maximum", x, -1.0) * math.sqrt(0.5))))


# ---- inverses ------------------------------------------------------------------------------------------


def _inverse(size: Traced, rest: Traced) -> Traced:
    """y with erf(y) = size and erfc(y) = rest, whichever is small: a series, and a step of Halley's."""
    s = pointwise("sqrt", pointwise("maximum", -pointwise("log", rest * (1 + size)), 0.0))
    s = pointwise("minimum", s, 28.0)
    top = (28 - 3) / (28 + 3)
    t = ((s - 3) / (s + 3) + 1) * (2 / (top + 1)) - 1
    terms = INVERSE_ERF[:FEW_TERMS] if GRAPH.dtype(t.node) == np.float32 else INVERSE_ERF
    y = size * pointwise("sqrt", 1 + s * s) * series(terms, t)
    # Of erf(y) - size below the middle, of log(erfc(y) / rest) above it.
    inner = (size - pointwise("erf", y)) * exp(y * y) * (ROOT_OF_PI / 2)
    scaled = _scaled_tail(y)
    slope = 2 / (ROOT_OF_PI * scaled)
    outer = (pointwise("log", scaled) - pointwise("log", rest) - y * y) / slope
    below = size < 0.5
    newton, bend = choose(below, inner, outer), choose(below, -y, 0.5 * slope - y)
    better = y + newton / (1 + newton * bend)
    return choose(pointwise("equal", rest, 0), math.inf, better)


@handles("special.erfinv")
def inverse_erf(x):
    x = real(x)
    size = pointwise("absolute", x)
    found = _inverse(size, 1 - size)
    return choose(x < 0, -found, found)


@handles("special.erfcinv")
def inverse_erfc(x):
    x = real(x)
    rest = pointwise("minimum", x, 2 - x)
    found = _inverse(1 - rest, rest)
    return choose(x > 1, -found, found)


@handles("special.ndtri")
def inverse_normal_distribution(p):
    return inverse_erfc(2 * real(p)) * -math.sqrt(2)


# ---- modified Bessel functions of order 0 and 1 -----------------------------------------------------------


def _scaled_bessel(size: Traced, order: int) -> Traced:
    """exp(-x) I(x) of x >= 0."""
    small, large = ((SMALL_I0, LARGE_I0), (SMALL_I1, LARGE_I1))[order]
    below = size <= 8
    near = series(small, choose(below, size, 8.0) * 0.25 - 1)
    far = series(large, 16 / choose(below, 8.0, size) - 1) / pointwise("sqrt", size)
    return choose(below, near * size if order else near, far)


def _bessel(order: int, scaled: bool):
    def apply(x):
        x = real(x)
        size = pointwise("absolute", x)
        value = _scaled_bessel(size, order)
        if not scaled:
            half = exp(0.5 * size)  # the whole exponential may be too large where the function is not
            value = value * half * half
        return choose(x < 0, -value, value) if order else value

    return apply


for _order in (0, 1):
    HANDLERS[f"special.i{_order}"] = _bessel(_order, False)
    HANDLERS[f"special.i{_order}e"] = _bessel(_order, True)
HANDLERS["i0"] = HANDLERS["special.i0"]


# ---- gamma and beta: by logarithms, which float32 has the digits for where they are float64 ---------------------


def _by_logarithms(name: str, formula):
    def apply(*operands):
        values = [real(one) for one in operands]
        if any(GRAPH.dtype(value.node) == np.float64 for value in values):
            raise Untraceable(f"'scipy.special.{name}' of float64 has no graph operation")
        return astype(formula(*(astype(value, np.float64) for value in values)), np.float32)

    HANDLERS[f"special.{name}"] = apply


def _log_beta(a, b):
    return pointwise("lgamma", a) + pointwise("lgamma", b) - pointwise("lgamma", a + b)


def _gamma(x):
    """Below 0 the sign changes at every whole number, where there is no value."""
    whole = pointwise("floor", x)
    odd = pointwise("logical_and", x < 0, pointwise("not_equal", pointwise("remainder", whole, 2.0), 0))
    size = exp(pointwise("lgamma", x))
    value = choose(odd, -size, size)
    return choose(pointwise("logical_and", x < 0, pointwise("equal", x, whole)), math.nan, value)


_by_logarithms("gamma", _gamma)
_by_logarithms("betaln", _log_beta)
_by_logarithms("beta", lambda a, b: exp(_log_beta(a, b)))


# ---- derivatives of log-gamma ------------------------------------------------------------------------------

SHIFTS = 8  # x + 8 is large enough for the asymptotic series
# Bernoulli numbers B2, B4, ... over 2, 4, ...
OF_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)


def _series(terms, square) -> Traced:
    rest = lift(0.0)
    for term in reversed(terms):
        rest = (rest + term) * square
    return rest


@handles("special.digamma", "special.psi")
def digamma(x):
    """By a shift to where the asymptotic series is exact; below 1/2 by reflection."""
    x = real(x)
    mirrored = x < 0.5
    z = choose(mirrored, 1 - x, x)
    shifted = z + SHIFTS
    rest = _series(OF_DIGAMMA, 1 / (shifted * shifted))
    result = pointwise("log", shifted) - 0.5 / shifted - rest
    for i in range(SHIFTS):
        result = result - 1 / (z + i)
    angle = (x - pointwise("round", x)) * math.pi
    below = result - math.pi / pointwise("sin", angle) * pointwise("cos", angle)
    pole = pointwise("logical_and", pointwise("equal", angle, 0), x < 0)
    return choose(mirrored, choose(pole, math.nan, below), result)


# Bernoulli numbers B2, B4, ...
OF_TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def trigamma(x):
    x = real(x)
    mirrored = x < 0.5
    z = choose(mirrored, 1 - x, x)
    shifted = z + SHIFTS
    rest = _series(OF_TRIGAMMA, 1 / (shifted * shifted))
    result = (1 + rest + 0.5 / shifted) / shifted
    for i in range(SHIFTS):
        result = result + 1 / pointwise("square", z + i)
    sine = pointwise("sin", (x - pointwise("round", x)) * math.pi) * (1 / math.pi)
    return choose(mirrored, 1 / pointwise("square", sine) - result, result)


@handles("special.polygamma")
def polygamma(n, x):
    if not is_int(n) or n not in (0, 1):
        raise Untraceable(f"'polygamma' of order {n} has no graph operation")
    return trigamma(x) if n else digamma(x)
