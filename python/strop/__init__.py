"""Strop from Python.

    import strop
    result = strop.optimize(softmax, inputs={"x": "float32[M, N]"}, shapes={"large": {"M": 4096, "N": 4096}})
    y = result(x)

The names below are loaded when they are first used: the tracer and the hosts of references live in the same package
and need none of them.
"""

import importlib

_PLACES = {
    "optimize": "optimizing", "judge": "optimizing", "tune": "optimizing", "profile": "optimizing",
    "Result": "result", "Archive": "archive", "kernel": "decorator",
    "StropError": "program", "BadInput": "program", "MissingRequirement": "program",
}

__all__ = sorted(_PLACES)


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module 'strop' has no attribute '{name}'")
    return getattr(importlib.import_module(f"strop.{_PLACES[name]}"), name)


def __dir__():
    return __all__
