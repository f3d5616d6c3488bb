"""Values that a loop leaves to what comes after it."""

from __future__ import annotations

from strop.trace_array import GRAPH, Traced
from strop.trace_bodies import Record
from strop.trace_dims import Untraceable
from strop.trace_states import UNSETTLED, Plan, entries_of, rebuilt

ALIAS = "an array is changed that is perhaps a part of another, which a loop has named"


class Last:
    def __init__(self, index: int, value: Traced):
        self.index, self.value = index, value


class Later:
    def __init__(self, make):
        self.make = make


def made(value):
    if isinstance(value, Later):
        return value.make()
    entries = entries_of(value)
    if entries is None or hasattr(value, "__dict__"):
        return value
    return rebuilt(value, {key: made(one) for key, one in entries.items()})


def as_planned(record: Record, index: int, plan: Plan) -> Traced:
    result = record.result("last", index, plan.shape)
    return Traced(result.node, plan.shape, plan.dtype, plan.weak)


def conform_same(value: Traced, past: Traced) -> int:
    if GRAPH.nodes[value.node]["shape"] != GRAPH.nodes[past.node]["shape"] or value.dtype != past.dtype:
        raise Untraceable(UNSETTLED)
    return value.node


def let_alias(result: Traced, views: list) -> Traced:
    """`views`: storages that it may be of, each with its version."""
    result._storage.frozen, result.others = ALIAS, views
    return result


class Aliases:
    """What a loop leaves as a value of its own, where NumPy has a view or an array that was there before.

    It is not to be changed, and not to be read after that array has changed.
    """

    def __init__(self, began: int, listed: list):
        self.began = began
        self.listed = [value._storage for value in listed if isinstance(value, Traced)]  # what lists hold, too
        self.found: list[tuple[Traced, list]] = []

    def of(self, value) -> list:
        """The storages that a value of a name may be of."""
        shared = isinstance(value, Traced) and any(value._storage is one for one in self.listed)
        return [value._storage] if shared else self.older(value)

    def older(self, value) -> list:
        """Those that were there before."""
        if not isinstance(value, Traced) or not value.shape:
            return []
        own = [value._storage] if value._storage.born < self.began else []
        return own + [storage for storage, _ in value.others]

    def add(self, result: Traced, storages: list) -> Traced:
        if storages:
            self.found.append((result, storages))
        return result

    def settle(self):
        """When all arrays are what the loop leaves."""
        for result, storages in self.found:
            let_alias(result, [(storage, storage.version) for storage in storages])
