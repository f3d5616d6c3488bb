"""Numbers that NumPy's functions make of Python's are Python's again, so that they take the precision of the arrays.

np.sqrt(0.01) * x is float64 since NumPy 2, whatever x is: an evaluation in float32 would tell nothing of the rounding
errors of one. Kernels compute such formulas in the type of their arrays.
"""

import contextlib
import functools
import types

import numpy as np


class Plain:
    """NumPy, or a module of it."""

    def __init__(self, module):
        self._strop_module = module

    def __getattr__(self, name):
        return plain(getattr(self._strop_module, name))


def plain(value):
    if isinstance(value, types.ModuleType):
        return Plain(value) if value.__name__.partition(".")[0] == "numpy" else value
    if isinstance(value, np.float64):
        return float(value)
    module = (getattr(value, "__module__", None) or "").partition(".")[0]
    if isinstance(value, np.ufunc) or (module == "numpy" and callable(value) and not isinstance(value, type)):
        return _with_plain_result(value)
    return value


def _with_plain_result(function):
    @functools.wraps(function, updated=())
    def call(*arguments, **options):
        result = function(*arguments, **options)
        of_arrays = any(isinstance(one, (np.ndarray, np.generic)) for one in arguments)
        return float(result) if isinstance(result, np.float64) and not of_arrays else result

    for name in ("reduce", "accumulate", "outer", "at", "reduceat"):  # of a ufunc
        if hasattr(function, name):
            setattr(call, name, getattr(function, name))
    return call


@contextlib.contextmanager
def plain_scalars(names: dict):
    """In a function whose globals these are."""
    changed = {name: new for name, value in names.items() if (new := plain(value)) is not value}
    kept = {name: names[name] for name in changed}
    names.update(changed)
    try:
        yield
    finally:
        names.update(kept)
