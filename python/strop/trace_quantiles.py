"""Where NumPy's methods of np.quantile look: places in an order, in float64 and rounded as NumPy rounds them, because
what a place jumps at is a rounded product (0.29 * 100 is below 29)."""

from __future__ import annotations

import numpy as np

from strop.trace_array import astype, lift, pointwise
from strop.trace_dims import SymInt, Untraceable

ONE_ELEMENT = ("lower", "higher", "nearest", "inverted_cdf")  # of which no other element decides
# Of the continuous ones: alpha and beta of R. J. Hyndman and Y. Fan 1996.
CONTINUOUS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def rounded(name: str, place):
    if hasattr(place, "node"):
        return pointwise(name, place)
    return float(getattr(np, "rint" if name == "round" else name)(place))


def quantile_place(method: str, q: float, count):
    """A number where the extent is one; its whole part is an element, the rest a share of the way to the next one."""
    count = astype(lift(count), np.float64) if isinstance(count, SymInt) else float(count)
    place = (count - 1) * q
    if method == "linear":
        return place
    if method in ("lower", "higher", "nearest"):
        return rounded({"lower": "floor", "higher": "ceil", "nearest": "round"}[method], place)
    if method == "midpoint":
        return 0.5 * (rounded("floor", place) + rounded("ceil", place))
    if method == "inverted_cdf":
        return rounded("ceil", count * q) - 1
    if method == "averaged_inverted_cdf":
        return 0.5 * (rounded("floor", count * q) + rounded("ceil", count * q) - 1)
    if method not in CONTINUOUS:
        raise Untraceable(f"'np.quantile' with method '{method}' has no graph operation")
    alpha, beta = CONTINUOUS[method]
    return count * q + (alpha + q * (1 - alpha - beta)) - 1
