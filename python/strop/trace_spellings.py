"""Other ways to say what the rewriter knows: map(f, x), and loops over np.ndindex and np.ndenumerate.

    map(f, x)                               becomes     (f(item) for item in x)
    for i, j in np.ndindex(SHAPE): BODY     becomes     loops over the range of each extent
"""

from __future__ import annotations

import ast

from strop.trace_dims import Untraceable
from strop.trace_layout import shape_of
from strop.trace_syntax import ends_loop, placed, statement, statements

MOST_AXES = 4


def spelled_out(tree: ast.Module) -> ast.Module:
    bound = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    bound |= {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    bound |= {one.name for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
    return Spellings(bound).visit(tree)


class Spellings(ast.NodeTransformer):
    def __init__(self, bound: set[str]):
        self.bound = bound
        self.count = 0

    def visit_Call(self, node):
        self.generic_visit(node)
        plain = not node.keywords and not any(isinstance(one, ast.Starred) for one in node.args)
        if not isinstance(node.func, ast.Name) or node.func.id != "map" or "map" in self.bound:
            return node
        if not plain or len(node.args) < 2:
            return node
        self.count += 1
        item = f"_strop_mapped_{self.count}"
        function, *given = node.args
        source = f"(0({item}) for {item} in 1)" if len(given) == 1 else f"(0(*{item}) for {item} in zip())"
        made = ast.parse(source, mode="eval").body
        assert isinstance(made, ast.GeneratorExp) and isinstance(made.elt, ast.Call)
        made.elt.func = function
        if len(given) == 1:
            made.generators[0].iter = given[0]
        else:
            made.generators[0].iter.args = given  # type: ignore[attr-defined]
        return placed(made, node, *node.args)

    def visit_For(self, node):
        self.generic_visit(node)
        name = _function_of(node.iter)
        if name not in ("ndindex", "ndenumerate") or node.orelse or any(ends_loop(one, ast.Break) for one in node.body):
            return node
        self.count += 1
        shape, places = f"_strop_extents_{self.count}", [f"_strop_place{i}_{self.count}" for i in range(MOST_AXES)]
        start = statement(f"{shape} = _strop_extents({name!r})")
        start.value.args += node.iter.args  # type: ignore[attr-defined]
        target = statement(f"_ = _strop_place({shape}, {', '.join(places)})")
        target.targets = [node.target]  # type: ignore[attr-defined]
        body = [target, *node.body]
        for axis in reversed(range(MOST_AXES)):
            (loop,) = statements(f"for {places[axis]} in range({shape}.each[{axis}]): pass")
            loop.body, loop.place = body, (node.lineno, axis)  # type: ignore[attr-defined]
            body = [loop]
        for new in (start, *body):
            placed(new, node, *node.iter.args, *node.body, node.target)
        return [start, *body]


def _function_of(call) -> str:
    """Of np.NAME(...)."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return ""
    module = call.func.value
    return call.func.attr if isinstance(module, ast.Name) and module.id in ("np", "numpy") else ""


class Extents:
    """What np.ndindex(...) or np.ndenumerate(array) goes over."""

    def __init__(self, name: str, *arguments):
        self.array = arguments[0] if name == "ndenumerate" else None
        shape = self.array.shape if self.array is not None else arguments[0] if len(arguments) == 1 else arguments
        self.shape = shape_of(shape)
        if len(self.shape) > MOST_AXES:
            raise Untraceable(f"'np.{name}' over more than {MOST_AXES} axes")
        self.each = [1] * (MOST_AXES - len(self.shape)) + list(self.shape)


def place_of(extents: Extents, *places):
    place = places[MOST_AXES - len(extents.shape) :]
    return place if extents.array is None else (place, extents.array[place])
