"""Loops of PyTorch modules over extents that vary, or over many steps.

torch.export unrolls a loop: it takes an extent for a number then, and minutes for some hundred steps. So the module's
file is rewritten as NumPy references are (import_rewrite), and while it is exported each loop's body runs twice or more, with
a step that is a symbol, and the last of these passes counts. Operators of our own say where it begins, what stands for its states, and where it ends; the
reader (import_repeat) makes a loop of what lies between.

Where the first or the last step is another (`if t == 0`) it is run by itself. What is not followed is unrolled as
before: steps that decide anything else, attributes that are set.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils._pytree import tree_flatten, tree_unflatten

from strop.import_owners import Kept, has_other_name, has_other_owner
from strop.import_recurrent import LIBRARY
from strop.import_walks import Following, Growing, LoopUnfollowed, Walk, are_same, as_number, stepped, walk_of
from strop.trace_states import UNBOUND

MOST_PASSES = 5  # over a body, until its states have their shapes
MOST_PARTS = 64  # tensors of a state that is a tuple, list or dictionary, which may lie in each other


# ---- what PyTorch sees while it exports ------------------------------------------------------------------

LIBRARY.define("loop_begin(SymInt count, int id) -> SymInt")
LIBRARY.define("loop_state(Tensor before, int id, int place) -> Tensor")
LIBRARY.define("loop_end(int[] states, Tensor[] after, Tensor[] last, Tensor[] each, SymInt count, int id, "
               "SymInt step) -> Tensor[]")
LIBRARY.define("window(Tensor x, int dim, SymInt start, int extent) -> Tensor")

OPERATORS = ("loop_begin", "loop_state", "loop_end")


def _seen_begin(count, id):
    step = torch.library.get_ctx().new_dynamic_size(min=0)
    torch._check(step < count)
    return step


def _seen_end(states, after, last, each, count, id, step):
    return [torch.empty_like(one) for one in (*after, *last)] + [one.new_empty([count, *one.shape]) for one in each]


torch.library.register_fake("strop::loop_begin", _seen_begin, lib=LIBRARY)
torch.library.register_fake("strop::loop_state", lambda before, *_: torch.empty_like(before), lib=LIBRARY)
torch.library.register_fake("strop::loop_end", _seen_end, lib=LIBRARY)


def _seen_window(x, dim, start, extent):
    """narrow, whose extent PyTorch takes for one that moves with its start."""
    return x.new_empty([extent if place == dim else one for place, one in enumerate(x.shape)])


torch.library.register_fake("strop::window", _seen_window, lib=LIBRARY)


def followed(export):
    """What `export` gives with loops followed, or, where that fails, unrolled."""
    Following.walks = 0
    for apart in ("", "first", "last") if not Following.unrolled else ():
        Following.on, Following.apart, Following.walks, Following.depth, Following.begun = True, apart, 0, 0, 0
        try:
            program = export()
            if not Following.walks or not has_moving_extents(program):
                return program
        except Exception:
            if not Following.walks:
                raise
        finally:
            Following.on, Following.depth = False, 0
    Following.walks = 0
    return export()


def were_any() -> bool:
    """That were followed in the latest export."""
    return Following.walks > 0


@contextlib.contextmanager
def unrolled():
    Following.unrolled = True
    try:
        yield
    finally:
        Following.unrolled = False


def has_moving_extents(program) -> bool:
    """x[:t]: the tracer follows them in NumPy references only."""
    return any(
        free_unbacked_symbols(extent)
        for node in program.graph.nodes
        if isinstance(node.meta.get("val"), torch.Tensor)
        for extent in node.meta["val"].shape
        if isinstance(extent, torch.SymInt)
    )


# ---- a loop ------------------------------------------------------------------------------------------------


def begun(walk: Walk):
    """(the loop's number, that of its step)"""
    Following.begun += 1
    return Following.begun, torch.ops.strop.loop_begin(walk.count, Following.begun)


def collected(function: Callable, items, kind: Callable, local: dict):
    """[function(item) for item in items]; `kind`: list, or iter where it is no list."""
    walk = walk_of(items)
    if walk is None:
        values = (function(item) for item in items)
        return list(values) if kind is list else values
    first, walk, last = walk.taken_apart()
    before = [function(item) for item in first]
    kept = Kept(local, closures=True)
    Following.depth += 1
    for _ in range(2):  # in the second, what is kept elsewhere is of another pass
        id_, number = begun(walk)
        value = function(walk.at(number))
    Following.depth -= 1
    leaves, structure = tree_flatten(value)
    if not leaves or not are_tensors(leaves) or kept.has_changed():
        raise LoopUnfollowed
    each = torch.ops.strop.loop_end([], [], [], leaves, walk.count, id_, number)
    return stepped(before, each, [function(item) for item in last], structure)


class TensorLoop:
    """What the rewritten `for` statement talks to, as trace_loops.Loop. A state is a tensor, a tuple, list or dictionary of
    states, a number that counts steps, or another number, which becomes a tensor; a path (name, place) names one tensor."""

    def __init__(self, items, place, called, about: dict):
        self.items = items
        self.symbolic = self.done = False
        self.item: Any = None
        self.names = list(about["names"])
        self.stored, self.fresh, self.mutated = (set(about[key]) for key in ("stored", "fresh", "mutated"))
        self.augmented = set(about["augmented"])
        self.plans: dict[tuple, torch.Tensor] = {}  # like what a state is from the first step on
        self.counters: dict[str, int] = {}  # numbers that grow by as much in each step
        self.remembered: set[str] = set()  # lists whose latest element is a state
        self.before: dict[str, Any] = {}
        self.given: dict[str, Any] = {}
        self.parts: dict[str, list] = {}  # of lists, as they were given
        self.passes = 0

    def __iter__(self):
        walk = walk_of(self.items)
        if walk is None:
            yield from self.items
            return
        first, self.walk, last = walk.taken_apart()
        yield from first
        self.symbolic = True
        while not self.done:
            yield None
        self.symbolic = False
        yield from last

    def turn(self, local: dict, all_: dict) -> list:
        if not self.passes:
            self.before = {name: local.get(name, UNBOUND) for name in self.names}
            self._check_views(local)
            self.kept = Kept(local)
            Following.depth += 1
        elif self.kept.has_changed():
            raise LoopUnfollowed
        elif self._is_settled(local) and self.passes > 1:  # in the second, what is kept elsewhere is of another pass
            self.done = True
            Following.depth -= 1
            return self._after(local)
        return self._begin()

    def _check_views(self, local: dict):
        """What is written into has no other name, and only one loop around it."""
        others = local | {f"walk {place}": one for place, one in enumerate(self.walk.sources)}
        for name in self.mutated | self.augmented:
            before = self.before.get(name)
            nested = Following.depth and name in self.mutated
            if isinstance(before, torch.Tensor) and (nested or has_other_name(name, before, others)):
                raise LoopUnfollowed
            if isinstance(before, (list, dict)) and has_other_owner(name, before, local):
                raise LoopUnfollowed

    def _begin(self) -> list:
        self.passes += 1
        if self.passes > MOST_PASSES:
            raise LoopUnfollowed
        self.id, self.number = begun(self.walk)
        self.item = self.walk.at(self.number)
        self.given = {name: self._stand_in(name, value) for name, value in self.before.items()}
        return [self.given[name] for name in self.names]

    # ---- what stands for the states ----

    def _stand_in(self, name: str, value):
        if name in self.fresh or value is UNBOUND:
            return UNBOUND
        if name in self.counters:
            self.parts[name] = [value + self.counters[name] * self.number]
            return self.parts[name][0]
        if name not in self.stored | self.mutated:
            return value
        if name in self.mutated and not isinstance(value, (dict, torch.Tensor)):
            return self._growing(name, value)
        return self._stand_in_parts(name, value)

    def _stand_in_parts(self, name: str, value):
        leaves, structure = tree_flatten(value)
        if len(leaves) >= MOST_PARTS:
            raise LoopUnfollowed
        self.parts[name] = [self._part(name, place, one) for place, one in enumerate(leaves)]
        return tree_unflatten(self.parts[name], structure)

    def _growing(self, name: str, value) -> Growing:
        if type(value) is not list:
            raise LoopUnfollowed
        elements = self._stand_in_parts(name, value)
        remembers = name in self.remembered
        if remembers and not value:
            raise LoopUnfollowed
        latest = self._part(name, MOST_PARTS - 1, value[-1]) if remembers else None
        return Growing(elements, latest)

    def _part(self, name: str, place: int, before):
        like = self.plans.get((name, place))
        if like is not None:
            tensor = before if isinstance(before, torch.Tensor) else torch.full((), before)
            before = tensor.to(like.dtype).expand(like.shape).clone()
        if isinstance(before, (tuple, list, dict)):
            raise LoopUnfollowed
        if not isinstance(before, torch.Tensor):
            return before
        return torch.ops.strop.loop_state(before, self.id, self._number_of(name, place))

    def _number_of(self, name: str, place: int) -> int:
        return self.names.index(name) * MOST_PARTS + place

    # ---- what a step makes of them ----

    def _pairs(self, name: str, after):
        """(place, as it was given, as it is after a step)"""
        given = self.given[name]
        if name in self.fresh or given is UNBOUND:
            return
        growing = isinstance(given, Growing)
        if growing and after is not given:
            raise LoopUnfollowed
        before, structure = tree_flatten(self.before[name])
        leaves, now = tree_flatten(given.elements if growing else after)
        if now != structure:
            raise LoopUnfollowed
        yield from zip(range(MOST_PARTS), self.parts.get(name, before), leaves)
        if growing and isinstance(given.latest, torch.Tensor) and given.appended:
            yield MOST_PARTS - 1, given.latest, given.appended[-1]

    def _is_settled(self, local: dict) -> bool:
        """Whether the states have the shapes and types that they were given."""
        settled = True
        for name in self.augmented:
            if isinstance(local.get(name), torch.Tensor) and has_other_name(name, local[name], local):
                raise LoopUnfollowed
        for name, given in self.given.items():
            after = local.get(name, UNBOUND)
            for place, one, new in self._pairs(name, after):
                settled = self._part_is_settled(name, place, one, new) and settled
            if isinstance(given, Growing) and given.latest is LoopUnfollowed:
                self.remembered.add(name)
                settled = False
        return settled

    def _part_is_settled(self, name: str, place: int, given, after) -> bool:
        if after is given:
            return True
        if isinstance(after, torch.Tensor) and isinstance(given, (torch.Tensor, int, float)):
            if isinstance(given, torch.Tensor) and given.shape != after.shape:
                raise LoopUnfollowed
            if isinstance(given, torch.Tensor) and given.dtype == after.dtype:
                return True
            self.plans[name, place] = after
            return False
        if is_real(after) and isinstance(given, (int, float)):
            self.plans[name, place] = torch.zeros((), dtype=torch.float64)
            return False
        if not all(isinstance(one, (int, torch.SymInt)) for one in (given, after, self.before[name])):
            raise LoopUnfollowed
        if name in self.counters:
            if not are_same(after, given + self.counters[name]):
                raise LoopUnfollowed
            return True
        growth = as_number(after - given)
        if growth is None:
            raise LoopUnfollowed
        self.counters[name] = growth
        return False

    # ---- after the loop ----

    def _after(self, local: dict) -> list:
        values = {name: local.get(name, UNBOUND) for name in self.names}
        states = {(name, place): after for name in self.names for place, given, after in self._pairs(name, values[name])
                  if isinstance(given, torch.Tensor) and (after is not given or name in self.mutated)}
        last = [name for name in self.names if name in self.fresh and isinstance(values[name], torch.Tensor)]
        lists = {name: columns_of(one.appended) for name, one in self.given.items() if isinstance(one, Growing) and one.appended}
        each = [column for columns, _ in lists.values() for column in columns]
        results = torch.ops.strop.loop_end(
            [self._number_of(*path) for path in states], list(states.values()), [values[name] for name in last],
            each, self.walk.count, self.id, self.number)
        self.results = dict(zip(states, results))
        left = {name: self._left(name) for name in self.names}
        left |= dict(zip(last, results[len(states) :]))
        made = iter(results[len(states) + len(last) :])
        for name, (columns, structure) in lists.items():
            given = self.given[name]
            each = [next(made) if len(given.appended) == 1 else next(made).flatten(0, 1) for _ in columns]
            if given.in_front:
                left[name] = stepped([], [one.flip(0) for one in each], left[name], structure)
            else:
                left[name] = stepped(left[name], each, [], structure)
        left |= self._numbers(values)
        return [left[name] for name in self.names]

    def _numbers(self, values: dict) -> dict:
        """That the last step leaves: the number that the loop goes over, or one beside it."""
        item, last = (first_of(one) for one in (self.item, self.walk.at(self.walk.count - 1)))
        if not isinstance(item, torch.SymInt):
            return {}
        numbers = {name: values[name] for name in self.fresh if isinstance(values[name], torch.SymInt)}
        beside = {name: as_number(value - item) for name, value in numbers.items()}
        return {name: last + far for name, far in beside.items() if far is not None}

    def _left(self, name: str):
        before = self.before[name]
        if name in self.fresh:
            return UNBOUND
        if name in self.counters:
            return before + self.counters[name] * self.walk.count
        leaves, structure = tree_flatten(before)
        return tree_unflatten([self.results.get((name, place), one) for place, one in enumerate(leaves)], structure)


def are_tensors(values) -> bool:
    return all(isinstance(one, torch.Tensor) for one in values)


def is_real(value) -> bool:
    return isinstance(value, (float, torch.SymFloat))


def columns_of(appended: list):
    """(for each tensor of an item those of all items that a step appends, what an item is made of)"""
    items = [tree_flatten(one) for one in appended]
    structure = items[0][1]
    if not all(leaves and are_tensors(leaves) and one == structure for leaves, one in items):
        raise LoopUnfollowed
    columns = [list(column) for column in zip(*(leaves for leaves, _ in items))]
    return [column[0] if len(column) == 1 else torch.stack(column) for column in columns], structure


def first_of(item):
    while isinstance(item, tuple):
        item = item[0]
    return item
