"""Arrays that a reference holds, as nodes of the graph: one number, even steps, or element by element."""

from __future__ import annotations

import numpy as np

from strop.trace_array import Traced, astype, full
from strop.trace_dims import Untraceable
from strop.trace_layout import arange, concatenate, reshape

LARGEST_TABLE = 1024  # elements of an array of the reference that are written into the graph


def constant_array(value: np.ndarray) -> Traced:
    flat = value.reshape(-1)
    if flat.size and (flat == flat[0]).all():
        return full(value.shape, flat[0].item(), value.dtype)
    steps = np.diff(flat) if value.ndim == 1 and value.dtype.kind == "i" else np.array([0])
    if steps[0] > 0 and (steps == steps[0]).all():
        return arange(flat[0].item(), flat[-1].item() + 1, steps[0].item())
    if value.ndim == 1 and value.dtype.kind == "f" and (even := _evenly_spaced(value)) is not None:
        return even
    if not 1 <= flat.size <= LARGEST_TABLE:
        raise Untraceable(f"a constant array of {flat.size} elements")
    return reshape(concatenate([full((1,), item.item(), value.dtype) for item in flat], 0), value.shape)


def _evenly_spaced(value: np.ndarray) -> Traced | None:
    """What np.linspace computes, in float64 as NumPy does, where that gives every element."""
    count = value.size
    if count < 4:
        return None
    first, last = float(value[0]), float(value[-1])
    for start in (first, round(first, 6)):
        step = (round(last, 6) - start if start != first else last - start) / (count - 1)
        if (np.arange(count) * step + start).astype(value.dtype).tobytes() == value.tobytes():
            counts = astype(arange(count), np.float64)
            return astype(counts * full((), step, np.float64) + full((), start, np.float64), value.dtype)
    return None
