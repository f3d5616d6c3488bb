"""Loops over extents that vary: for t in range(x.shape[0]).

The body runs a few times ("passes", trace_passes) with a symbol for the step, until it is known what it carries from
step to step (trace_states, trace_places, trace_lists) and a pass does exactly what the one before did. The last pass is the body of a
`repeat` node (trace_bodies). What can only be decided for single steps ("if t == 0") makes the trace start again with
the first steps of that loop traced one by one.
"""

from __future__ import annotations

import builtins
import contextlib
from functools import partial
from typing import Any

from strop import trace_layout as layout
from strop.trace_afterwards import Aliases, Last, Later, as_planned, conform_same, made
from strop.trace_array import GRAPH, Traced, astype, full, is_number, lift, pointwise, result_type
from strop.trace_bodies import KEPT, Record
from strop.trace_dims import PlacesUnfollowed, SymInt, StepUndecided, Untraceable, steps_in, text, with_step
from strop.trace_guards import Guard
from strop.trace_lists import StepList, alike, interleaved
from strop.trace_passes import Pass
from strop.trace_places import StepPieces, begin_steps, rows_before
from strop.trace_ragged import Ragged
from strop.trace_states import (
    ITERATOR,
    UNBOUND,
    UNSETTLED,
    Leaf,
    Plan,
    chosen,
    conform,
    entries_of,
    first_plan,
    lost,
    is_changeable,
    rebuilt,
    refill,
    world_of,
)
from strop.trace_views import shown_by
from strop.trace_walks import fewest, long_walk, walk_of

MOST_PASSES = 6


