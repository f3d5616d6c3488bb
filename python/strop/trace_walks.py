"""What a loop of varying length goes over: range(T), an array whose first extent varies, and enumerate, zip and
reversed of them."""

from __future__ import annotations

import builtins
import math
import operator
import re
from typing import Callable

from strop.trace_array import GRAPH, Traced, is_number
from strop.trace_dims import SymInt, Untraceable, is_int, same, text, undecided
from strop.trace_lists import StepList
from strop.trace_sizes import count_where_taken

LONG = 16  # steps
LET_IT_COUNT = "let it count its steps too, as in 'and k < 50'"


class Walk:
    """`count` items, which `at` gives for a number from 0 on."""

    def __init__(self, count, at: Callable, range_=None):
        self.count, self.at = count, at
        self.range = range_  # of numbers: the first one, and by how much each is more than the one before

    def length(self):
        return self.count

    def __getitem__(self, place):
        if isinstance(place, slice):
            raise undecided(self.count)
        return self.at(place if not is_int(place) or place >= 0 else self.count + place)

    def _undecided(self, *_):
        raise undecided(self.count)

    __iter__ = __len__ = __bool__ = __contains__ = _undecided  # type: ignore[assignment]


def walk_of(items) -> Walk | None:
    """None: an iterable of Python's own."""
    if isinstance(items, Walk):
        return items
    if isinstance(items, StepList):
        return Walk(items.length(), items.__getitem__)
    if isinstance(items, Traced) and items.shape and isinstance(items.shape[0], SymInt):
        if items.iota is not None:
            return Walk(items.shape[0], lambda step: step)
        return Walk(items.shape[0], lambda step: items[step])
    return None


def walk_of_known_length(items) -> Walk | None:
    if isinstance(items, builtins.range):
        return Walk(len(items), lambda place: items.start + place * items.step)
    if isinstance(items, Traced) and items.shape and is_int(items.shape[0]):
        return Walk(items.shape[0], lambda step: items[step])
    return None


def range_(*bounds):
    begin, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1) if len(bounds) == 2 else bounds
    if not is_int(step) or step == 0:
        raise undecided(step) if isinstance(step, SymInt) else Untraceable("a range whose step is not a number")
    if not all(isinstance(bound, SymInt) or is_int(bound) for bound in (begin, end)):
        raise Untraceable("an array's value is used as an integer")
    far = end - begin if step > 0 else begin - end
    count = far if abs(step) == 1 else (far - 1) // abs(step) + 1
    if isinstance(count, SymInt):
        count = count_where_taken(count)
    walk = Walk(count, lambda place: begin + place * step, (begin, step))
    if isinstance(count, SymInt):
        return walk
    return [walk.at(place) for place in builtins.range(count)]


def enumerate_(items, start=0):
    walk = walk_of(items)
    if walk is None:
        return builtins.enumerate(items, start)
    return Walk(walk.count, lambda step: (start + step, walk.at(step)))


def zip_(*several, **options):
    walks = [walk_of(items) for items in several]
    known = [walk for walk in walks if walk is not None]
    if not known:
        return builtins.zip(*several, **options)
    if len(known) < len(walks) or not all(same(walk.count, known[0].count) for walk in known):
        raise Untraceable("a loop over arrays of different extents")
    return Walk(known[0].count, lambda step: tuple(walk.at(step) for walk in known))


def reversed_(items):
    if isinstance(items, builtins.range):
        return items[::-1]
    walk = walk_of(items)
    if walk is None:
        return builtins.reversed(items)
    back = walk.range and (walk.at(walk.count - 1), -walk.range[1])
    return Walk(walk.count, lambda step: walk.at(walk.count - 1 - step), back)


def long_walk(items, place):
    """Of a known length, but so long that its steps are no single operations."""
    walk = walk_of_known_length(items) if place not in GRAPH.unrolled else None
    if walk is None or walk.count < LONG:
        return None
    GRAPH.long_loops.add(place)
    return walk


def fewest(count) -> int:
    """Steps, where all extents are one."""
    return eval(re.sub(r"(?!min\b|max\b)\b[A-Za-z_]\w*", "1", text(count)), {"min": min, "max": max})


def counts(loop) -> bool:
    """Only where it has to be traced so: what a `while` does as it is needs no rules."""
    if loop not in GRAPH.counting:
        GRAPH.whiles.add(loop)
    return loop in GRAPH.counting


def counted(start, bound, step: int, sign: str):
    """The numbers that `while NUMBER < bound` meets, which grows by `step`; or <=, >, >=."""
    if isinstance(start, Traced) or isinstance(bound, Traced):
        raise Untraceable("a loop whose number of steps depends on values")
    if not all(isinstance(one, SymInt) or (is_number(one) and math.isfinite(one)) for one in (start, bound)):
        raise Untraceable(f"a 'while' without an end that is known: {LET_IT_COUNT}")
    if is_int(start) and not isinstance(bound, (int, SymInt)):
        bound = math.ceil(bound) if sign in ("<", ">=") else math.floor(bound)
    if not all(isinstance(one, (int, SymInt)) for one in (start, bound)):
        return _numbers(start, bound, step, sign)
    end = bound + (0 if sign in ("<", ">") else 1 if step > 0 else -1)
    return builtins.range(start, end, step) if is_int(start) and is_int(end) else range_(start, end, step)


def _numbers(start, bound, step: int, sign: str):
    holds = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[sign]
    while holds(start, bound):
        yield start
        start += step


def unchanged(bound, now):
    if not (bound is now or same(bound, now)):
        raise Untraceable("a 'while' whose bound changes")


def goes_on(test):
    """Of a `while` that counts nothing."""
    if isinstance(test, Traced) and test.undecided is None:
        raise Untraceable(f"a 'while' ends by the values of an array: {LET_IT_COUNT}")
    return test
