"""What Python's own code makes of extents while a program is exported: `if n > 64`, `int(0.5 * n)`. The program is the one
for the example's extents, and torch.export does not always say so."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Sequence

import sympy  # a dependency of PyTorch
import torch

from strop.trace_dims import SymInt, Untraceable, text

# What PyTorch's other parts ask of extents is about strides and copies: the results are the same.
ASKED_BY_USERS = os.path.join(os.path.dirname(torch.__file__), "nn") + os.sep
PYTORCH = os.path.dirname(torch.__file__) + os.sep


def _extents(program) -> Iterator[torch.SymInt]:
    for node in program.graph.nodes:
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.Tensor):
            yield from (extent for extent in node.meta["val"].shape if isinstance(extent, torch.SymInt))


def _environment(program) -> Any:
    """That of PyTorch's symbols; None where nothing varies."""
    return next((extent.node.shape_env for extent in _extents(program)), None)


def _decisions(program) -> Iterator[tuple[Any, str]]:
    """Conditions over PyTorch's symbols that hold for the example, and where they were asked for."""
    for guard in getattr(_environment(program), "guards", ()):
        frame: Any = getattr(getattr(guard, "sloc", None), "framework_loc", None)  # of PyTorch 2.6 and later
        path = getattr(frame, "filename", PYTORCH)
        if path.startswith(ASKED_BY_USERS) or not path.startswith(PYTORCH):
            yield guard.expr, f"{os.path.basename(path)}:{frame.lineno}"


def settle(program) -> None:
    """An extent that Python has made a number of is that number in the program: is_fixed() says so from here on."""
    environment = _environment(program)
    hints = {extent.node.expr: extent.node.hint for extent in _extents(program) if extent.node.expr.is_symbol}
    for condition, _ in _decisions(program):
        if isinstance(condition, sympy.Eq) and condition.rhs.is_number and not _is_remainder(condition.lhs):
            for symbol in condition.free_symbols & hints.keys():
                environment._set_replacement(symbol, sympy.Integer(hints[symbol]), "Python's code has made a number of it")


def _is_remainder(expression) -> bool:
    """Extents with that remainder vary in steps."""
    return type(expression).__name__ in ("Mod", "PythonMod")


def refuse_other_ways(program, placeholders: Sequence[Any], inputs: Sequence[Any], points: Sequence[Mapping[str, int]],
                      evaluated) -> None:
    """Untraceable where the reference goes another way at one of `points`, or has extents that the problem has not."""
    pairs = [(seen, extent) for node, traced in zip(placeholders, inputs)
             for seen, extent in zip(node.meta["val"].shape, traced.shape) if isinstance(seen, torch.SymInt)]
    for dims in points:
        values = {seen.node.expr: sympy.Integer(evaluated(extent, dims)) for seen, extent in pairs if seen.node.expr.is_symbol}
        at = ", ".join(f"{name}={size}" for name, size in dims.items())
        for seen, extent in pairs:
            if isinstance(extent, SymInt) and seen.node.expr.xreplace(values) != evaluated(extent, dims):
                raise Untraceable(f"the reference is for {text(extent)} = {seen.node.expr.xreplace(values)} at {at}")
        for condition, place in _decisions(program):
            if condition.xreplace(values) == sympy.false:
                raise Untraceable(f"the reference decides on extents, and otherwise at {at} ({place})")
