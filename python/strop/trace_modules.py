"""Stand-ins for what a reference imports and for the built-in functions that insist on real numbers.

NumPy's protocols see arrays; they do not see np.zeros((M, N)), np.sqrt(N) or len(x) with a symbolic M. A
reference therefore runs with modules that forward everything but what touches traced values.
"""

from __future__ import annotations

import builtins
import functools
import types
from typing import Any

import numpy as np

from strop.trace_arrangement import Mesh
from strop.trace_array import Traced, astype, lift, result_type
from strop.trace_calls import HANDLERS, call
from strop.trace_complex import Complex
from strop.trace_dims import SymInt, Untraceable, extremum, is_int
from strop.trace_indexing import getitem
from strop.trace_lists import StepList
from strop.trace_ragged import Ragged
from strop.trace_comprehensions import RUNTIME
from strop.trace_forks import RUNTIME as FORKS
from strop.trace_returns import RUNTIME as RETURNS
from strop.trace_rewrite import rewritten
from strop.trace_walks import Walk, range_

PREFIXES = {"numpy": "", "math": "math.", "scipy": ""}
# Made traced even from plain numbers, since traced values are stored into them later.
CREATION = {"zeros", "ones", "empty", "full", "eye", "identity", "tri", "vectorize", "frompyfunc"}


def is_traced(value) -> bool:
    if isinstance(value, (Traced, SymInt, StepList, Ragged, Complex)):
        return True
    if isinstance(value, (list, tuple)):
        return any(is_traced(item) for item in value)
    if isinstance(value, dict):
        return any(is_traced(item) for item in value.values())
    return isinstance(value, slice) and is_traced((value.start, value.stop, value.step))


def plain(value):
    """Without stand-ins: what the real function may be given."""
    if isinstance(value, (TypeStandIn, Function)):
        return value.real
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(plain(item) for item in value)
    return value


class Constant(np.ndarray):
    """An array that the reference made, which may be read at traced places."""

    def __getitem__(self, key):
        return getitem(lift(np.asarray(self)), key) if is_traced(key) else super().__getitem__(key)

    def take(self, indices, *arguments, **options):
        if is_traced(indices):
            return call("take", (np.asarray(self), indices, *arguments), options)
        return super().take(indices, *arguments, **options)


class Function:
    """A function or ufunc of a module."""

    def __init__(self, name, real):
        self.name, self.real = name, real
        self.__name__ = getattr(real, "__name__", name)

    def __call__(self, *arguments, **options):
        if self.name in CREATION or is_traced(arguments) or is_traced(options):
            options = {key: plain(value) for key, value in options.items()}
            arguments = [value if callable(value) else plain(value) for value in arguments]
            return call(self.name, arguments, options)
        result = self.real(*plain(arguments), **{key: plain(value) for key, value in options.items()})
        return result.view(Constant) if type(result) is np.ndarray else result

    def __getattr__(self, attribute):
        member = getattr(self.real, attribute)
        return Function(f"{self.name}.{attribute}", member) if callable(member) else member


class TypeStandIn:
    """np.float32, int, ...: converts traced values, and is a dtype and a class for isinstance."""

    def __init__(self, real, convert, accepts):
        self.real, self._convert, self._accepts = real, convert, accepts
        self.__name__ = real.__name__
        if issubclass(real, (np.generic, int, float)):
            self.dtype = np.dtype(real)

    def __call__(self, *arguments, **options):
        if is_traced(arguments):
            return self._convert(*arguments)
        return self.real(*arguments, **options)

    def __instancecheck__(self, value):
        return isinstance(value, self.real) or self._accepts(value)

    def __getattr__(self, attribute):
        return getattr(self.real, attribute)

    def __eq__(self, other):
        return self.real == plain(other)

    def __hash__(self):
        return hash(self.real)

    def __or__(self, other):
        return self.real | plain(other)

    __ror__ = __or__


def scalar_type(real) -> TypeStandIn:
    return TypeStandIn(
        real,
        lambda value: value if isinstance(value, SymInt) else astype(lift(value), real),
        lambda value: False,
    )


class Module(types.ModuleType):
    """Forwards to a real module; functions and types become stand-ins."""

    def __init__(self, real, prefix):
        super().__init__(real.__name__)
        self.__dict__["_real"], self.__dict__["_prefix"] = real, prefix

    def __getattr__(self, name):
        try:
            real = getattr(self._real, name)
        except AttributeError:
            if self._prefix + name in HANDLERS:  # from an older or newer NumPy
                real = HANDLERS[self._prefix + name]
            else:
                raise
        result = self._stand_in(name, real)
        self.__dict__[name] = result
        return result

    def _stand_in(self, name, real):
        if isinstance(real, types.ModuleType):
            return Module(real, f"{self._prefix}{name}.")
        if real is np.ndarray:
            return TypeStandIn(
                real, lambda *_: _refuse("np.ndarray"), lambda value: isinstance(value, Traced)
            )
        if isinstance(real, type) and issubclass(real, np.generic):
            return scalar_type(real) if real.__module__ == "numpy" and _is_concrete(real) else real
        if self._prefix + name in CREATION or (callable(real) and not isinstance(real, type)):
            return Function(self._prefix + name, real)
        if name in ("mgrid", "ogrid"):
            return Mesh(real, sparse=name == "ogrid")
        return _IndexJoin(name) if name in ("c_", "r_") else real


