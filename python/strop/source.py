"""The source of a function as a file of its own: the function, and what it uses of its module."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from typing import Any, Callable

from strop.program import BadInput


def source_of(function: Callable) -> str:
    """A Python file that defines `function`, the functions and constants that it uses, and its imports."""
    parts: dict[str, str] = {}
    imports: dict[str, None] = {}
    _collect(function, parts, imports)
    return "\n".join(imports) + "\n\n\n" + "\n\n".join(parts.values())


def _text(function: Callable) -> str:
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError):
        tree = None
    if tree is None or not isinstance(tree.body[0], ast.FunctionDef):
        raise BadInput(f"the source of {getattr(function, '__name__', function)!r} cannot be read",
                       "define it with `def` in a file or a notebook's cell, or give a problem folder")
    node = tree.body[0]
    node.decorator_list = []
    return (ast.get_source_segment(text, node) or "") + "\n"


def _collect(function: Callable, parts: dict[str, str], imports: dict[str, None]) -> None:
    if function.__name__ in parts:
        return
    parts[function.__name__] = ""    # a function may call itself
    text = _text(function)
    closure = inspect.getclosurevars(function)
    for name, value in {**closure.globals, **closure.nonlocals}.items():
        _add(name, value, function, parts, imports)
    del parts[function.__name__]     # behind what it uses
    parts[function.__name__] = text


def _add(name: str, value: Any, user: Callable, parts: dict[str, str], imports: dict[str, None]) -> None:
    if isinstance(value, types.ModuleType):
        imports[f"import {value.__name__} as {name}"] = None
    elif isinstance(value, types.FunctionType) and value.__module__ in (user.__module__, "__main__"):
        if value.__name__ != name:
            raise BadInput(f"{user.__name__} uses {value.__name__} as '{name}'", "use it by its own name")
        _collect(value, parts, imports)
    elif isinstance(value, (bool, int, float, str)) or value is None:
        parts.setdefault(name, f"{name} = {value!r}\n")
    elif getattr(value, "__module__", None) and hasattr(value, "__name__"):
        imports[f"from {value.__module__} import {value.__name__} as {name}"] = None
    else:
        raise BadInput(f"{user.__name__} uses '{name}', a {type(value).__name__} outside of it",
                       "pass it as an input, or make it inside of the function")
