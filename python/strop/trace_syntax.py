"""New syntax in the place of a reference's own."""

from __future__ import annotations

import ast


LOOPS = (ast.For, ast.While)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def number_of(node) -> int:
    """Of the statement in its file."""
    return node.lineno * 1000 + node.col_offset


def returns(node) -> bool:
    """The function around."""
    if isinstance(node, SCOPES):
        return False
    return isinstance(node, ast.Return) or any(map(returns, ast.iter_child_nodes(node)))


def ends_loop(node, how) -> bool:
    """Whether it has a `break`, or a `continue`, of the loop around."""
    if isinstance(node, SCOPES):
        return False
    parts = node.orelse if isinstance(node, LOOPS) else ast.iter_child_nodes(node)
    return isinstance(node, how) or any(ends_loop(one, how) for one in parts)


def statements(source: str) -> list:
    return ast.parse(source).body


def statement(source: str):
    return statements(source)[0]


def placed(new, place, *kept):
    """Gives new nodes the place of the loop, and leaves the reference's own theirs."""
    skip = {id(inner) for one in kept for inner in ast.walk(one)}
    for inner in ast.walk(new):
        if id(inner) not in skip:
            for key in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                if "lineno" in inner._attributes:
                    setattr(inner, key, getattr(place, key))
    return new
