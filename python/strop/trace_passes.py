"""One run over the body of a loop, with a symbol for the step, and what it did."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from strop.trace_array import GRAPH
from strop.trace_bodies import needed_by, record_nodes
from strop.trace_dims import SymInt, Untraceable


class Pass:
    """One run over the body, with a symbol for the step."""

    def __init__(self, loop, called: str, count):
        self.loop, self.count = loop, count
        self.called = called = "step" if called in ("min", "max") else called.strip("_") or "step"
        number = len(GRAPH.steps) + 1
        while f"{called}__{number}" in GRAPH.names:
            number += 1
        self.name = f"{called}__{number}"
        self.symbol = self.taken = SymInt.symbol(self.name)  # taken: how many steps come before
        self.guard: Any = None  # of a loop some of whose steps change nothing (trace_guards)
        self.began = GRAPH.tick()
        self.first = len(GRAPH.nodes)
        self.touched: dict = {}  # arrays that were there before it: with what they were
        self.used: set[int] = set()  # operands of its nodes
        GRAPH.steps[self.name] = self
        GRAPH.passes.append(self)

    def placeholder(self, shape, dtype) -> int:
        """What the step before left."""
        node = GRAPH.add("input", "", [], shape, dtype)
        GRAPH.depends[node] = frozenset([self])
        return node

    def end(self):
        if not GRAPH.passes or GRAPH.passes[-1] is not self:
            raise Untraceable("a loop is left before its end")
        nodes = GRAPH.nodes[self.first :]
        self.used = {operand for node in nodes for operand in node["operands"]}
        for node in nodes:
            if node["family"] == "repeat":
                record = node["loop"]
                self.used.update(record.initial, record.new, record.stacks)

    def leave(self):
        GRAPH.passes.pop()

    def likeness(self, outputs, origin: int) -> list:
        """Equal for passes that compute the same from what was there before node `origin`."""
        names: dict[str, int] = {}
        numbers: dict[int, int] = {}
        result: list = []

        def plain(value):
            if isinstance(value, str):
                return re.sub(r"\w+__\d+", lambda name: f"?{names.setdefault(name.group(), len(names))}", value)
            return [plain(one) for one in value] if isinstance(value, list) else value

        def described(index: int):
            node = GRAPH.nodes[index]
            known = index < origin and node["family"] != "constant"
            around = node["family"] == "input" and not GRAPH.depends[index].isdisjoint(GRAPH.passes[:-1])
            if known or around:
                return index, []
            rest = {key: plain(value) for key, value in node.items() if key not in ("operands", "loop")}
            return rest, record_nodes(node["loop"]) if node["family"] == "repeat" else node["operands"]

        open_ = [(index, False) for index in reversed(outputs)]
        while open_:
            index, ready = open_.pop()
            if index in numbers:
                continue
            said, operands = described(index)
            if ready or not operands:
                numbers[index] = len(numbers)
                result.append((said, [numbers[i] for i in operands]))
            else:
                open_ += [(index, True), *((i, False) for i in reversed(operands))]
        return [*result, [numbers[i] for i in outputs]]

    def work(self, outputs) -> Counter:
        """The computations that the results of the pass need."""
        needed = [GRAPH.nodes[i] for i in needed_by(outputs) if i >= self.first]
        idle = ("constant", "input", "layout", "repeat")

        def numbers(node) -> str:
            known = [GRAPH.nodes[i] for i in node["operands"] if GRAPH.nodes[i]["family"] == "constant"]
            return str([one.get("dim", one.get("value")) for one in known if not GRAPH.steps_in([one.get("dim", "")])])

        busy = [node for node in needed if node["family"] not in idle and node["op"] != "cast"]
        return Counter((node["family"], node["op"], str(node.get("axes")), numbers(node)) for node in busy)
