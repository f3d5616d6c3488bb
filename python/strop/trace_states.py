"""The values that a loop's body changes, found by passes over it: names, entries of lists, tuples, dictionaries and
objects of the reference, and arrays that change in place.

Each value has a plan: what stands for it during the next pass. A pass compares what it leaves with what it was given,
which confirms the plan or makes another.
"""

from __future__ import annotations

import collections
import copy
import functools
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from strop.trace_array import GRAPH, Traced, broadcast_to, cast, is_number, lift, result_type
from strop.trace_dims import StepUndecided, SymInt, Untraceable, is_int, same, steps_in, text

SHAPE = "a state of a loop that changes its shape with each step"
UNSETTLED = "a state of a loop that never settles"


class Unbound:
    """A name that has no value."""


UNBOUND = Unbound()


def lost() -> Traced:
    """What nobody may use."""
    return Traced(-1, (), np.float32, fill="lost")


@dataclass(frozen=True)
class Plan:
    """kind: array (shape, dtype, weak): a state; count (by): grows by it with each step; plain: always the same;
    itself: an array that changes in place (it is a state of its own); list: a loop appends to it."""

    kind: str
    shape: tuple = ()
    dtype: str = ""
    weak: bool = False
    by: Any = 0

    def key(self):
        return self.kind, tuple(map(text, self.shape)), self.dtype, self.weak, text(self.by)


def plan_of(value: Traced) -> Plan:
    return Plan("array", value.shape, value.dtype.name, value.weak)


def is_whole(value) -> bool:
    """Python's integers, dimensions too."""
    return isinstance(value, SymInt) or (is_int(value) and not isinstance(value, (Traced, np.generic, np.ndarray)))


def first_plan(value) -> Plan:
    if isinstance(value, bool) or value is None:
        return Plan("plain")
    if is_whole(value):
        return Plan("count", by=1)
    if isinstance(value, (Traced, np.ndarray)) or is_number(value):
        if isinstance(value, Traced) and value.filled in ("empty", "lost"):
            return Plan("plain")
        if isinstance(value, np.ndarray) and value.dtype == object:
            return Plan("plain")
        return plan_of(lift(value))
    return Plan("plain")


def stored_dtype(plan: Plan) -> np.dtype:
    """Python's floats have the precision of the arrays."""
    return np.dtype(GRAPH.working if plan.weak and np.dtype(plan.dtype).kind == "f" else plan.dtype)


def conform(value, plan: Plan) -> int:
    """The node of a value as the state that is planned."""
    value = lift(value)
    if len(value.shape) > len(plan.shape):
        raise Untraceable(SHAPE)
    for have, want in zip(reversed(value.shape), reversed(plan.shape)):
        if not same(have, want) and not (is_int(have) and have == 1):
            raise Untraceable(SHAPE)
    dtype = stored_dtype(plan)
    wide = broadcast_to(Traced(cast(value, dtype), value.shape, dtype), plan.shape)
    return wide.node


def chosen(guard: Traced, new: int, old: int, shape) -> int:
    return GRAPH.add("pointwise", "where", [guard.node, new, old], shape, GRAPH.dtype(new))


def joined_plan(step, before, after: Traced) -> Plan:
    """What a state has to be that holds `before` at first and `after` from then on."""
    first = lift(before)
    dtype, weak = result_type([first, after])
    kinds = first.dtype.kind + after.dtype.kind
    exact = dtype == after.dtype and (first.weak or first.dtype == after.dtype)
    if not (exact or kinds == "ff" or (kinds == "if" and first.dtype.itemsize >= 4) or first.dtype == after.dtype):
        raise StepUndecided(step.loop)  # the first step may compute something else
    if len(first.shape) > len(after.shape):
        raise Untraceable(SHAPE)
    return Plan("array", after.shape, dtype.name, weak and not after.shape)


