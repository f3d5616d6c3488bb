"""Places of elements that are found by their values: np.nonzero, np.where of a condition alone, np.triu_indices.

They are numbers as elements that a mask keeps are (trace_masks). As an index those of all axes together stand for the
mask itself.
"""

from __future__ import annotations

from strop import trace_layout as layout
from strop.trace_array import Traced, broadcast_to, lift, pointwise
from strop.trace_calls import HANDLERS, handles
from strop.trace_dims import Untraceable
from strop.trace_masks import Masked


class Found(Masked):
    """Along one axis of a mask, the places of what it keeps."""

    def __init__(self, mask: Traced, axis: int):
        self.axis = axis
        along = layout.places_along(mask.shape[axis], mask.ndim - 1 - axis)
        super().__init__(broadcast_to(along, mask.shape), mask)


def found(mask) -> tuple[Found, ...]:
    mask = lift(mask)
    if mask.ndim == 0:
        raise Untraceable("the places of a number that is not 0")
    kept = Traced(mask.node, mask.shape, mask.dtype)
    return tuple(Found(kept, axis) for axis in range(mask.ndim))


def with_masks(key):
    """A key in which masks stand for the places that were found by them."""
    entries = list(key) if isinstance(key, tuple) else [key]
    result: list = []
    while entries:
        first = entries[0]
        if not isinstance(first, Found):
            result.append(entries.pop(0))
            continue
        run, entries = entries[: first.mask.ndim], entries[first.mask.ndim :]
        places = [one.axis if isinstance(one, Found) and one.mask is first.mask else None for one in run]
        if places != list(range(first.mask.ndim)):
            raise Untraceable("places that were found by a mask index an array without those of its other axes")
        result.append(first.mask)
    return tuple(result) if isinstance(key, tuple) and len(result) > 1 else result[0]


# ---- NumPy's names -----------------------------------------------------------------------------------------


@handles("nonzero")
def nonzero(x):
    x = lift(x)
    return found(x if x.dtype == bool else pointwise("not_equal", x, 0))


HANDLERS["flatnonzero"] = lambda x: nonzero(layout.reshape(lift(x), (-1,)))[0]
HANDLERS["triu_indices"] = lambda n, k=0, m=None: found(layout.triangle(n, n if m is None else m, k, False))
HANDLERS["tril_indices"] = lambda n, k=0, m=None: found(layout.triangle(n, n if m is None else m, k, True))
HANDLERS["triu_indices_from"] = lambda x, k=0: HANDLERS["triu_indices"](x.shape[-2], k, x.shape[-1])
HANDLERS["tril_indices_from"] = lambda x, k=0: HANDLERS["tril_indices"](x.shape[-2], k, x.shape[-1])
