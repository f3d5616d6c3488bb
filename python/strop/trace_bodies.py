"""The document of a trace with loops of varying length: each loop's body becomes a graph of its own.

While a reference is traced, the nodes of all passes over all bodies lie in one list. A node belongs to the body of each
loop whose step or states it depends on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from strop.trace_array import GRAPH, Traced
from strop.trace_dims import SymInt, Untraceable, text

LEAVES = ("constant", "parameter", "iota")
KEPT = "a value of a loop is kept where it cannot be followed"


@dataclass(eq=False)
class Record:
    """A finished loop."""

    step: Any  # the pass over the body that counts
    initial: list[int] = field(default_factory=list)
    placeholders: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    stacks: list[int] = field(default_factory=list)
    results: dict = field(default_factory=dict)

    def state(self, initial: int, placeholder: int, new: int) -> int:
        GRAPH.states[placeholder] = (self, len(self.new))
        self.initial.append(initial)
        self.placeholders.append(placeholder)
        self.new.append(new)
        return len(self.new) - 1

    def stack(self, node: int) -> int:
        if node not in self.stacks:
            self.stacks.append(node)
        return self.stacks.index(node)

    def depends(self) -> frozenset:
        within = frozenset().union(*(GRAPH.depends[i] for i in [*self.new, *self.stacks])) - {self.step}
        return within.union(*(GRAPH.depends[i] for i in self.initial))

    def result(self, op: str, index: int, shape) -> Traced:
        """Only once all states and stacks are known."""
        if (op, index) not in self.results:
            source = (self.new if op == "last" else self.stacks)[index]
            dtype = GRAPH.nodes[source]["dtype"]
            node = GRAPH.add("repeat", op, [], shape, dtype, loop=self, result=index)
            GRAPH.depends[node] = self.depends()
            self.results[op, index] = Traced(node, shape, dtype)
        found = self.results[op, index]
        return Traced(found.node, found.shape, found.dtype)


def record_nodes(record: Record) -> list[int]:
    return [*record.initial, *record.placeholders, *record.new, *record.stacks]


def needed_by(outputs) -> set[int]:
    """All nodes that these need, within bodies too."""
    needed: set[int] = set()
    open_ = list(outputs)
    while open_:
        index = open_.pop()
        if index in needed:
            continue
        needed.add(index)
        node = GRAPH.nodes[index]
        open_ += node["operands"]
        if node["family"] == "repeat":
            record, k = node["loop"], node["result"]
            open_ += [record.stacks[k]] if node["op"] == "stack" else [record.placeholders[k]]
        if index in GRAPH.states:
            record, k = GRAPH.states[index]
            open_ += [record.initial[k], record.new[k]]
    return needed


def document(outputs: list[int]) -> dict:
    if GRAPH.passes:
        raise Untraceable("a loop is left before its end")
    needed = needed_by(outputs)
    for records in GRAPH.assumed.values():  # the count of a node says how many steps there must be
        if not any(one._node in needed for record in records for one in record.results.values()):
            raise Untraceable("control flow depends on the step of a loop")
    graph = _Graph(needed)
    for index, node in enumerate(GRAPH.nodes):
        own = index in graph.needed or node["family"] == "input"
        if own and not GRAPH.depends[index]:
            graph.get(index)
    outputs = [graph.get(i) for i in outputs]
    require = [f"{extent} >= {least}" for extent, least in GRAPH.require.items()]
    return {"nodes": graph.nodes, "outputs": outputs, **({"require": require} if require else {})}


class _Graph:
    """One graph under construction: the outer one, or that of a loop's body."""

    def __init__(self, needed: set[int], record: Record | None = None, parent: _Graph | None = None):
        self.needed, self.record, self.parent = needed, record, parent
        self.nodes: list[dict] = []
        self.place: dict[int, int] = {}
        self.operands: list[int] = []  # of the repeat node, in the graph around
        self.bodies: dict[Record, dict] = {}
        self.names: dict[str, str] = dict(parent.names) if parent else {}  # of the steps of the loops around
        self.passes: frozenset = (parent.passes | {record.step}) if parent and record else frozenset()

    def get(self, index: int) -> int:
        if index not in self.place:
            self.place[index] = self._copy(index)
        return self.place[index]

    def _copy(self, index: int) -> int:
        node = GRAPH.nodes[index]
        if self.record and self.record.step not in GRAPH.depends[index] and node["family"] not in LEAVES:
            assert self.parent is not None
            return self.input(index, self.parent.get(index))
        if not GRAPH.depends[index] <= self.passes or index in GRAPH.states:
            raise Untraceable(KEPT)
        if node["family"] == "repeat":
            body = self._body(node["loop"])
            before = body["states"] if node["op"] == "stack" else 0
            result = before + body["kept"][node["op"]].index(node["result"])
            node = {key: node[key] for key in ("family", "op", "shape", "dtype")} | body | {"result": result}
            del node["kept"]
        else:
            node = self._renamed(node) | {"operands": [self.get(i) for i in node["operands"]]}
        self.nodes.append(node)
        return len(self.nodes) - 1

    def input(self, index: int, operand: int) -> int:
        node = GRAPH.nodes[index]
        known = {"shape": node["shape"], "dtype": node["dtype"]}
        self.nodes.append({"family": "input", "op": str(len(self.operands)), "operands": []} | known)
        self.operands.append(operand)
        self.place[index] = len(self.nodes) - 1
        return self.place[index]

    def _renamed(self, node: dict) -> dict:
        if not self.names:
            return node
        result = dict(node)
        for key in ("begin", "end", "step", "window"):
            if key in node:
                result[key] = [self._spelled(one) for one in node[key]]
        if "dim" in node:
            result["dim"] = self._spelled(node["dim"])
        return result

    def _spelled(self, source: str) -> str:
        return re.sub(r"[A-Za-z_]\w*", lambda found: self.names.get(found.group(), found.group()), source)

    def _body(self, record: Record) -> dict:
        """What all results of one loop share."""
        if record in self.bodies:
            return self.bodies[record]
        kept = [k for k, placeholder in enumerate(record.placeholders) if placeholder in self.needed]
        stacks = [k for k, _ in enumerate(record.stacks) if self._stack_is_needed(record, k)]
        body = _Graph(self.needed, record, self)
        step = record.step
        body.names[step.name] = self._free_name(step.called)
        for k in kept:
            body.input(record.placeholders[k], self.get(record.initial[k]))
        for index in sorted(self.needed):
            if step in GRAPH.depends[index] and GRAPH.depends[index] <= body.passes and index not in GRAPH.states:
                body.get(index)
        outputs = [body.get(record.new[k]) for k in kept] + [body.get(record.stacks[k]) for k in stacks]
        self.bodies[record] = {
            "operands": body.operands,
            "body": {"nodes": body.nodes, "outputs": outputs},
            "step": body.names[step.name],
            "count": text(step.count),
            "states": len(kept),
            "kept": {"last": kept, "stack": stacks},
        }
        return self.bodies[record]

    def _stack_is_needed(self, record: Record, k: int) -> bool:
        result = record.results.get(("stack", k))
        return result is not None and result._node in self.needed

    def _free_name(self, called: str) -> str:
        taken = GRAPH.names | set(self.names.values()) | SymInt.parameters
        name, number = called, 1
        while name in taken:
            number += 1
            name = f"{called}_{number}"
        return name