class _IndexJoin:
    def __init__(self, name):
        self.name = name

    def __getitem__(self, key):
        """np.c_[a, b] puts columns side by side, np.r_[a, 1, b] rows one below the other."""
        items = key if isinstance(key, tuple) else (key,)
        if any(isinstance(one, (slice, str)) for one in items):
            _refuse(f"np.{self.name} of slices")
        values = [lift(one) for one in items]
        dtype, _ = result_type(values)
        values = [astype(one, dtype) for one in values]
        if self.name == "c_":
            shapes = [(*one.shape, 1) if one.ndim == 1 else one.shape for one in values]
        else:
            shapes = [one.shape or (1,) for one in values]
        parts = [call("reshape", (one, shape), {}) for one, shape in zip(values, shapes)]
        return call("concatenate", (parts,), {"axis": -1 if self.name == "c_" else 0})


def _is_concrete(real) -> bool:
    try:
        return np.dtype(real).type is real
    except TypeError:
        return False


def _refuse(name):
    raise Untraceable(f"'{name}' has no graph operation")


# ---- built-in functions --------------------------------------------------------------------------------


def _len(value):
    if hasattr(value, "length"):
        return value.length()
    return value.shape[0] if isinstance(value, Traced) and value.shape else len(value)


def _varies(value) -> bool:
    return isinstance(value, Traced) and value.ndim > 0 and isinstance(value.shape[0], SymInt)


def _extremum(name):
    real = getattr(builtins, name)

    def apply(*values, **options):
        if len(values) == 1 and isinstance(values[0], StepList) and not options:
            entries = values[0].joined()
            if entries.ndim == 1:
                return call(name, (entries,), {})
        if len(values) == 1 and _varies(values[0]) and values[0].ndim == 1 and not options:
            return call(name, values, {})
        items = list(values[0]) if len(values) == 1 else list(values)
        if not is_traced(items):
            return real(*values, **options)
        if options.get("key") is not None:
            raise Untraceable(f"{name}() with a key")
        if all(isinstance(item, SymInt) or is_int(item) for item in items):
            return extremum(name, items)
        result = items[0]
        for item in items[1:]:
            result = call("maximum" if name == "max" else "minimum", (result, item), {})
        return result

    return apply


def _truth(name):
    """any() and all()"""
    real = getattr(builtins, name)

    def apply(items):
        if isinstance(items, StepList):
            return call(name, (items.joined(),), {})
        if _varies(items) and items.ndim == 1:
            return call(name, (items,), {})
        items = list(items)
        if not is_traced(items):
            return real(items)
        return functools.reduce(lambda a, b: call("logical_or" if name == "any" else "logical_and", (a, b), {}), items)

    return apply


def _to_float(value=0.0):
    value = lift(value)
    if value.shape:
        raise Untraceable("float() of an array")
    if value.weak and value.dtype.kind == "f":
        return value
    result = astype(value, np.float64 if value.dtype.kind != "f" else value.dtype)
    result.weak = value.weak
    return result


def _to_int(value=0):
    if isinstance(value, SymInt):
        return value
    value = lift(value)
    if value.shape:
        raise Untraceable("int() of an array")
    whole = astype(call("trunc", (value,), {}) if value.dtype.kind == "f" else value, np.int64)
    whole.weak = True
    return whole


def _same(a, b) -> bool:
    """a is b; of the number of a step, as of small integers; of a type and what stands for it here."""
    a, b = (value.real if isinstance(value, (TypeStandIn, Function)) else value for value in (a, b))
    numbers = isinstance(a, (SymInt, int)) and isinstance(b, (SymInt, int))
    return bool(a == b) if numbers and (isinstance(a, SymInt) or isinstance(b, SymInt)) else a is b


def _isinstance(value, kinds) -> bool:
    """Of a traced value, as of what NumPy has in its place."""
    if isinstance(value, Ragged):
        value = value.whole
    if not isinstance(value, Traced):
        return isinstance(value, kinds)
    if value.mixed:
        raise Untraceable("isinstance() of what a branch has chosen among different types")
    if value.weak:
        like: Any = {"f": 0.0, "b": False}.get(value.dtype.kind, 0)
    else:
        like = np.empty((0,) * value.ndim, value.dtype) if value.shape else value.dtype.type(0)
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    return isinstance(like, tuple(kind.real if isinstance(kind, (TypeStandIn, Function)) else kind for kind in kinds))


def _type(value, *rest):
    return BUILTINS["int"] if isinstance(value, SymInt) else type(value, *rest)


def _import(name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002
    module = builtins.__import__(name, globals, locals, fromlist, level)
    root = name.partition(".")[0]
    if level or root not in PREFIXES:
        return module
    stand_in = STAND_INS.setdefault(root, Module(builtins.__import__(root), PREFIXES[root]))
    if fromlist:
        for part in name.split(".")[1:]:
            stand_in = getattr(stand_in, part)
    return stand_in


STAND_INS: dict = {}

BUILTINS = {
    **vars(builtins),
    **RUNTIME,
    **RETURNS,
    **FORKS,
    "_strop_same": _same,
    "__import__": _import,
    "len": _len,
    "range": TypeStandIn(range, range_, lambda value: isinstance(value, Walk)),
    "min": _extremum("min"),
    "max": _extremum("max"),
    "any": _truth("any"),
    "all": _truth("all"),
    "float": TypeStandIn(float, _to_float, lambda value: False),
    "int": TypeStandIn(int, _to_int, lambda value: isinstance(value, SymInt)),
    "isinstance": _isinstance,
    "type": TypeStandIn(type, _type, lambda value: isinstance(value, TypeStandIn)),
}


@functools.lru_cache(maxsize=4)
def compiled(source: str, path: str):
    return compile(rewritten(source, path), path, "exec", dont_inherit=True, optimize=1)


def run_module(path: str) -> dict:
    """The globals of the reference file. Its assertions are preconditions and are left out."""
    with open(path, encoding="utf-8") as file:
        code = compiled(file.read(), path)
    names = {"__builtins__": BUILTINS, "__name__": "reference", "__file__": path}
    exec(code, names)
    return names
