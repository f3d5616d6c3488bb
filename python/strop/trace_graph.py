"""The graph under construction."""

from __future__ import annotations

import math
import re

import numpy as np

from strop.trace_dims import SymInt, Untraceable, text

DTYPES = ("float32", "float64", "int32", "int64", "int8", "uint8", "bool")
MAX_NODES = 20000
NOTHING: frozenset = frozenset()
# What a rounded operand changes by more than its rounding.
JUMPING = {"sin", "cos", "floor", "ceil", "round", "floor_divide", "remainder"}


class Builder:
    """The graph under construction. One trace runs in a process, so there is one."""

    def __init__(self):
        self.first_steps: dict = {}  # of loops, by their place in the reference's file: how many are traced one by one
        self.whole_loops: set = set()  # loops whose arrays are states, which their steps may change anywhere
        self.forking: set = set()  # loops whose branches by the step are traced on both sides
        self.unrolled: set = set()  # loops of a known length that cannot be traced as if it varied
        self.whiles: set = set()  # `while` loops that were traced as they are, and could be as loops over a range
        self.counting: set = set()  # those that are
        self.results: dict = {}  # of loops that return: the shapes and kinds of what they do
        self.start("float32")

    def start(self, working_dtype: str):
        self.nodes: list[dict] = []
        self.working = working_dtype  # what Python's floats become when no array decides
        self.constants: dict = {}
        # Of loops (trace_loops): for each node the passes that it depends on, the passes under way, outermost first,
        # all passes by the name of their step, and what stands for the states of a finished loop.
        self.depends: list[frozenset] = []
        self.passes: list = []
        self.steps: dict = {}
        self.states: dict = {}
        self.extents: set[str] = set()  # of all nodes
        self.checked: dict = {}  # what was found of places and extents by trying sizes (trace_places)
        self.long_loops: set = set()  # of a known length, traced as if it varied
        self.assumed: dict = {}  # loops of which more steps are traced by themselves than there may be
        self.forks: list = []  # branches under way of which both sides are traced (trace_forks)
        self.tries = 0  # `try` statements under way
        self.clock = 0
        self.names: set[str] = set()  # of the dimensions and parameters
        self.points: list[dict] = []  # sizes that the graph must be right for
        self.require: dict[str, int] = {}  # what these extents are at least, as the graph takes for granted
        # Of float32 nodes that NumPy has in float64, whatever the inputs are (np.linspace): the same in float64.
        self.wide: dict[int, int] = {}
        SymInt.steps = self.steps

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def touch(self, array):
        """Before an array changes in place: a pass over a loop's body has to put it back."""
        if array._storage.frozen:
            raise Untraceable(array._storage.frozen)
        self.touch_in_forks(array)
        if self.passes and array.born < self.passes[-1].began:
            self.passes[-1].touched.setdefault(id(array), (array, array.kept()))

    def touch_in_forks(self, array):
        for fork in self.forks:
            if array.born < fork.began:
                fork.touched.setdefault(id(array), (array, array.kept()))

    def steps_in(self, texts) -> frozenset:
        if not self.steps:
            return NOTHING
        words = {word for one in texts for word in re.findall(r"[A-Za-z_]\w*", str(one))}
        return frozenset(self.steps[word] for word in words & self.steps.keys())

    def depend(self, operands, attributes) -> frozenset:
        if not self.steps:
            return NOTHING
        texts = [attributes.get("dim", "")]
        for key in ("begin", "end", "step", "window"):
            texts += attributes.get(key, [])
        return self.steps_in(texts).union(*(self.depends[i] for i in operands))

    def add(self, family: str, op: str, operands: list[int], shape, dtype, **attributes) -> int:
        twins = self.twins(operands, np.dtype(dtype) == bool) if family in ("pointwise", "layout") else None
        if twins is None:
            return self._add(family, op, operands, shape, dtype, **attributes)
        if op == "cast" and np.dtype(dtype) == np.float64:
            return twins[0]
        if np.dtype(dtype) != np.float32:  # a comparison, or a whole number
            return self._add(family, op, twins, shape, dtype, **attributes)
        wide = self._add(family, op, twins, shape, np.float64, **attributes)
        rounded = family == "pointwise" and op in JUMPING
        node = self.rounded(wide, shape) if rounded else self._add(family, op, operands, shape, dtype, **attributes)
        self.wide[node] = wide
        return node

    def rounded(self, wide: int, shape) -> int:
        return self._add("pointwise", "cast", [wide], shape, np.float32)

    def twins(self, operands: list[int], compared: bool) -> list[int] | None:
        """In float64, where NumPy has them all so, or compares them so."""
        if not any(operand in self.wide for operand in operands):
            return None
        found = [self.twin(operand) for operand in operands]
        if compared:
            found = [self._add("pointwise", "cast", [one], self.nodes[one]["shape"], np.float64) if twin is None else twin
                     for one, twin in zip(operands, found)]
        return None if None in found else [one for one in found if one is not None]

    def twin(self, operand: int) -> int | None:
        node = self.nodes[operand]
        if operand in self.wide or node["dtype"] != "float32":
            return self.wide.get(operand, operand)
        if node["family"] == "constant":
            value = {key: node[key] for key in ("value", "dim") if key in node}
            return self._add("constant", "", [], [], np.float64, **value)
        return self._add("pointwise", "cast", [operand], [], np.float64) if node["family"] == "parameter" else None

    def _add(self, family: str, op: str, operands: list[int], shape, dtype, **attributes) -> int:
        if len(self.nodes) >= MAX_NODES:
            raise Untraceable(f"more than {MAX_NODES} operations")
        name = np.dtype(dtype).name
        name = "float32" if name == "float16" else name  # in which it is computed; 16 bits are for memory
        if name not in DTYPES:
            raise Untraceable(f"dtype '{name}' is not supported")
        shape = [extent if isinstance(extent, str) else text(extent) for extent in shape]
        if self.steps_in(shape) or (op == "pad" and self.steps_in(attributes["begin"] + attributes["end"])):
            raise Untraceable("an extent that changes with each step")
        self.extents.update(shape)
        self.depends.append(self.depend(operands, attributes))
        self.nodes.append(
            {"family": family, "op": op, "operands": operands, "shape": shape, "dtype": name, **attributes}
        )
        return len(self.nodes) - 1

    def constant(self, value, dtype) -> int:
        """One node a value and dtype."""
        symbolic = isinstance(value, SymInt)
        key = (text(value) if symbolic else repr(value), np.dtype(dtype).name)
        if key not in self.constants:
            value = text(value) if symbolic else value
            if not symbolic and not math.isfinite(value):
                value = str(float(value))  # JSON has no infinities: "inf", "-inf", "nan"
            self.constants[key] = self.add(
                "constant", "", [], [], dtype, **{"dim" if symbolic else "value": value}
            )
        return self.constants[key]

    def dtype(self, node: int):
        return np.dtype(self.nodes[node]["dtype"])


GRAPH = Builder()
