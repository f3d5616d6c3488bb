"""Comprehensions over extents that vary, and the functions that rewritten references call (trace_rewrite).

A comprehension runs as often as its loop has passes; what it makes is a list of steps (trace_lists).
"""

from __future__ import annotations

import builtins

from strop.trace_afterwards import let_alias
from strop.trace_array import GRAPH, Traced, full, is_number
from strop.trace_calls import call
from strop.trace_dims import SymInt, Untraceable, same
from strop.trace_layout import arange
from strop.trace_lists import StepList, as_list, total
from strop.trace_loops import Loop
from strop.trace_spellings import Extents, place_of
from strop.trace_states import UNBOUND
from strop.trace_walks import Walk, counted, counts, enumerate_, goes_on, reversed_, unchanged, zip_

COMPREHENSIONS: list[tuple[int, Loop]] = []


def each(items, place, called, number: int, watched, local, all_):
    """The items of a comprehension; where they vary in number, one for each pass."""
    loop = Loop(items, place, called, {"names": ["made"], "watched": watched})
    COMPREHENSIONS.append((number, loop))
    return _passes_of(loop, local, all_) if loop.varies else iter(loop)


def _passes_of(loop: Loop, local: dict, all_: dict):
    made: list = []
    for item in loop:
        if loop.symbolic:
            loop.kinds = loop.kinds or {("made",): ()}
            loop.made = loop.turn({**local, "made": loop.given.get("made", made)}, all_)[0]
            if loop.done:
                return
            item = loop.item
        yield item
        if not loop.symbolic:
            made.append(loop.element)


def element(number: int, value):
    if COMPREHENSIONS and COMPREHENSIONS[-1][0] == number:
        loop = COMPREHENSIONS[-1][1]
        loop.element = value
        if loop.symbolic:
            loop.given["made"].append(value)
    return value


def collect(number: int, made):
    """The list that a comprehension makes."""
    found, loop = COMPREHENSIONS.pop()
    while found != number:  # left by exceptions
        found, loop = COMPREHENSIONS.pop()
    if not loop.varies:
        return made
    COMPREHENSIONS.append((number, loop))
    for _ in made:  # a generator runs here
        pass
    COMPREHENSIONS.pop()
    one = loop.element
    if isinstance(one, Traced) and one.is_list and is_number(one.filled) and loop.walk is not None:  # a list of them
        return as_list(full((loop.walk.count, *one.shape), one.filled, one.dtype))
    return loop.made


def sequence(kind, items):
    """list() and tuple()."""
    if isinstance(items, StepList):
        return items
    if isinstance(items, Walk) and items.range:
        first, step = items.range
        numbers = arange(items.count)
        return as_list(numbers if same(step, 1) and same(first, 0) else numbers * step + first)
    if isinstance(items, Traced) and items.shape and isinstance(items.shape[0], SymInt):
        made = StepList([])
        rows = Traced(items.node, items.shape, items.dtype)
        made.middle = let_alias(rows, [(items._storage, items._version), *items.others])
        return made
    return kind(items)


def sum_(items, *start, **options):
    if isinstance(items, Traced) and items.shape and isinstance(items.shape[0], SymInt) and not options:
        dtype = None if items.dtype == bool else items.dtype
        added = call("sum", (items,), {"axis": 0, "dtype": dtype})
        added.weak = items.is_list and items.ndim == 1  # a number of Python's
        return added + start[0] if start else added
    return total(items, *start, **options) if isinstance(items, StepList) else builtins.sum(items, *start, **options)


def try_():
    if GRAPH.passes:
        raise Untraceable("'try' in a loop of varying length")


RUNTIME = {
    "_strop_try": try_,
    "_strop_loop": Loop,
    "_strop_unbound": UNBOUND,
    "_strop_counted": counted,
    "_strop_counts": counts,
    "_strop_unchanged": unchanged,
    "_strop_goes_on": goes_on,
    "_strop_extents": Extents,
    "_strop_place": place_of,
    "_strop_each": each,
    "_strop_element": element,
    "_strop_collect": collect,
    "_strop_sequence": sequence,
    "enumerate": enumerate_,
    "zip": zip_,
    "reversed": reversed_,
    "sum": sum_,
}
