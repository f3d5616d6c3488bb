"""What the tables of PyTorch's operations share: their registry, PyTorch's types and its promotion.

An entry is called as PyTorch's operation is, behind the NumPy dtype of its (first) result. Tensors are traced
arrays, numbers stay numbers.
"""

from __future__ import annotations

import numpy as np

from strop.trace_array import Traced, astype, lift, pointwise
from strop.trace_dims import Untraceable
from strop.trace_graph import DTYPES

OPERATIONS: dict = {}  # "add" of aten.add.Tensor, or "max.dim" where overloads differ


def imports(*names):
    def register(function):
        for name in names:
            OPERATIONS[name] = function
        return function

    return register


HALVES = ("float16", "bfloat16")  # for tensors in memory: what is computed from them is float32


def numpy_dtype(dtype) -> np.dtype:
    """Of a torch.dtype, as it is computed in."""
    name = str(dtype).removeprefix("torch.")
    name = "float32" if name in HALVES else name
    if name not in DTYPES:
        raise Untraceable(f"dtype '{name}' is not supported")
    return np.dtype(name)


def as_dtype(value, dtype) -> Traced:
    """Numbers stay numbers: they take the type of what they meet."""
    value = lift(value)
    return value if value.weak or value.dtype == dtype else astype(value, dtype)


def compute(op: str, dtype, *operands) -> Traced:
    """The pointwise operation in `dtype`, as PyTorch converts its operands first."""
    return as_tensor(pointwise(op, *(as_dtype(operand, dtype) for operand in operands)), dtype)


def as_tensor(value, dtype) -> Traced:
    """A number becomes an array without axes."""
    value = lift(value)
    return astype(value, dtype) if value.weak or value.dtype != dtype else value


def _wider(a, b):
    if a is None or b is None:
        return a if b is None else b
    if (a.kind == "f") != (b.kind == "f"):
        return a if a.kind == "f" else b
    return np.promote_types(a, b)


def promoted(*values) -> np.dtype:
    """PyTorch's result type: arrays outweigh arrays without axes, and those numbers, unless of a lower kind."""
    order = "bif"
    result: np.dtype | None = None
    for level in ("array", "scalar", "number"):
        found = None
        for value in (lift(value) for value in values):
            if ("number" if value.weak else "array" if value.shape else "scalar") == level:
                dtype = np.dtype(np.float32) if value.weak and value.dtype.kind == "f" else value.dtype
                found = _wider(found, dtype)
        rank = order.index(found.kind.replace("u", "i")) if found is not None else -1
        if result is None or rank > order.index(result.kind.replace("u", "i")):
            result = found if found is not None else result
    assert result is not None
    return result


def per_axis(value, count: int) -> list:
    """PyTorch's 3 or [3] for [3, 3]."""
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values
