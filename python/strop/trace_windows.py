"""Windows of signals: sums of cosines."""

from __future__ import annotations

import math

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, astype, lift, pointwise
from strop.trace_calls import HANDLERS, call, handles

# Of cos(k angle), where the angle goes round once.
COEFFICIENTS = {"hann": (0.5, -0.5), "hamming": (0.54, -0.46), "blackman": (0.42, -0.5, 0.08)}


def sum_of_cosines(coefficients, angle: Traced) -> Traced:
    result = lift(coefficients[0])
    for k, factor in enumerate(coefficients[1:], 1):
        result = result + pointwise("cos", angle * k) * factor
    return result


def _register():
    def window(coefficients):
        def apply(count):
            places = astype(layout.arange(count), GRAPH.working)
            values = sum_of_cosines(coefficients, places * (2 * math.pi) / pointwise("maximum", count - 1, 1))
            return pointwise("where", pointwise("equal", lift(count), 1), 1.0, values)

        return apply

    for name, coefficients in COEFFICIENTS.items():
        HANDLERS["hanning" if name == "hann" else name] = window(coefficients)


_register()


@handles("bartlett")
def bartlett(count):
    places, last = layout.arange(count), lift(count) - 1
    nearer = astype(pointwise("minimum", places, last - places) * 2, GRAPH.working)  # whole: the ends are exactly 0
    return pointwise("where", pointwise("equal", last, 0), 1.0, nearer / astype(pointwise("maximum", last, 1), GRAPH.working))


@handles("kaiser")
def kaiser(count, beta):
    """Of a varying number of points, which NumPy's own function takes for an array."""
    places = astype(layout.arange(count), np.float64)
    half = (lift(count) - 1) / 2
    inside = 1 - pointwise("square", (places - half) / half)
    beta = lift(beta)
    values = call("i0", (beta * pointwise("sqrt", pointwise("maximum", inside, 0.0)),), {}) / call("i0", (beta,), {})
    return pointwise("where", pointwise("equal", lift(count), 1), 1.0, astype(values, GRAPH.working))


# ---- SciPy's -------------------------------------------------------------------------------------------


def _register_signal():
    """Periodic ones are those of one point more, without the last."""

    def window(of):
        def apply(count, *arguments, sym=True):
            if arguments and isinstance(arguments[-1], bool):
                *arguments, sym = arguments
            return of(count, *arguments) if sym else of(count + 1, *arguments)[:-1]

        return apply

    for name in ("hann", "hamming", "blackman", "kaiser", "bartlett"):
        of = HANDLERS["hanning" if name == "hann" else name]
        HANDLERS[f"signal.windows.{name}"] = window(of)
    HANDLERS["signal.windows.gaussian"] = window(gaussian)


def gaussian(count, deviation):
    half = (lift(count) - 1) / 2
    places = (astype(layout.arange(count), np.float64) - half) / deviation
    return astype(pointwise("exp", -0.5 * pointwise("square", places)), GRAPH.working)


_register_signal()
