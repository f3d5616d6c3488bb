"""Python's operators on traced arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strop.trace_dims import Untraceable

if TYPE_CHECKING:
    from strop.trace_array import Traced

BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "power",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
COMPARED = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}


class Operators:
    """What Traced is made of, too."""

    if TYPE_CHECKING:  # they are added below, from one table

        def __add__(self, other: Any) -> Traced: ...
        def __radd__(self, other: Any) -> Traced: ...
        def __sub__(self, other: Any) -> Traced: ...
        def __rsub__(self, other: Any) -> Traced: ...
        def __mul__(self, other: Any) -> Traced: ...
        def __rmul__(self, other: Any) -> Traced: ...
        def __truediv__(self, other: Any) -> Traced: ...
        def __rtruediv__(self, other: Any) -> Traced: ...
        def __floordiv__(self, other: Any) -> Traced: ...
        def __rfloordiv__(self, other: Any) -> Traced: ...
        def __mod__(self, other: Any) -> Traced: ...
        def __rmod__(self, other: Any) -> Traced: ...
        def __pow__(self, other: Any) -> Traced: ...
        def __rpow__(self, other: Any) -> Traced: ...
        def __matmul__(self, other: Any) -> Traced: ...
        def __rmatmul__(self, other: Any) -> Traced: ...
        def __and__(self, other: Any) -> Traced: ...
        def __rand__(self, other: Any) -> Traced: ...
        def __or__(self, other: Any) -> Traced: ...
        def __ror__(self, other: Any) -> Traced: ...
        def __xor__(self, other: Any) -> Traced: ...
        def __rxor__(self, other: Any) -> Traced: ...
        def __lshift__(self, other: Any) -> Traced: ...
        def __rlshift__(self, other: Any) -> Traced: ...
        def __rshift__(self, other: Any) -> Traced: ...
        def __rrshift__(self, other: Any) -> Traced: ...
        def __lt__(self, other: Any) -> Traced: ...
        def __le__(self, other: Any) -> Traced: ...
        def __gt__(self, other: Any) -> Traced: ...
        def __ge__(self, other: Any) -> Traced: ...
        def __neg__(self) -> Traced: ...
        def __abs__(self) -> Traced: ...
        def __invert__(self) -> Traced: ...

    def __pos__(self):
        return self

    def __round__(self, digits=0):
        if digits:
            raise Untraceable("'round() to digits' has no graph operation")
        return _called("round", self)


def _called(name: str, *operands):
    from strop.trace_calls import call

    return call(name, operands, {})


def _applied(name: str, *operands):
    from strop.trace_array import Traced

    if any(value is None or isinstance(value, str) for value in operands):
        return NotImplemented
    if any(isinstance(value, Traced) and value.is_list for value in operands):
        raise Untraceable("a list of varying length in arithmetic: make an array of it")
    return _called(name, *operands)


def _in_place(name: str, array: Traced, other):
    result = _applied(name, array, other)
    if array.weak or not array.shape:  # numbers are immutable: the name is bound anew
        return result
    if not np.can_cast(result.dtype, array.dtype, "same_kind"):
        raise Untraceable(f"{result.dtype} cannot be stored in a {array.dtype} array in place")
    return array.assign(result)


for python, function in (BINARY | COMPARED).items():
    setattr(Operators, f"__{python}__", lambda self, other, name=function: _applied(name, self, other))
for python, function in BINARY.items():
    setattr(Operators, f"__r{python}__", lambda self, other, name=function: _applied(name, other, self))
    setattr(Operators, f"__i{python}__", lambda self, other, name=function: _in_place(name, self, other))
for python, function in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
    setattr(Operators, f"__{python}__", lambda self, name=function: _called(name, self))
