"""`return` in a loop, as a `break` and a `return` after it:

    for TARGET in ITER:         becomes     _returned, _found = False, _strop_unset(N)
        if TEST: return A                   for TARGET in ITER:
        BODY                                    if TEST:
                                                    _found, _returned = _strop_found(N, A), True
                                                    break
                                                BODY
                                            if _returned: return _found

What `_found` is before a value has it is nothing that anybody reads, but has to have its shape: that is known once A was
traced, and the trace starts again.
"""

from __future__ import annotations

import ast
from typing import Any

from strop.trace_array import GRAPH, Traced, full, is_number, lift
from strop.trace_dims import SymInt, Untraceable, steps_in
from strop.trace_syntax import LOOPS, SCOPES, number_of, placed, returns, statements

LISTS = ("body", "orelse", "finalbody")
OTHER = "'return' in a loop of what is neither a number nor an array of one shape"


# ---- the rewriting ---------------------------------------------------------------------------------------


def without_returns_in_loops(body: list) -> list:
    """The statements of a function."""
    result: list = []
    for one in body:
        if isinstance(one, SCOPES) or not returns(one):
            result.append(one)
        elif isinstance(one, LOOPS):
            result += [one] if one.orelse or _always_returns(one) else _loop(one)
        else:
            for name in LISTS:
                if isinstance(getattr(one, name, None), list):
                    setattr(one, name, without_returns_in_loops(getattr(one, name)))
            result.append(one)
    return result


def _always_returns(loop) -> bool:
    """In its first step, or in that of a loop in it."""
    return any(isinstance(one, ast.Return) or (isinstance(one, LOOPS) and _always_returns(one)) for one in loop.body)


def _loop(node) -> list:
    number = number_of(node)
    returned, found = f"_strop_returned_{number}", f"_strop_found_{number}"
    before = statements(f"{returned} = False\n{found} = _strop_unset({number})")
    after = statements(f"if {returned}: return {found}")
    node.body = _with_breaks(node.body, number)
    return [*(placed(one, node) for one in before), node, *(placed(one, node) for one in after)]


def _with_breaks(body: list, number: int) -> list:
    result: list = []
    for one in body:
        if isinstance(one, ast.Return):
            value = one.value or ast.copy_location(ast.Constant(None), one)
            new = statements(f"_strop_found_{number} = _strop_found({number}, 0)\n_strop_returned_{number} = True\nbreak")
            new[0].value.args[1] = value
            new[-1].called = "return"
            return [*result, *(placed(part, one, value) for part in new)]
        result.append(one)
        if isinstance(one, SCOPES) or not returns(one):
            continue
        if isinstance(one, LOOPS) and one.orelse:
            continue  # stays as it is
        for name in LISTS:
            if isinstance(getattr(one, name, None), list):
                setattr(one, name, _with_breaks(getattr(one, name), number))
        if isinstance(one, LOOPS):
            result += [placed(part, one) for part in statements(f"if _strop_returned_{number}: break")]
    return result


# ---- while it is traced ----------------------------------------------------------------------------------


class ResultUnknown(Untraceable):
    """The shape of what a loop returns is known now."""


def unset(number: int):
    known = GRAPH.results.get(number)
    return None if known is None else _made(known)


def found(number: int, value):
    """Where Python decides whether it comes here nothing has to be known before."""
    if GRAPH.forks and number not in GRAPH.results:
        GRAPH.results[number] = _kind_of(value)
        raise ResultUnknown("'return' in a loop whose result is not followed")
    return value


def _kind_of(value):
    if isinstance(value, (tuple, list)):
        return type(value), [_kind_of(one) for one in value]
    if not isinstance(value, (Traced, SymInt, bool)) and not is_number(value):
        raise Untraceable(OTHER)
    if isinstance(value, SymInt):
        return int
    traced = lift(value)
    if any(steps_in(extent) for extent in traced.shape):
        raise Untraceable(OTHER)
    return {"b": bool, "f": float}.get(traced.dtype.kind, int) if traced.weak else (traced.shape, traced.dtype)


def _made(kind: Any):
    if isinstance(kind, type):
        return kind(0)
    if isinstance(kind[0], type):
        return kind[0](_made(one) for one in kind[1])
    return full(kind[0], 0, kind[1])


RUNTIME = {"_strop_unset": unset, "_strop_found": found}