@dataclass
class Leaf:
    """A value during one pass."""

    path: tuple
    before: Any
    plan: Plan
    given: Any
    placeholder: int = -1
    after: Any = None
    new: int = -1  # the node of what the pass left
    free: bool = False  # bound by the body before it is read

    @staticmethod
    def begin(step, path, before, plan: Plan) -> Leaf:
        leaf = Leaf(path, before, plan, before)
        if plan.kind == "count":
            leaf.given = before + plan.by * step.taken
        elif plan.kind == "array":
            leaf.placeholder = step.placeholder(plan.shape, stored_dtype(plan))
            leaf.given = Traced(leaf.placeholder, plan.shape, plan.dtype, plan.weak)
            leaf.given.stands_in = True
        return leaf

    def next_plan(self, step) -> Plan:
        """After a pass."""
        after = self.after
        if after is self.given or self.plan.kind == "itself":
            if after is not self.given:
                raise Untraceable(UNSETTLED)
            return self._unchanged(step)
        if is_whole(after) and self.plan.kind == "count":
            by = after - self.given
            if step.name not in steps_in(by):
                return Plan("count", by=by)
        if self.plan.kind == "plain":
            if type(after) is type(self.before) and isinstance(after, (bool, str)) and after == self.before:
                return self.plan
            if isinstance(self.before, bool) and isinstance(after, Traced) and after.dtype == bool and not after.shape:
                return joined_plan(step, self.before, after)
            raise StepUndecided(step.loop)
        if not (isinstance(after, (Traced, np.ndarray, SymInt)) or is_number(after)) or isinstance(after, bool):
            raise StepUndecided(step.loop)
        self.free = self.plan.kind == "plain" or (self.plan.kind == "array" and self.placeholder not in step.used)
        return plan_of(lift(after)) if self.free else joined_plan(step, self.before, lift(after))

    def _unchanged(self, step) -> Plan:
        if self.plan.kind == "count":
            return Plan("count", by=0)
        if self.plan.kind == "array" and self.given._storage.version:  # changed in place
            if not isinstance(self.before, Traced):
                raise Untraceable("an array of numbers is changed in place by a loop")
            return Plan("itself")
        return self.plan

    def settle(self, guard: Traced | None):
        """`guard`: whether the step changes anything."""
        if self.plan.kind == "array":
            self.new = conform(self.after, self.plan)
            if guard is not None and self.new != self.placeholder:
                self.new = chosen(guard, self.new, self.placeholder, self.plan.shape)


# ---- containers ------------------------------------------------------------------------------------------


def entries_of(value) -> dict | None:
    """Of a container that is followed: by key."""
    if type(value) in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return dict(enumerate(value))
    if type(value) is dict:
        return dict(value)
    if hasattr(type(value), "entries"):
        return value.entries()
    if getattr(type(value), "__module__", None) == "reference" and hasattr(value, "__dict__"):
        return dict(vars(value))
    return None


def is_changeable(value) -> bool:
    return not isinstance(value, tuple)


def refill(container, entries: dict):
    """In place."""
    if hasattr(type(container), "entries"):
        container.refill(entries)
        return
    if isinstance(container, list):
        container[:] = list(entries.values())
        return
    target = container if isinstance(container, dict) else vars(container)
    target.clear()
    target.update(entries)


def rebuilt(container, entries: dict):
    """Another one of the same type."""
    if hasattr(type(container), "entries"):
        return container.rebuilt(entries)
    if isinstance(container, tuple):
        values = entries.values()
        return type(container)(*values) if hasattr(container, "_fields") else tuple(values)
    if isinstance(container, (list, dict)):
        return list(entries.values()) if isinstance(container, list) else dict(entries)
    other = copy.copy(container)
    refill(other, entries)
    return other


# ---- the rest of the world -------------------------------------------------------------------------------


ITERATOR = "iterator"


def world_of(value) -> list:
    """All that can be reached from a value, so that a change of it is noticed; not what an iterator gives next."""
    seen: set[int] = set()
    found: list = []
    open_ = [value]
    while open_:
        one = open_.pop()
        if isinstance(one, (bool, int, float, str, bytes, type(None))):
            found.append(repr(one))
            continue
        if hasattr(type(one), "__next__"):
            found.append(ITERATOR)
        found.append(id(one) if not isinstance(one, SymInt) else text(one))
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            found.append(one.tobytes())
        elif not isinstance(one, Traced):  # GRAPH.touch knows of their changes
            open_ += _inside(one)
    return found


def _inside(value) -> list:
    if isinstance(value, (list, tuple, collections.deque)):
        return list(value)
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, types.FunctionType):
        cells = [cell for cell in value.__closure__ or () if cell != types.CellType()]
        return [
            *(cell.cell_contents for cell in cells),
            *(value.__defaults__ or ()),
            *(value.__kwdefaults__ or {}).values(),
            *vars(value).values(),
        ]
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, types.BuiltinMethodType) and not isinstance(value.__self__, types.ModuleType):
        return [value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, (bytes, bytearray)):
        return [bytes(value)]
    package = type(value).__module__.partition(".")[0]
    if hasattr(value, "__dict__") and package not in ("builtins", "numpy", "strop", "reference"):
        return list(vars(value).values()) if not isinstance(value, (type, types.ModuleType)) else []
    if getattr(value, "__module__", None) == "reference" or getattr(type(value), "__module__", None) == "reference":
        slots = [getattr(value, name, None) for name in getattr(type(value), "__slots__", ()) if name != "__dict__"]
        own = [one for name, one in getattr(value, "__dict__", {}).items() if not name.startswith("__")]
        kind = [] if isinstance(value, type) else [type(value)]
        called = [vars(value).get("__call__")] if isinstance(value, type) else []
        return [*own, *slots, *kind, *called]
    return []
