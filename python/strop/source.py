"""The source of a function as a file of its own: the function, and what it uses of its module."""

from __future__ import annotations

import ast
import dis
import importlib.util
import inspect
import math
import pathlib
import sysconfig
import textwrap
import types
from typing import Any, Callable, Iterator, Optional

from strop.program import BadInput

MOST_ELEMENTS = 1024  # of an array outside of the function, which is written out
DEFINE = "define it with `def` in a file or a notebook's cell, or give a problem folder"


def source_of(function: Callable) -> str:
    """A Python file that defines `function`, the functions and constants that it uses, and its imports.

    BadInput: the source cannot be read, or what it uses cannot be written.
    """
    file = _File()
    file.add_function(plain_function(function))
    return "\n".join(["from __future__ import annotations", *file.imports]) + "\n\n\n" + "\n\n".join(file.texts.values())


def plain_function(function: Any) -> types.FunctionType:
    """What was defined with `def`, below its decorators."""
    found = inspect.unwrap(getattr(function, "original", function))
    if isinstance(found, types.MethodType):
        raise BadInput(f"{found.__qualname__} is a method", "give a function of the inputs")
    if not isinstance(found, types.FunctionType):
        kind = "class" if isinstance(found, type) else type(found).__name__
        raise BadInput(f"a {kind} is no function with a source", DEFINE + "; of a PyTorch module give an instance, or its file")
    return found


def uses_torch(function: Callable) -> bool:
    """Whether it is a function of tensors."""
    plain = plain_function(function)
    used = (plain.__globals__.get(name) for name in _names_in(plain.__code__))
    modules = [getattr(one, "__name__" if isinstance(one, types.ModuleType) else "__module__", None) for one in used]
    return any(str(module).partition(".")[0] == "torch" for module in modules)


def _text(function: types.FunctionType) -> str:
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError):
        tree = None
    if tree is None or not isinstance(tree.body[0], ast.FunctionDef):
        raise BadInput(f"the source of {function.__name__!r} cannot be read", DEFINE)
    node = tree.body[0]
    node.decorator_list = []
    return (ast.get_source_segment(text, node) or "") + "\n"


def _names_in(code: types.CodeType) -> Iterator[str]:
    """The global names that it reads, in functions within it, too."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _names_in_defaults(text: str) -> list[str]:
    arguments = ast.parse(text).body[0].args  # type: ignore[attr-defined]
    defaults = [one for one in (*arguments.defaults, *arguments.kw_defaults) if one is not None]
    return [inner.id for one in defaults for inner in ast.walk(one) if isinstance(inner, ast.Name)]


def _cells(function: types.FunctionType) -> dict[str, Any]:
    """The variables of the functions around it."""
    filled = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            filled[name] = cell.cell_contents
        except ValueError:
            raise BadInput(f"{function.__name__} uses '{name}', which has no value yet") from None
    return filled


class _File:
    def __init__(self) -> None:
        self.imports: dict[str, None] = {}
        self.texts: dict[str, str] = {}       # by the name that is defined
        self.values: dict[str, Any] = {}      # what each name stands for

    def _takes(self, name: str, value: Any, user: str) -> bool:
        """Whether the name is new. Two things of one name cannot stand in one file."""
        if name not in self.values:
            self.values[name] = value
            return True
        known = self.values[name]
        same = known is value or (_literal(value) is not None and _literal(known) == _literal(value))
        if not same:
            raise BadInput(f"{user} uses '{name}', and another '{name}' is used beside it", "give one of them another name")
        return False

    def add_function(self, function: types.FunctionType) -> None:
        name = function.__name__
        if not self._takes(name, function, name):
            return
        text = _text(function)
        outside = {**function.__globals__, **_cells(function)}
        names = [*_names_in(function.__code__), *_cells(function), *_names_in_defaults(text)]
        for used in dict.fromkeys(names):
            if used in outside:
                self._add(used, outside[used], name)
        self.texts[name] = text               # behind what it uses

    def _add(self, name: str, value: Any, user: str) -> None:
        own = inspect.unwrap(getattr(value, "original", value)) if callable(value) else value
        if isinstance(own, types.FunctionType) and _is_own(own.__module__):
            if own.__name__ != name:
                raise BadInput(f"{user} uses {own.__name__} as '{name}'", "use it by its own name")
            self.add_function(own)
        elif isinstance(value, types.ModuleType):
            if _is_own(value.__name__):
                raise BadInput(f"{user} uses the module '{value.__name__}', which is not installed",
                               f"import what it uses by its name: from {value.__name__} import ...")
            if self._takes(name, value, user):
                self.imports[f"import {value.__name__} as {name}"] = None
        elif (literal := _literal(value)) is not None:
            if self._takes(name, value, user):
                if "numpy." in literal:
                    self.imports["import numpy"] = None
                self.texts[name] = f"{name} = {literal}\n"
        elif hasattr(value, "__name__") and not _is_own(getattr(value, "__module__", None)):
            if self._takes(name, value, user):
                self.imports[f"from {value.__module__} import {value.__name__} as {name}"] = None
        else:
            raise BadInput(f"{user} uses '{name}', a {type(value).__name__} outside of it",
                           "pass it as an input, or make it inside of the function")


def _is_own(module: Optional[str]) -> bool:
    """Whether it is the user's: the script, or a file that is not installed."""
    if module is None or module == "__main__":
        return True
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return True
    if spec is None or spec.origin in (None, "built-in", "frozen"):
        return spec is None
    paths = sysconfig.get_paths()
    places = {pathlib.Path(paths[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return not places & set(pathlib.Path(str(spec.origin)).resolve().parents)


def _literal(value: Any) -> Optional[str]:
    """A constant as Python writes it."""
    import numpy as np

    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return f"numpy.{type(value).__name__}({_literal(value.item())})"
    if type(value) is np.ndarray and value.dtype.kind in "biuf" and value.size <= MOST_ELEMENTS:
        return f"numpy.array({_literal(value.tolist())}, dtype='{value.dtype.name}')"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if isinstance(value, (bool, int, str)) or value is None:
        return repr(value) if type(value) in (bool, int, str, type(None)) else None
    if type(value) in (tuple, list):
        parts = [_literal(one) for one in value]
        if any(part is None for part in parts):
            return None
        inside = ", ".join(str(part) for part in parts)
        return f"[{inside}]" if type(value) is list else f"({inside}{',' if len(parts) == 1 else ''})"
    return None