class Loop:
    """What the rewritten `for` statement talks to (trace_rewrite)."""

    def __init__(self, items, place, called, body: dict):
        self.walk = walk_of(items)
        if self.walk is None:
            self.walk = long_walk(items, place)
        self.items = items
        self.symbolic = self.done = False
        self.item: Any = None
        long = place in GRAPH.long_loops and place not in GRAPH.unrolled
        self.varies = self.walk is not None and (long or isinstance(self.walk.count, SymInt))
        if self.walk is None or not self.varies:
            return
        self.guard = Guard(self.walk) if steps_in(self.walk.count) else None
        self.walk = self.guard.walk if self.guard else self.walk
        if body.get("yields"):
            raise Untraceable("'yield' in a loop of varying length")
        self.place, self.called = place, called
        self.names = list(body["names"])  # that may be set
        self.watched = set(body.get("watched", ()))  # all of the body
        self.stored = set(body.get("stored", ()))  # that the body binds
        self.fresh = set(body.get("fresh", ()))  # before it reads them
        self.mutated = set(body.get("mutated", ()))  # whose entries it sets
        self.shared = set(body.get("shared", ()))  # that are global
        self.peeled = GRAPH.first_steps.get(place, 0)
        if self.peeled and self.guard:
            raise StepUndecided(place)
        self.plans: dict[tuple, Plan] = {}
        self.objects: dict[int, tuple] = {}  # arrays that change in place: array, before, (axis, first, direction)
        self.views: dict[int, Traced] = {}  # through which such arrays change
        self.kinds: dict[tuple, tuple] = {}  # of lists that grow
        self.before: dict[str, Any] = {}
        self.leaves: dict[tuple, Leaf] = {}
        self.lists: dict[tuple, StepList] = {}
        self.replaced: list = []  # containers with what they held
        self.given: dict[str, Any] = {}
        self.step: Pass | None = None
        self.count = 0
        self.made: Any = None  # by a comprehension
        self.element: Any = None
        self.old: dict[str, Any] = {}
        self.like: Any = None
        self.work: Any = None

    def __iter__(self):
        if self.walk is None:
            yield from self.items
            return
        if not self.varies:
            yield from (self.walk.at(step) for step in builtins.range(self.walk.count))
            return
        for step in range(self.peeled):
            yield self.walk.at(step)
        self.symbolic = True
        while not self.done:
            yield self.item
        self.symbolic = False

    def leave(self, how: str):
        if self.varies and not self.done:  # in its first steps, too: there may be fewer
            raise Untraceable(f"'{how}' in a loop of varying length")

    # ---- passes ----

    def turn(self, local: dict, all_: dict) -> list:
        """Ends a pass, and begins the next one or the time after the loop: the values of the names."""
        if self.step is None:
            self.origin = len(GRAPH.nodes)
            self.before = {
                name: self._value_of(name, local, all_) for name in {*self.watched, *self.names}
            }
            self.old = {name: self.before[name] for name in self.fresh if not name.startswith("_strop")}
            self.before.update(dict.fromkeys(self.fresh, UNBOUND))
            self.roots = {**all_, **local}
            self.world = world_of(self.roots)
            if ITERATOR in world_of(self.before):
                raise Untraceable(KEPT)
        elif self._end({name: self._value_of(name, local, all_) for name in self.before}):
            self._check_world({**all_, **local})
            self.done = True
            return self._after()
        return self._begin()

    def _value_of(self, name: str, local: dict, all_: dict):
        if name in local or (name in self.names and name not in self.shared):
            return local.get(name, UNBOUND)
        return all_.get(name, UNBOUND)

    def _check_world(self, now: dict):
        """Nothing else has changed than what is followed."""
        others = [name for name in self.roots if name not in self.names and not name.startswith("_strop")]
        same_names = all(name in now and world_of(now[name]) == world_of(self.roots[name]) for name in others)
        if not same_names or world_of(self.roots) != self.world:
            raise Untraceable(KEPT)

    def _begin(self) -> list:
        self.count += 1
        if self.count > MOST_PASSES:
            raise Untraceable(UNSETTLED)
        assert self.walk is not None
        self.step = Pass(self.place, self.called, self.walk.count - self.peeled)
        if self.guard:
            self.step.guard, self.step.taken = self.guard, self.guard.before(self.step.symbol)
        for array, before, steps in self.objects.values():
            GRAPH.touch_in_forks(array)
            self.step.touched[id(array)] = (array, before)
            array.outdate_views(rows_before(*steps) if steps else 0)
            if steps:
                begin_steps(self.step, array, before, *steps)
            elif before[2] != "empty" or self.place in GRAPH.whole_loops:
                array._node = self.step.placeholder(array.shape, array.dtype)
                array.pieces = array.filled = array.iota = array.step = None
        whole = [one for one in self.objects.values() if not one[2]]
        if self.place not in GRAPH.whole_loops:
            whole = [one for one in whole if one[1][2] != "empty"]
        self.whole = {id(array): array._node for array, _, _ in whole}
        self.leaves, self.lists, self.replaced = {}, {}, []
        seen: dict[int, Any] = {}
        self.given = {
            name: self._substitute((name,), value, name in self.stored, seen)
            for name, value in sorted(self.before.items())
            if value is not UNBOUND
        }
        self.item = self.walk.at(self.step.symbol + self.peeled)
        return [self.given.get(name, UNBOUND) for name in self.names]

    def _substitute(self, path: tuple, value, bound: bool, seen: dict):
        """What stands for a value in this pass; containers that can change are filled in place."""
        if id(value) in seen:
            return seen[id(value)]
        if path in self.kinds:
            self.lists[path] = StepList(value, self.step, self.kinds[path] or None)
            return self.lists[path]
        entries = entries_of(value)
        if entries is None:
            if isinstance(value, Traced) and (id(value) in self.objects or id(value) in self.views):
                plan = Plan("itself")
            elif bound or path in self.plans:
                plan = self.plans.get(path) or first_plan(value)
            else:
                plan = Plan("plain")
            self.leaves[path] = Leaf.begin(self.step, path, value, plan)
            return self.leaves[path].given
        if not is_changeable(value):
            return rebuilt(value, {k: self._substitute((*path, k), v, bound, seen) for k, v in entries.items()})
        seen[id(value)] = value
        inside = path[0] in self.mutated or (bound and len(path) == 1)
        new = {k: self._substitute((*path, k), v, inside, seen) for k, v in entries.items()}
        self.replaced.append((value, entries, path))
        refill(value, new)
        return value

    def _end(self, env: dict) -> bool:
        """Whether this pass was the last one."""
        step = self.step
        assert step is not None
        step.end()
        self.env = env
        plans: dict[tuple, Plan] = {}
        kinds: dict[tuple, tuple] = {}
        seen: set[int] = set()
        for name, before in self.before.items():
            if before is not UNBOUND:
                self._compare((name,), before, env[name], plans, kinds, seen)
        objects = self._objects_after()
        settled = (
            all(plans[path].key() == leaf.plan.key() for path, leaf in self.leaves.items() if path in plans)
            and _places(objects) == _places(self.objects)
            and alike(kinds, self.kinds)
        )
        outputs: list[int] = []
        if settled:
            outputs = self._outputs(objects)
        like, work = (step.likeness(outputs, self.origin), step.work(self._results())) if settled else (None, None)
        if self.work is None:
            self.work = step.work(self._results())
        if settled:
            self._check_sharing()
        if settled and like == self.like:
            self._check_first_step(work)
            step.leave()
            self._put_back()
            return True
        if settled and self.like is not None:
            raise Untraceable(KEPT)
        self.like = like
        self.plans = {**self.plans, **plans}
        self.kinds, self.objects = kinds, objects
        step.leave()
        self._put_back()
        return False

    def _compare(self, path, before, after, plans, kinds, seen):
        """Makes the plans for the next pass from what this one was given and left."""
        assert self.step is not None
        if path in self.lists:
            if not isinstance(after, StepList) or after.step is not self.step:
                raise Untraceable("a list that a loop makes is used in a way that is not followed")
            self.lists[path] = after
            parts = [lift(value) for value in after.new]
            first = parts[0] if parts else None
            kinds[path] = (first.shape, first.dtype, len(parts)) if first is not None else ()
            return
        if path in self.leaves:
            leaf = self.leaves[path]
            leaf.after = after
            changeable = path[0] in self.names or len(path) > 1
            if after is not leaf.given and leaf.plan.kind == "plain" and path not in self.plans and changeable:
                plan = first_plan(before)  # it was not known to change
                plans[path] = plan if plan.kind != "plain" else leaf.next_plan(self.step)
                return
            plans[path] = leaf.next_plan(self.step)
            return
        old, new = entries_of(before), entries_of(after)
        held = next((entries for container, entries, _ in self.replaced if container is before), old)
        assert held is not None and old is not None
        if id(before) in seen:
            return
        seen.add(id(before))
        if type(before) is list and type(after) is list and len(after) > len(held):
            kinds[path] = ()
            return
        if type(before) is not type(after) or new is None or new.keys() != held.keys():
            raise StepUndecided(self.step.loop)
        for key, value in held.items():
            self._compare((*path, key), value, new[key], plans, kinds, seen)

    def _objects_after(self) -> dict:
        result = {}
        assert self.step is not None
        for key, (array, before) in self.step.touched.items():
            pieces = array.pieces
            if isinstance(pieces, StepPieces) and pieces.step is not self.step:
                raise PlacesUnfollowed(pieces.step.loop)  # each step of a loop around this one writes there
            steps = (pieces.axis, pieces.first, pieces.direction) if isinstance(pieces, StepPieces) else None
            result[key] = (array, before, steps)
        for leaf in self.leaves.values():
            if leaf.plan.kind == "array" and isinstance(leaf.before, Traced) and leaf.given._storage.version:
                if leaf.after is leaf.given:  # a name for an array that changes in place
                    array = shown_by(leaf.before)
                    self.views[id(leaf.before)] = leaf.before
                    result.setdefault(id(array), (array, array.kept(), None))
        return result

    def _results(self) -> list[int]:
        """All that the pass left somewhere, as nodes."""
        found: list[int] = []

        def visit(value, depth=0):
            if isinstance(value, Traced):
                with contextlib.suppress(Untraceable):
                    found.append(value.node)
            elif isinstance(value, StepList):
                visit(value.new)
            elif depth < 4:
                for one in (entries_of(value) or {}).values():
                    visit(one, depth + 1)

        visit(self.env)
        for array, _, steps in self._objects_after().values():
            visit(array.pieces.slab if steps else array)
        return [node for node in found if self.step in GRAPH.depends[node]]

    # ---- the last pass ----

    def _outputs(self, objects) -> list[int]:
        """What the body computes, as nodes: everything that may be asked for after the loop."""
        nodes = []
        assert self.step is not None
        guard = self.guard.holds(self.step.symbol) if self.guard else None
        if guard is not None and self.lists:
            raise Untraceable("an extent that changes with each step")
        for leaf in self.leaves.values():
            leaf.settle(guard)
            nodes += [leaf.placeholder, leaf.new] if leaf.new >= 0 else []
        self.made = {}
        for key, (array, _, steps) in objects.items():
            if steps:
                slab = array.pieces.slab
                if guard is not None and array.pieces.base.filled != "empty":
                    slab = pointwise("where", guard, slab, array.pieces.initial_slab())
                shape = [extent for axis, extent in enumerate(slab.shape) if axis != steps[0]]
                flat = layout.reshape(slab, shape)
                self.made[key] = (array.pieces, slab.node, flat.node, shape)
                if array._version != array._storage.version:
                    raise Untraceable("an array is changed through another view of it")
                nodes += [*(past._node for past in array.pieces.past), slab.node, flat.node]
            else:
                new = array.node
                if guard is not None and key not in self.whole:
                    raise PlacesUnfollowed(self.place)
                if guard is not None:
                    new = chosen(guard, new, self.whole[key], array.shape)
                self.made[key] = (None, new, -1, ())
                nodes += [self.whole[key], new] if key in self.whole else [new]
        self.appended: dict[tuple, list[Traced]] = {}
        for path, entries in self.lists.items():
            self.appended[path] = self._entries(entries)
            nodes += [*(past.node for past in entries.past), *(value.node for value in self.appended[path])]
        self.bound = {
            name: self._last_value(self.env[name], nodes)
            for name in self.names
            if self.before[name] is UNBOUND and self.env[name] is not UNBOUND
        }
        return nodes

    def _entries(self, entries: StepList) -> list[Traced]:
        values = [lift(value) for value in entries.new]
        if not values:
            return []
        dtype, weak = result_type([*values, *(lift(one) for one in entries.front)])
        if any(len(v.shape) != len(values[0].shape) for v in values):
            raise Untraceable("a list of arrays of different shapes")
        return [astype(value, GRAPH.working if weak and dtype.kind == "f" else dtype) for value in values]

    def _last_value(self, value, nodes: list[int]):
        """Of a name that the body binds before it reads it."""
        if self.guard or isinstance(value, Ragged):
            return lost()
        entries = entries_of(value)
        if entries is not None and not hasattr(value, "__dict__"):
            return rebuilt(value, {key: self._last_value(one, nodes) for key, one in entries.items()})
        if isinstance(value, Traced) and value.filled != "empty":
            try:
                nodes.append(value.node)
            except Untraceable:  # of use within the step only
                return lost()
            return Last(nodes[-1], value)
        return value

    def _check_first_step(self, work):
        """Where a state takes more room than what it holds at first, the first step has to do what the others do."""
        for leaf in self.leaves.values():
            known = isinstance(leaf.before, Traced) or is_number(leaf.before)
            if leaf.plan.kind == "array" and known:
                before, after = ([text(extent) for extent in one.shape] for one in (lift(leaf.before), leaf.plan))
                if before != after and (before or work != self.work):
                    raise StepUndecided(self.place)

    def _check_sharing(self):
        """An array that the next step changes in place must not be known by another name, too."""
        assert self.step is not None
        values = [value for path in self.lists for value in self.lists[path].new]
        values += [leaf.after for leaf in self.leaves.values() if leaf.plan.kind == "array"]
        self._check_choices(values)
        for leaf in self.leaves.values():
            if not isinstance(leaf.after, Traced) or not self._changes(leaf):
                continue
            storage = leaf.after._storage
            for value in values:
                if value is not leaf.after or leaf.plan.kind == "itself":
                    if isinstance(value, Traced) and value._storage is storage:
                        raise Untraceable(KEPT)
            if sum(value is leaf.after for value in values) > 1:
                raise Untraceable(KEPT)
            if leaf.plan.kind == "array" and isinstance(leaf.before, Traced):
                if leaf.before._storage.seen >= self.step.began:
                    raise Untraceable(KEPT)

    def _check_choices(self, values: list):
        """What a branch has chosen must not be an array that the loop changes in place."""
        assert self.step is not None
        changed = [array._storage for array, _ in self.step.touched.values()]
        changed += [leaf.after._storage for leaf in self.leaves.values() if self._changes(leaf)]
        read = [leaf.before for leaf in self.leaves.values() if isinstance(leaf.before, Traced)]
        read = [one for one in read if one._storage.seen >= self.step.began]
        for value in [*values, *read]:
            if isinstance(value, Traced) and any(storage in changed for storage, _ in value.others):
                raise Untraceable(KEPT)

    def _changes(self, leaf: Leaf) -> bool:
        if leaf.plan.kind == "itself":
            array = self.objects.get(id(shown_by(leaf.before)))
            return array is not None and not array[2]
        return leaf.plan.kind == "array" and leaf.given._storage.version > 0

    def _put_back(self):
        assert self.step is not None
        for array, before in self.step.touched.values():
            array.restore(before)
        for container, entries, _ in self.replaced:
            refill(container, entries)

    # ---- after the loop ----

    def _after(self) -> list:
        step = self.step
        assert step is not None
        record = Record(step)
        if self.walk is not None and self.peeled > fewest(self.walk.count):
            GRAPH.assumed.setdefault(self.place, []).append(record)
        self.spoilt: list[Traced] = []  # by the first step only
        self.aliases = Aliases(step.began, [value for entries in self.lists.values() for value in entries.new])
        later = self._state_results(record)
        later_objects = self._object_results(record)
        later_lists = self._list_results(record)
        bound = {name: self._bound_results(record, name, value) for name, value in self.bound.items()}
        for array in self.spoilt:
            GRAPH.touch(array)
            array.changed()
            array.filled = "lost"
        values = {path: make() for path, make in later.items()}
        for array, make in later_objects:
            array.assign(make())
        values |= {path: make() for path, make in later_lists.items()}
        result = {}
        for name in self.before:
            if self.before[name] is not UNBOUND:
                result[name] = self._final((name,), self.before[name], self.env[name], values)
            elif name in bound:
                result[name] = made(bound[name])
        self.aliases.settle()
        return [result.get(name, UNBOUND) for name in self.names]

    def _state_results(self, record: Record) -> dict:
        results: dict = {}
        for path, leaf in self.leaves.items():
            if leaf.plan.kind == "count":
                count = self.guard.count if self.guard else record.step.count
                results[path] = lambda leaf=leaf, count=count: leaf.before + leaf.plan.by * count
            elif leaf.plan.kind != "array" or leaf.new == leaf.placeholder:
                results[path] = lambda leaf=leaf: leaf.before
            else:
                initial = self._initial(leaf)
                index = record.state(initial, leaf.placeholder, leaf.new)
                results[path] = partial(self._state_after, record, index, leaf)
                if isinstance(leaf.before, Traced) and any(map(self._changes, self.leaves.values())):
                    self.spoilt.append(leaf.before)  # the first step may have changed it
        return results

    def _state_after(self, record: Record, index: int, leaf: Leaf) -> Traced:
        return self.aliases.add(as_planned(record, index, leaf.plan), self.aliases.of(leaf.after))

    def _initial(self, leaf: Leaf) -> int:
        try:
            return conform(leaf.before, leaf.plan)
        except Untraceable:
            if not leaf.free:
                raise
        return full(leaf.plan.shape, 0, GRAPH.dtype(leaf.new)).node  # nobody reads it

    def _object_results(self, record: Record) -> list:
        results = []
        for key, (pieces, node, flat, shape) in self.made.items():
            array, before, steps = self.objects[key]
            if steps:
                for back, past in enumerate(pieces.past, 1):
                    initial = pieces.initial(back)
                    newer = node if back == 1 else pieces.past[back - 2]._node
                    record.state(initial.node, past._node, newer)
                index = record.stack(flat)
                results.append((array, partial(self._written, record, pieces, index, shape)))
                continue
            if before[2] == "empty":
                initial = full(array.shape, 0, array.dtype)
                dead = key not in self.whole
                placeholder = self._dead_placeholder(array.shape, array.dtype) if dead else self.whole[key]
            else:
                initial, placeholder = Traced(array.node, array.shape, array.dtype), self.whole[key]
            index = record.state(initial.node, placeholder, node)
            results.append((array, partial(record.result, "last", index, array.shape)))
        return results

    def _written(self, record: Record, pieces: StepPieces, index: int, shape) -> Traced:
        return pieces.after(record.result("stack", index, (record.step.count, *shape)))

    def _dead_placeholder(self, shape, dtype) -> int:
        """Of a state whose value before the step nobody reads."""
        assert self.step is not None
        return self.step.placeholder(shape, dtype)

    def _list_results(self, record: Record) -> dict:
        results = {}
        for path, entries in self.lists.items():
            values = self.appended[path]
            for back, past in enumerate(entries.past, 1):
                initial = conform(entries.front[-back], Plan("array", past.shape, past.dtype.name))
                newer = conform_same(values[-1], past) if back == 1 else entries.past[back - 2].node
                record.state(initial, past.node, newer)
            indices = [record.stack(value.node) for value in values]

            def make(entries=entries, values=values, indices=indices):
                result = StepList(entries.front)
                stacks = [
                    record.result("stack", index, (record.step.count, *value.shape))
                    for index, value in zip(indices, values)
                ]
                storages = [storage for value in entries.new for storage in self.aliases.older(value)]
                result.middle = self.aliases.add(interleaved(stacks, entries.backwards), storages)
                if entries.backwards:
                    result.front, result.back = [], list(entries.front)
                return result

            results[path] = make if values else (lambda entries=entries: list(entries.front))
        return results

    def _bound_results(self, record: Record, name, value):
        entries = entries_of(value)
        if entries is not None and not hasattr(value, "__dict__"):
            return rebuilt(value, {key: self._bound_results(record, None, one) for key, one in entries.items()})
        if isinstance(value, SymInt):
            last = with_step(value, record.step.name, record.step.count - 1)
            return value if last is None else last
        if not isinstance(value, Last) or record.step not in GRAPH.depends[value.index]:
            return value.value if isinstance(value, Last) else value
        like = value.value
        dtype = GRAPH.dtype(value.index)
        initial = full(like.shape, 0, dtype).node  # where there is no step, and what the name had has another shape
        with contextlib.suppress(Untraceable):
            if isinstance(self.old.get(name), Traced) and self.old[name].shape == like.shape:
                initial = conform(self.old[name], Plan("array", like.shape, dtype.name))
        index = record.state(initial, self._dead_placeholder(like.shape, dtype), value.index)
        plan, aliases = Plan("array", like.shape, like.dtype.name, like.weak), self.aliases
        return Later(lambda: aliases.add(as_planned(record, index, plan), aliases.of(like)))

    def _final(self, path, before, after, values):
        """The value of a name after the loop."""
        if path in values:
            value = values[path]
            if path in self.lists and type(before) is list and isinstance(value, StepList):
                before.append(lost())  # it is not to be used under another name
            return value
        entries = entries_of(before)
        if entries is None:
            return before
        kept = entries_of(after) or entries
        new = {key: self._final((*path, key), value, kept.get(key), values) for key, value in entries.items()}
        if is_changeable(before) and after is before:
            if any(new[key] is not entries[key] for key in new):
                refill(before, new)
            return before
        return rebuilt(before, new)


def _places(objects: dict) -> dict:
    return {key: steps and (steps[0], text(steps[1]), steps[2]) for key, (_, _, steps) in objects.items()}
