"""New syntax in the place of a reference's own."""

from __future__ import annotations

import ast


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
