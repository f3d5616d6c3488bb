"""How inputs of whole numbers are drawn, by the values of an example."""

from __future__ import annotations

import math
from typing import Any

CHANCE = 1e-6  # that an example without small numbers had only missed them


def drawn(dtype: str, low: int, high: int, count: int) -> dict[str, Any]:
    """The entries of problem.yaml, for an example of `count` values from `low` to `high`. Indices begin at 0, also where
    a short example does not hold it; where a long one holds nothing below 1, say, nothing below it is meant."""
    if dtype == "int8":
        return {"fill": "integers", "limit": min(128, max(1, high + 1, -low))}
    if low > 0 and (low == high or count * math.log1p(-low / (high + 1)) > math.log(CHANCE)):
        low = 0
    if low == high < 0:
        high = 0    # never constant, so that nothing is right by luck
    return {"fill": "integers", **({"from": low} if low else {}), "limit": high + 1}
