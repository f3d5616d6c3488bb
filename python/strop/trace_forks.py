"""Branches that depend on the values of arrays, or on the step of a loop: both sides are traced, one after the other,
and what they leave is chosen element by element.

    if TEST: BODY        becomes     _fork = _strop_fork(TEST, ...)
    else: OTHER                      for _side in _fork:
                                         if _side: BODY
                                         else: OTHER
                                         if _fork.both: (the names of both) = _fork.turn(locals(), globals())
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, is_number, lift, pointwise
from strop.trace_dims import SymInt, Untraceable, same, text
from strop.trace_lists import StepList
from strop.trace_pieces import Pieces
from strop.trace_states import ITERATOR, UNBOUND, entries_of, is_changeable, lost, rebuilt, refill, world_of

REFUSAL = "control flow depends on the values of an array"
ALIAS = "an array is changed that a branch has chosen among others"


def condition_of(test) -> Traced | None:
    """A traced scalar that may be chosen by; None: Python decides."""
    test = test != 0 if isinstance(test, SymInt) else test
    if not isinstance(test, Traced) or any(isinstance(extent, SymInt) or extent != 1 for extent in test.shape):
        return None
    loop = getattr(test.undecided, "loop", None)
    if loop is not None and loop not in GRAPH.forking:
        return None
    if loop is None and test.undecided is not None and any(GRAPH.first_steps.values()):
        return None  # a step that was traced by itself would have to be decided
    scalar = layout.reshape(test, ())
    return scalar if scalar.dtype == np.bool_ else pointwise("not_equal", scalar, 0)


class Fork:
    """Of one `if`. `names`: what its sides bind."""

    sees_containers = True

    def __init__(self, test, names: list[str], local: dict, all_: dict):
        self.test = test = test != 0 if isinstance(test, SymInt) else test
        self.condition = condition_of(test)
        self.both = self.condition is not None
        if not self.both:
            return
        self.names = names
        self.by_size = is_decided_by_size(test)
        self.extents = set(GRAPH.extents)
        self.began = GRAPH.tick()
        self.facts: list = []  # what is known of the steps of loops where this side is taken
        self.merged: dict = {}  # by the identities of what both sides left
        self.partners: dict[int, int] = {}  # of containers of either side
        self.chosen_of: dict[int, list] = {}  # by the storages of either side
        self.touched: dict = {}  # arrays that were there before: with what they were
        self.before = {name: local.get(name, UNBOUND) for name in names}
        roots = self._roots(local, all_)
        self.containers = _containers([*roots.values(), *self.before.values()])
        self.world = _inner_world(roots)
        if ITERATOR in self.world:
            raise Untraceable(REFUSAL)
        self.first: Any = None  # what the first side left

    def __iter__(self):
        if not self.both:
            yield bool(self.test)
            return
        GRAPH.forks.append(self)
        self.facts = self.test.facts
        yield True
        self.facts = self.test.denied
        yield False

    def _roots(self, local: dict, all_: dict) -> dict:
        """What is not followed, and must not change."""
        found = {**all_, **local}
        rest = {name: found[name] for name in found if not name.startswith("_strop") and name not in self.names}
        return rest | {f"{name} before": value for name, value in self.before.items()}

    def turn(self, local: dict, all_: dict) -> list:
        """At the end of a side: the values of the names."""
        values = {name: local.get(name, UNBOUND) for name in self.names}
        arrays = {key: (array, array.kept()) for key, (array, _) in self.touched.items()}
        contents = {key: (one, _contents(one)) for key, (one, _) in self.containers.items()}
        self._put_back()
        self.check_extents()
        if _inner_world(self._roots(local, all_)) != self.world:
            raise Untraceable(REFUSAL)
        if self.first is None:
            self.first = values, arrays, contents
            return [self.before[name] for name in self.names]
        GRAPH.forks.remove(self)
        first_values, first_arrays, first_contents = self.first
        for key, (array, before) in self.touched.items():
            self._merge_array(array, *(side[key][1] if key in side else before for side in (first_arrays, arrays)))
        for key, (one, old) in contents.items():
            if not _is_same(first_contents[key][1], old):
                _refill(one, self._merged_contents(first_contents[key][1], old))
            elif not _is_same(old, self.containers[key][1]):
                _refill(one, old)
        return [self._merged(first_values[name], values[name]) for name in self.names]

    def check_extents(self):
        """Where a dimension decides, a side may only have arrays that there are at all sizes."""
        from strop.trace_sizes import are_possible

        if self.by_size and not are_possible(GRAPH.extents - self.extents, self.extents):
            raise self.test.undecided

    def _put_back(self):
        for array, kept in self.touched.values():
            array.restore(kept)
        for one, contents in self.containers.values():
            _refill(one, contents)

    # ---- what both sides leave ----

    def _merged(self, a, b):
        if a is b:
            return a
        if (id(a), id(b)) not in self.merged:  # two names of one value stay two names of one
            self.merged[id(a), id(b)] = self._merged_values(a, b), a, b
        return self.merged[id(a), id(b)][0]

    def _merged_values(self, a, b):
        if a is UNBOUND or b is UNBOUND:
            return lost()
        entries, others = entries_of(a), entries_of(b)
        alike = type(a) is type(b) and entries is not None and others is not None
        if alike and list(entries) == list(others):
            known = id(a) in self.containers or id(b) in self.containers
            known = known or self.partners.setdefault(id(a), id(b)) != id(b) or self.partners.setdefault(id(b), id(a)) != id(a)
            if is_changeable(a) and (known or not self.sees_containers):
                raise Untraceable(REFUSAL)  # which of both is changed later is not known
            return rebuilt(a, {key: self._merged(entries[key], others[key]) for key in entries})
        if isinstance(a, (str, bool, type(None))) and type(a) is type(b) and a == b:
            return a
        if not all(isinstance(one, (Traced, np.ndarray, SymInt)) or is_number(one) for one in (a, b)):
            raise Untraceable(REFUSAL)
        if all(isinstance(one, (SymInt, int)) and not isinstance(one, bool) for one in (a, b)) and same(a, b):
            return a
        return self._chosen(lift(a), lift(b), named=True)

    def _chosen(self, a: Traced, b: Traced, named=False) -> Traced:
        """`named`: in NumPy the result is one of both, and not another array."""
        if "lost" in (a.filled, b.filled):
            return lost()
        if named and a.shape and a.dtype != b.dtype:
            raise Untraceable(REFUSAL)
        result = pointwise("where", self.condition, *self._of_one_shape(a, b))
        result.mixed = (a.weak, a.dtype) != (b.weak, b.dtype)
        if named and a.shape:
            self._watch(result, a, b)
        old = [one for one in (a, b) if named and one.shape and (one._storage.born < self.began or one.others)]
        if old:
            result._storage.frozen = ALIAS
            views = [(one._storage, one._version) for one in old] + [pair for one in old for pair in one.others]
            result.others = list(dict.fromkeys(views))  # each once: they double with every branch
        return result

    def _of_one_shape(self, a: Traced, b: Traced) -> tuple[Traced, Traced]:
        from strop.trace_sizes import fitted, fitting_extent

        if len(a.shape) == len(b.shape) and all(same(x, y) for x, y in zip(a.shape, b.shape)):
            return a, b
        if not self.by_size or len(a.shape) != len(b.shape):
            raise self.test.undecided if self.by_size else Untraceable(REFUSAL)
        pairs = list(zip(a.shape, b.shape))
        shape = [fitting_extent(x, y, self.test.facts, self.test.denied) for x, y in pairs]
        if None in shape:
            raise self.test.undecided
        return fitted(a, shape), fitted(b, shape)

    def _watch(self, result: Traced, a: Traced, b: Traced):
        """What a side knows by two names, or as a whole and a part, is two arrays here: neither is to be changed."""
        for storage in {id(one._storage): one._storage for one in (a, b)}:
            found = self.chosen_of.setdefault(storage, [])
            found.append(result)
            for one in found if len(found) > 1 else []:
                one._storage.frozen = ALIAS

    def _merged_contents(self, a, b):
        if isinstance(a, tuple):  # of a list of steps
            if len(a[0]) != len(b[0]) or a[1] != b[1]:
                raise Untraceable(REFUSAL)
            return [self._merged(x, y) for x, y in zip(a[0], b[0])], a[1]
        if list(a) != list(b):
            raise Untraceable(REFUSAL)
        return {key: self._merged(a[key], b[key]) for key in a}

    def _merge_array(self, array: Traced, first: tuple, second: tuple):
        pieces = [side[1] for side in (first, second)]
        if any(one is not None and one.by_step for one in pieces):
            self._merge_step_pieces(array, first, second)
            return
        if all(one is not None for one in pieces) and pieces[0].parts.keys() == pieces[1].parts.keys():
            array.restore(second)
            merged: Pieces = pieces[1].copy()
            merged.only = None
            for bounds, part in merged.parts.items():
                other = pieces[0].parts[bounds]
                if other._node != part._node or "empty" in (other.filled, part.filled):
                    part.restore(self._chosen(other, part).kept())
            array.pieces = merged
            array.changed()
            return
        for side, other in ((first, second), (second, first)):
            if side[1] is None and side[2] == "empty":  # nobody knows what it holds then
                array.restore(other)
                return
        array.restore(first)
        value = Traced(array.node, array.shape, array.dtype)
        array.restore(second)
        array.assign(self._chosen(value, Traced(array.node, array.shape, array.dtype)))

    def _merge_step_pieces(self, array: Traced, first: tuple, second: tuple):
        """Their slabs are arrays that are merged by themselves, but for those that one side began."""
        sides = [side[1] if side[1] is not None and side[1].by_step else None for side in (first, second)]
        kept = sides[0] or sides[1]
        assert kept is not None
        array.restore(first if sides[0] else second)
        if sides[0] is not sides[1]:  # begun here: another pass follows, in which they were there before
            other = sides[1] if sides[0] else None
            value = other.slab if other is not None else kept.initial_slab()
            known = [one for one in (kept.slab, value) if one.filled != "empty"]
            if len(known) == 2:
                kept.slab.assign(self._chosen(*known) if sides[0] else self._chosen(known[1], known[0]))
        array.changed()


def _inner_world(collection) -> list:
    """Of what is in a list or dictionary made for this."""
    return world_of(collection)[1:]


def is_decided_by_size(test) -> bool:
    return test.undecided is not None and getattr(test.undecided, "loop", None) is None


def _containers(values) -> dict:
    """What can be changed in place and is followed, by identity, with its contents."""
    found: dict = {}
    open_ = list(values)
    while open_:
        one = open_.pop()
        if id(one) in found:
            continue
        if isinstance(one, StepList):
            found[id(one)] = one, _contents(one)
            continue
        entries = entries_of(one)
        if entries is None:
            continue
        if is_changeable(one):
            found[id(one)] = one, entries
        open_ += entries.values()
    return found


def _contents(one):
    return (list(one.new), one.backwards, list(one.back)) if isinstance(one, StepList) else entries_of(one)


def _refill(one, contents):
    if isinstance(one, StepList):
        one.new[:], one.backwards = contents[0], contents[1]
        return
    if not _is_same(entries_of(one), contents):
        refill(one, contents)


def _is_same(a, b) -> bool:
    """Of contents: the same objects."""
    if isinstance(a, tuple):
        lists = ((a[0], b[0]), (a[2], b[2]))
        return a[1] == b[1] and all(len(x) == len(y) and all(map(_is, x, y)) for x, y in lists)
    return list(a) == list(b) and all(a[key] is b[key] for key in a)


def _is(a, b) -> bool:
    return a is b


class Side:
    """What is traced though NumPy may not compute it: an operand of `and`, one side of `a if c else b`."""

    def __init__(self, functions, test):
        self.functions = functions
        self.by_size = is_decided_by_size(test)
        self.began = GRAPH.tick()
        self.touched: dict = {}
        self.facts: list = []
        self.world = self._world()
        if ITERATOR in self.world:
            raise Untraceable(REFUSAL)

    def _world(self):
        return _inner_world([*self.functions, self.functions[0].__globals__])

    def value(self, function, facts):
        self.facts = facts
        GRAPH.forks.append(self)
        result = function()
        GRAPH.forks.remove(self)
        if self.touched or self._world() != self.world:
            raise Untraceable(REFUSAL)
        return result


def either(test, yes, no):
    """yes() if test else no()"""
    made = Fork(test, [], {}, {})
    if not made.both:
        return yes() if made.test else no()
    made.sees_containers = False
    side = Side((yes, no), made.test)
    a, b = side.value(yes, made.test.facts), side.value(no, made.test.denied)
    made.check_extents()
    return made._merged(a, b)


def both(*tests):
    """`and` of functions that give the operands."""
    return _combined("logical_and", False, tests)


def any_of(*tests):
    return _combined("logical_or", True, tests)


def _combined(op: str, decided: bool, tests, values=False):
    """`values`: what is asked for is one of the operands, which truth values are themselves."""
    result = tests[0]()
    for test in tests[1:]:
        condition = condition_of(result)
        if condition is not None and values and result.dtype != np.bool_:
            raise Untraceable(REFUSAL)
        if condition is None:
            if bool(result) == decided:
                return result
            result = test()
            continue
        value = Side((test,), result).value(test, result.denied if decided else result.facts)
        other = condition_of(value)
        if other is not None and values and value.dtype != np.bool_:
            raise Untraceable(REFUSAL)
        if other is None and not isinstance(value, (bool, np.bool_)):
            bool(value)  # says why not
            raise Untraceable(REFUSAL)
        before = result
        result = pointwise(op, condition, other if other is not None else value)
        result.undecided = before.undecided or getattr(value, "undecided", None)
        facts, denied = getattr(value, "facts", []), getattr(value, "denied", [])
        known = all((before.facts, before.denied, facts, denied)) and is_decided_by_size(result)
        if op == "logical_and":
            result.facts = before.facts + facts
            result.denied = _not_all(result.facts) if known else []
        else:
            result.denied = before.denied + denied
            result.facts = _not_all(result.denied) if known else []
    return result


def _not_all(facts) -> list:
    from strop.trace_sizes import indicator

    return [(text(indicator(facts)), "==")]


def checked(test):
    """Of a branch that only raises: what it checks is what the reference asks of its inputs."""
    test = test != 0 if isinstance(test, SymInt) else test
    return False if isinstance(test, Traced) and not GRAPH.tries else test


def trying(more: int):
    GRAPH.tries += more


def both_values(*tests):
    return _combined("logical_and", False, tests, values=True)


def any_of_values(*tests):
    return _combined("logical_or", True, tests, values=True)


def caught():
    """At the beginning of what handles an exception."""
    if GRAPH.forks:
        raise Untraceable("an exception in a branch that depends on the values of an array")


def next_(*arguments):
    if GRAPH.forks:
        raise Untraceable(REFUSAL)
    return builtins.next(*arguments)


def negated(test):
    condition = condition_of(test)
    if condition is None:
        return not test
    result = pointwise("logical_not", condition)
    result.undecided, result.facts, result.denied = test.undecided, test.denied, test.facts
    return result


RUNTIME = {
    "_strop_fork": Fork,
    "_strop_either": either,
    "_strop_both": both,
    "_strop_any": any_of,
    "_strop_both_values": both_values,
    "_strop_any_of_values": any_of_values,
    "_strop_checked": checked,
    "_strop_trying": trying,
    "_strop_not": negated,
    "_strop_caught": caught,
    "next": next_,
}
