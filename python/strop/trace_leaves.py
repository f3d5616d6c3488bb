"""`break` and `continue` of a loop's body as branches that both sides of may be traced (trace_forks):

    if TEST: continue           becomes     if TEST: pass
    BODY                                    else: BODY

A `break` says `going = False`, too. What follows a branch that one side leaves sometimes is said in both sides.
"""

from __future__ import annotations

import ast
import copy

from strop.trace_syntax import ends_loop, placed, statements

MOST_REPEATED = 300  # nodes of what follows a branch, which both sides get
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def without_continue(body: list) -> list:
    """As it is where that does not do."""
    return _without(body, ast.Continue, "") or body


def without_leaves(body: list, going: str) -> list | None:
    """Neither `break` nor `continue`; None: that does not do."""
    return _without(body, (ast.Break, ast.Continue), going)


def _without(body: list, kinds, going: str) -> list | None:
    for place, one in enumerate(body):
        if isinstance(one, kinds):
            return [*body[:place], *_at(f"{going} = False" if isinstance(one, ast.Break) else "pass", one)]
        if not ends_loop(one, kinds):
            continue
        if not isinstance(one, ast.If):
            return None
        rest = body[place + 1 :]
        twice = not _always_ends(one.body) and not _always_ends(one.orelse)
        if twice and nodes_of(rest) > MOST_REPEATED:
            return None
        more = [[] if _always_ends(side) else rest for side in (one.body, one.orelse)]
        yes = _without([*one.body, *more[0]], kinds, going)
        no = _without([*one.orelse, *(copy.deepcopy(more[1]) if twice else more[1])], kinds, going)
        if yes is None or no is None:
            return None
        return [*body[:place], ast.copy_location(ast.If(one.test, yes or _at("pass", one), no), one)]
    return body


def _always_ends(body: list) -> bool:
    """Nothing that follows is reached."""
    last = body[-1] if body else None
    both = isinstance(last, ast.If) and _always_ends(last.body) and _always_ends(last.orelse)
    return isinstance(last, ENDS) or both


def nodes_of(body: list) -> int:
    return sum(1 for top in body for _ in ast.walk(top))


def _at(source: str, place) -> list:
    return [placed(one, place) for one in statements(source)]
