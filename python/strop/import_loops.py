"""Loops of PyTorch modules over extents that vary, or over many steps.

torch.export unrolls a loop: it takes an extent for a number then, and minutes for some hundred steps. So the module's
file is rewritten as NumPy references are (trace_rewrite), and while it is exported each loop's body runs once, with a
step that is a symbol. Operators of our own say where it begins, what stands for its states, and where it ends; the
reader (import_repeat) makes a loop of what lies between.

What is not followed is unrolled as before: steps that decide anything, attributes that are set, numbers that count.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import operator
import os
import sys
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from strop.import_recurrent import LIBRARY
from strop.trace_rewrite import Rewriter
from strop.trace_states import UNBOUND
from strop.trace_syntax import placed

LONG = 32  # steps of a known number that are no single operations
MOST_PASSES = 4  # over a body, until its states have their shapes


class LoopUnfollowed(Exception):
    """It has to be unrolled."""


class Following:
    """Whether loops are followed now, and how many there were."""

    on = False
    loops = 0
    depth = 0  # of loops whose bodies run


# ---- what PyTorch sees while it exports ------------------------------------------------------------------

LIBRARY.define("loop_begin(SymInt count, int id) -> SymInt")
LIBRARY.define("loop_state(Tensor before, int id, int place) -> Tensor")
LIBRARY.define("loop_end(int[] states, Tensor[] after, Tensor[] last, Tensor[] each, SymInt count, int id) -> Tensor[]")


OPERATORS = ("loop_begin", "loop_state", "loop_end")


def _seen_begin(count, id):
    step = torch.library.get_ctx().new_dynamic_size(min=0)
    torch._check(step < count)
    return step


def _seen_end(states, after, last, each, count, id):
    return [torch.empty_like(one) for one in (*after, *last)] + [one.new_empty([count, *one.shape]) for one in each]


torch.library.register_fake("strop::loop_begin", _seen_begin, lib=LIBRARY)
torch.library.register_fake("strop::loop_state", lambda before, *_: torch.empty_like(before), lib=LIBRARY)
torch.library.register_fake("strop::loop_end", _seen_end, lib=LIBRARY)


# ---- the file ----------------------------------------------------------------------------------------------


class TorchRewriter(Rewriter):
    """Rewrites `for NAME in range(...)` only."""

    def with_few_returns(self, body: list) -> list:
        return body

    def visit_For(self, node):
        return super().visit_For(node) if self.depth and can_be_followed(node) else self.generic_visit(node)

    def visit_Assign(self, node):
        """x[i] = y: PyTorch takes no symbol there."""
        self.generic_visit(node)
        target = node.targets[0]
        if not self.loops or len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        return put(node, target, node.value)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        target, name = node.target, INPLACE.get(type(node.op))
        if not self.loops or name is None or isinstance(target, ast.Attribute):
            return node
        if isinstance(target, ast.Name):
            arguments = [ast.Constant(name), ast.Name(target.id, ast.Load()), node.value]
            call = ast.Call(ast.Name("_strop_augmented", ast.Load()), arguments, [])
            return placed(ast.Assign([target], call), node, node.value)
        before = ast.Subscript(copy.deepcopy(target.value), copy.deepcopy(target.slice), ast.Load())
        return put(node, target, ast.BinOp(before, node.op, node.value))

    def _as_it_is(self, node):
        return self.generic_visit(node)

    visit_If = visit_IfExp = visit_BoolOp = visit_UnaryOp = visit_While = visit_Try = _as_it_is
    visit_ListComp = visit_GeneratorExp = visit_Compare = visit_Call = visit_Break = visit_Return = _as_it_is


INPLACE = {ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv"}


def augmented(name: str, value, other):
    """value += other: where a loop is followed another tensor, which is a state."""
    if not Following.on or not isinstance(value, torch.Tensor):
        return getattr(operator, name)(value, other)
    return getattr(operator, name[1:])(value, other).to(value.dtype)


def put(node, target: ast.Subscript, value):
    arguments = [target.value, key_of(target.slice), value]
    call = ast.Expr(ast.Call(ast.Name("_strop_put", ast.Load()), arguments, []))
    return placed(call, node, *arguments)


def key_of(node):
    """What stands between brackets, as an expression."""
    if isinstance(node, ast.Tuple):
        return ast.Tuple([key_of(one) for one in node.elts], ast.Load())
    if not isinstance(node, ast.Slice):
        return node
    bounds = [one or ast.Constant(None) for one in (node.lower, node.upper, node.step)]
    return ast.Call(ast.Name("slice", ast.Load()), bounds, [])


def put_element(target, key, value):
    """target[key] = value"""
    entries = key if isinstance(key, tuple) else (key,)
    simple = all(one is None or one is Ellipsis or isinstance(one, (int, slice, torch.SymInt)) for one in entries)
    if isinstance(target, torch.Tensor) and simple:
        target[key].copy_(value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=target.dtype))
    else:
        target[key] = value


LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal,
          ast.Delete, ast.Try, ast.With, ast.FunctionDef, ast.ClassDef, ast.NamedExpr)


def can_be_followed(node: ast.For) -> bool:
    over_range = isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range"
    if not over_range or not isinstance(node.target, ast.Name) or node.orelse:
        return False
    inner = [one for top in node.body for one in ast.walk(top)]
    return not any(isinstance(one, LEAVES) or sets_attribute(one) or changes_in_place(one) for one in inner)


def sets_attribute(node) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def changes_in_place(node) -> bool:
    """x.add_(y)"""
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return name.endswith("_") and not name.startswith("_")


class Loader(importlib.machinery.SourceFileLoader):
    """No bytecode: what was compiled before is not rewritten."""

    def get_code(self, fullname):
        return self.source_to_code(self.get_data(self.path), self.path)

    def source_to_code(self, data, path, **_):  # type: ignore[override]
        tree = ast.parse(data, path)
        if any(isinstance(node, ast.For) and can_be_followed(node) for node in ast.walk(tree)):
            tree = ast.fix_missing_locations(TorchRewriter().visit(tree))
        return compile(tree, path, "exec")

    def exec_module(self, module):
        module.range = range_
        module._strop_loop, module._strop_put, module._strop_augmented = TensorLoop, put_element, augmented
        module._strop_unbound = UNBOUND
        super().exec_module(module)


def spec_of(name: str, path: str):
    return importlib.util.spec_from_file_location(name, path, loader=Loader(name, path))


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self, folder: str):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        file = os.path.join(self.folder, name + ".py")
        return spec_of(name, file) if path is None and os.path.isfile(file) else None


@contextlib.contextmanager
def files_rewritten(folder: str):
    """Of modules that are imported from a folder meanwhile."""
    finder = Finder(folder)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def followed(export):
    """What `export` gives with loops followed, or, where that fails, unrolled."""
    Following.on, Following.loops, Following.depth = True, 0, 0
    try:
        program = export()
        if not Following.loops or not has_moving_extents(program):
            return program
    except Exception:
        if not Following.loops:
            raise
    finally:
        Following.on = False
    return export()


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


class SymbolicRange:
    def __init__(self, begin, end, step):
        self.begin, self.step = begin, step
        self.bounds = begin, end, step
        self.count = end - begin if step == 1 else (end - begin + step - 1) // step

    def _known(self):
        """For who does not loop over it: Python makes numbers of the bounds."""
        return builtins.range(*map(int, self.bounds))

    def __iter__(self):
        return iter(self._known())

    def __len__(self):
        return len(self._known())

    def __getitem__(self, place):
        return self._known()[place]


def range_(*bounds):
    begin, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    varies = any(isinstance(one, torch.SymInt) for one in (begin, end))
    if not Following.on or not isinstance(step, int) or step < 1:
        return builtins.range(*bounds)
    if not varies and (not all(isinstance(one, int) for one in (begin, end)) or (end - begin) // step < LONG):
        return builtins.range(*bounds)
    Following.loops += 1
    return SymbolicRange(begin, end, step)


class Appended:
    """Stands for a list, while the body runs."""

    def __init__(self, before: list):
        self.before = before
        self.values: list = []

    def append(self, value):
        self.values.append(value)


class SteppedList:
    """What a loop has appended to a list: a tensor with the steps first. Stacked or concatenated (import_functions)."""

    def __init__(self, before: list, each: torch.Tensor):
        self.before, self.each = before, each

    def stacked(self, dim: int = 0):
        parts = [torch.stack(self.before)] if self.before else []
        return torch.cat([*parts, self.each]).movedim(0, dim)

    def concatenated(self, dim: int = 0):
        dim %= self.each.ndim - 1
        return torch.cat([*self.before, self.each.movedim(0, dim).flatten(dim, dim + 1)], dim)

    def __getitem__(self, place):
        if place != -1:
            raise LoopUnfollowed
        return self.each[-1]


class TensorLoop:
    """What the rewritten `for` statement talks to, as trace_loops.Loop."""

    made = 0

    def __init__(self, items, place, called, about: dict):
        self.items = items
        self.symbolic = self.done = False
        self.item: Any = None
        self.names = list(about["names"])
        self.stored, self.fresh, self.mutated = (set(about[key]) for key in ("stored", "fresh", "mutated"))
        self.called = called
        self.plans: dict[str, torch.Tensor] = {}  # like what a state is from the first step on
        self.before: dict[str, Any] = {}
        self.given: dict[str, Any] = {}
        self.passes = 0

    def __iter__(self):
        if not isinstance(self.items, SymbolicRange):
            yield from self.items
            return
        self.symbolic = True
        while not self.done:
            yield None
        self.symbolic = False

    def turn(self, local: dict, all_: dict) -> list:
        if not self.passes:
            self.before = {name: local.get(name, UNBOUND) for name in self.names}
            self._check_views(local)
            Following.depth += 1
        elif self._is_settled(local):
            self.done = True
            Following.depth -= 1
            return self._after(local)
        return self._begin()

    def _check_views(self, local: dict):
        """What is written into has no other name, and only one loop around it."""
        for name in self.mutated:
            if not isinstance(self.before.get(name), torch.Tensor):
                continue
            storage = self.before[name].untyped_storage()._cdata
            others = [one for other, one in local.items() if other != name and isinstance(one, torch.Tensor)]
            if Following.depth or any(one.untyped_storage()._cdata == storage for one in others):
                raise LoopUnfollowed

    def _begin(self) -> list:
        self.passes += 1
        if self.passes > MOST_PASSES:
            raise LoopUnfollowed
        TensorLoop.made += 1
        self.id = TensorLoop.made
        self.item = self.items.begin + self.items.step * torch.ops.strop.loop_begin(self.items.count, self.id)
        self.given = {name: self._stand_in(name, value) for name, value in self.before.items()}
        return [self.given[name] for name in self.names]

    def _stand_in(self, name: str, value):
        if name in self.fresh:
            return UNBOUND
        if name in self.plans:
            like = self.plans[name]
            tensor = value if isinstance(value, torch.Tensor) else torch.full((), value)
            return self._state(name, tensor.to(like.dtype).expand(like.shape).clone())
        if isinstance(value, torch.Tensor) and name in self.stored | self.mutated:
            return self._state(name, value)
        if name in self.mutated and value is not UNBOUND:
            if not isinstance(value, list):
                raise LoopUnfollowed
            return Appended(value)
        return value

    def _state(self, name: str, before: torch.Tensor):
        return torch.ops.strop.loop_state(before, self.id, self.names.index(name))

    def _is_settled(self, local: dict) -> bool:
        """Whether the states have the shapes and types that they were given."""
        misfits = {}
        for name, given in self.given.items():
            after = local.get(name, UNBOUND)
            if name in self.fresh or after is given:
                continue
            if not isinstance(after, torch.Tensor) or not isinstance(given, (torch.Tensor, int, float)):
                raise LoopUnfollowed
            if not isinstance(given, torch.Tensor) or given.shape != after.shape or given.dtype != after.dtype:
                misfits[name] = after
        self.plans |= misfits
        return not misfits

    def _after(self, local: dict) -> list:
        values = {name: local.get(name, UNBOUND) for name in self.names}
        states = [name for name in self.names if isinstance(self.given[name], torch.Tensor) and
                  (name in self.mutated or values[name] is not self.given[name])]
        last = [name for name in self.names if name in self.fresh and isinstance(values[name], torch.Tensor)]
        lists = [name for name, one in self.given.items() if isinstance(one, Appended) and one.values]
        if any(len(self.given[name].values) > 1 or not isinstance(self.given[name].values[0], torch.Tensor) for name in lists):
            raise LoopUnfollowed
        results = torch.ops.strop.loop_end(
            [self.names.index(name) for name in states], [values[name] for name in states], [values[name] for name in last],
            [self.given[name].values[0] for name in lists], self.items.count, self.id)
        left = {name: UNBOUND if name in self.fresh else self.before[name] for name in self.names}
        left |= dict(zip([*states, *last], results))
        left |= {name: SteppedList(self.before[name], each)
                 for name, each in zip(lists, results[len(states) + len(last) :])}
        if self.called in left:
            left[self.called] = self.items.begin + self.items.step * (self.items.count - 1)
        return [left[name] for name in self.names]
