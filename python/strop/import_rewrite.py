"""The files of PyTorch modules, rewritten so that their loops can be followed (import_loops)."""

from __future__ import annotations

import ast
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

from strop import import_walks
from strop.import_loops import TensorLoop, collected
from strop.import_owners import has_other_name
from strop.import_walks import Following, as_number
from strop.trace_rewrite import Rewriter, as_list, binds
from strop.trace_states import UNBOUND
from strop.trace_syntax import placed
from strop.trace_while import counted_loop


class TorchRewriter(Rewriter):
    """Rewrites `for` loops, and what is written into in them."""

    brings_names = False  # `from torch import *`, which has a sum

    def visit_ImportFrom(self, node):
        self.brings_names = self.brings_names or any(one.name == "*" for one in node.names)
        return node

    def with_few_returns(self, body: list) -> list:
        return body

    def visit_For(self, node):
        if not self.depth or not can_be_followed(node):
            return self.generic_visit(node)
        node.body = [InPlace().visit(one) for one in node.body]
        return super().visit_For(node)

    def visit_Assign(self, node):
        """x[i] = y: PyTorch takes no symbol there."""
        self.generic_visit(node)
        if not self.loops or not any(isinstance(target, ast.Subscript) for target in node.targets):
            return node
        if len(node.targets) == 1:
            return put(node, node.targets[0], node.value)
        name = ast.Name("_strop_value", ast.Store())
        each = [put(node, target, ast.Name(name.id, ast.Load())) if isinstance(target, ast.Subscript) else
                placed(ast.Assign([target], ast.Name(name.id, ast.Load())), node, target) for target in node.targets]
        return [placed(ast.Assign([name], node.value), node, node.value), *each]

    def visit_Subscript(self, node):
        """x[:, t:t+3]: PyTorch does not see how many those are."""
        self.generic_visit(node)
        key = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        both = any(isinstance(one, ast.Slice) and one.lower and one.upper and not one.step for one in key)
        if not self.depth or not isinstance(node.ctx, ast.Load) or not both:
            return node
        call = ast.Call(ast.Name("_strop_get", ast.Load()), [node.value, key_of(node.slice)], [])
        return placed(call, node, *(inner for inner in ast.walk(node) if isinstance(inner, ast.expr) and inner is not node))

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        target, name = node.target, ast.Constant(INPLACE[type(node.op)])
        if not self.loops or isinstance(target, ast.Attribute):
            return node
        if isinstance(target, ast.Name):
            arguments = [name, ast.Constant(target.id), ast.Name(target.id, ast.Load()), node.value, locals_()]
            call = ast.Call(ast.Name("_strop_augmented", ast.Load()), arguments, [])
            return placed(ast.Assign([target], call), node, node.value)
        return put(node, target, node.value, name)

    def _as_it_is(self, node):
        return self.generic_visit(node)

    def about(self, node) -> dict:
        inner = [one for top in node.body for one in ast.walk(top)]
        names = {one.target.id for one in inner if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)}
        calls = [one.args[1] for one in inner if isinstance(one, ast.Call) and name_of(one.func) == CHANGED]
        return {"augmented": sorted(names | {name_of(one) for one in calls})}

    def visit_Call(self, node):
        """range and the like; x.unbind(1), torch.unbind(x, 1); list(...) of what a loop has collected."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("unbind", "split"):
            name, first = f"_strop_{node.func.attr}", node.func.value
        elif self.brings_names:
            return node
        elif name_of(node.func) in WALKS and not any(name_of(node.func) in names for names in self.locals):
            name = name_of(node.func)
            if name == "zip" and len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
                name, node.args = "unzipped", [node.args[0].value]
            node.func = placed(ast.Name(f"_strop_{name}", ast.Load()), node)
            return node
        elif name_of(node.func) in ("list", "tuple") and len(node.args) == 1:
            name, first = "_strop_sequence", node.func
        else:
            return node
        call = ast.Call(ast.Name(name, ast.Load()), [first, *node.args], node.keywords)
        return placed(call, node, *call.args, *call.keywords)

    def _collected(self, node):
        """As a loop, which has no states."""
        self.generic_visit(node)
        generator = node.generators[0]
        names = generator.target.elts if isinstance(generator.target, ast.Tuple) else [generator.target]
        plain = len(node.generators) == 1 and not generator.ifs and not generator.is_async
        if not self.depth or not plain or not all(isinstance(name, ast.Name) for name in names) or binds([node.elt]):
            return node
        if any(isinstance(inner, ast.Lambda) or takes(inner) or changes_in_place(inner) for inner in ast.walk(node.elt)):
            return node  # a function sees the last item
        function = ast.Lambda(arguments_of(names), node.elt)
        if isinstance(generator.target, ast.Tuple):
            item = ast.Starred(ast.Name("_strop_item", ast.Load()), ast.Load())
            function = ast.Lambda(arguments_of([ast.Name("_strop_item")]), ast.Call(function, [item], []))
        kind = ast.Name("list" if isinstance(node, ast.ListComp) else "iter", ast.Load())
        call = ast.Call(ast.Name("_strop_collected", ast.Load()), [function, generator.iter, kind, locals_()], [])
        return placed(call, node, node.elt, generator.iter)

    visit_ListComp = visit_GeneratorExp = _collected

    def visit_While(self, node):
        """As it is, and as a loop over a range for where loops are followed, if it counts."""
        self.count += 1
        loop = counted_loop(copy.deepcopy(node), self.count, self.foreign[-1]) if self.depth else None
        plain = self.generic_visit(node)
        if loop is None or not can_be_followed(loop[-1]):
            return plain
        counted = [inner for one in loop for inner in as_list(self.visit(one))]
        test = ast.parse("_strop_counts()", mode="eval").body
        return ast.copy_location(ast.If(placed(test, node), counted, [plain]), node)

    visit_If = visit_IfExp = visit_BoolOp = visit_UnaryOp = visit_Try = _as_it_is
    visit_Compare = visit_Break = visit_Return = _as_it_is


WALKS = {
    "range": import_walks.range_,
    "enumerate": import_walks.enumerate_,
    "zip": import_walks.zip_,
    "reversed": import_walks.reversed_,
    "sum": import_walks.sum_,
}
CHANGED = "_strop_changed"


class InPlace(ast.NodeTransformer):
    """Statements x.mul_(2).add_(y) as x = x.mul(2).add(y), where the loop is followed."""

    def visit_Expr(self, node):
        calls, base = calls_in_place(node)
        if not calls:
            return node
        new = out_of_place(copy.deepcopy(node.value), len(calls))
        if isinstance(base, ast.Subscript):
            target = copy.deepcopy(base)
            target.ctx = ast.Store()
            return placed(ast.Assign([target], new), node, new)
        both = [ast.Lambda(arguments_of([base]), one) for one in (new, node.value)]
        known = [ast.Constant(base.id), ast.Name(base.id, ast.Load()), locals_()]
        call = ast.Call(ast.Name(CHANGED, ast.Load()), [*known, *both], [])
        return placed(ast.Assign([ast.Name(base.id, ast.Store())], call), node, new, node.value)


OVERWRITES = ("copy_", "fill_", "zero_")


def out_of_place(call, calls: int):
    """x.mul_(2).add_(y) as x.mul(2).add(y)"""
    target, name = call.func.value, call.func.attr
    if calls > 1:
        target = out_of_place(target, calls - 1)
    if name not in OVERWRITES:
        return ast.Call(ast.Attribute(target, name[:-1], ast.Load()), call.args, call.keywords)
    return ast.Call(ast.Name("_strop_overwritten", ast.Load()), [target, *(call.args or [ast.Constant(0)])], call.keywords)


def overwritten(tensor, value):
    return value.to(tensor.dtype).expand(tensor.shape) if isinstance(value, torch.Tensor) else torch.full_like(tensor, value)


def is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def calls_in_place(node) -> tuple[list, Any]:
    """The calls of a statement x.mul_(2).add_(y), where others do the same out of place, and what they change."""
    calls: list[Any] = []
    inner = getattr(node, "value", None)
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and is_in_place(inner.func.attr):
        calls.append(inner)
        inner = inner.func.value
    names = [call.func.attr for call in calls]
    known = all(name in OVERWRITES or hasattr(torch.Tensor, name[:-1]) for name in names)
    return (calls if known and isinstance(inner, (ast.Name, ast.Subscript)) else []), inner


def changed_tensor(name: str, tensor, local: dict, out_of_place, in_place):
    return out_of_place(tensor).to(tensor.dtype) if is_state(name, tensor, local) else in_place(tensor)


def name_of(node) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def arguments_of(names: list) -> ast.arguments:
    named = [ast.arg(name.id) for name in names]
    return ast.arguments(posonlyargs=[], args=named, kwonlyargs=[], kw_defaults=[], defaults=[])


def locals_() -> ast.Call:
    return ast.Call(ast.Name("locals", ast.Load()), [], [])


INPLACE = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.MatMult: "imatmul",
    ast.BitAnd: "iand",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
}
PLAIN = {"iand": "and_", "ior": "or_"}


def is_state(name: str, value, local: dict) -> bool:
    """What is changed in place is another tensor where a loop is followed; who else would see it?"""
    if not Following.depth or not isinstance(value, torch.Tensor):
        return False
    if has_other_name(name, value, local):
        raise import_walks.LoopUnfollowed
    return True


def augmented(how: str, name: str, value, other, local: dict):
    """value += other"""
    if isinstance(value, list) and how == "iadd" and Following.depth:
        return [*value, *other]
    return plain(how, value, other) if is_state(name, value, local) else getattr(operator, how)(value, other)


def plain(how: str, value, other):
    return getattr(operator, PLAIN.get(how, how[1:]))(value, other).to(value.dtype)


def put(node, target: ast.Subscript, value, how=None):
    arguments = [target.value, key_of(target.slice), value]
    name = ast.Name("_strop_put", ast.Load())
    call = ast.Expr(ast.Call(name, [*arguments, how] if how else arguments, []))
    return placed(call, node, *arguments)


def key_of(node):
    """What stands between brackets, as an expression."""
    if isinstance(node, ast.Tuple):
        return ast.Tuple([key_of(one) for one in node.elts], ast.Load())
    if not isinstance(node, ast.Slice):
        return node
    bounds = [one or ast.Constant(None) for one in (node.lower, node.upper, node.step)]
    return ast.Call(ast.Name("slice", ast.Load()), bounds, [])


def put_element(target, key, value, how: str = ""):
    """target[key] = value, or target[key] += value. PyTorch takes no symbols there."""
    entries = key if isinstance(key, tuple) else (key,)
    symbols = any(isinstance(one, torch.SymInt) for one in entries)
    if not Following.on or not (Following.depth or symbols):
        target[key] = getattr(operator, how)(target[key], value) if how else value
        return
    if how:
        before = target[key]
        if not isinstance(target, torch.Tensor) and isinstance(before, torch.Tensor):
            raise import_walks.LoopUnfollowed
        value = plain(how, before, value) if isinstance(target, torch.Tensor) else getattr(operator, how)(before, value)
    if not isinstance(target, torch.Tensor) or not are_simple(entries):
        target[key] = value
        return
    place = target[key]
    value = value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=target.dtype)
    while value.ndim > place.ndim and value.shape[0] == 1:
        value = value[0]
    place.copy_(value)


def are_simple(entries) -> bool:
    return all(one is None or one is Ellipsis or isinstance(one, (int, slice, torch.SymInt)) for one in entries)


def get_element(target, key):
    """target[key], with as many of t:t+3 as one sees."""
    entries = list(key) if isinstance(key, tuple) else [key]
    followed = Following.depth and any(isinstance(one, slice) and isinstance(one.start, torch.SymInt) for one in entries)
    if not followed or not are_simple(entries) or not isinstance(target, torch.Tensor):
        return target[key]
    taken = sum(one is not None and one is not Ellipsis for one in entries)
    dim = 0
    for place, one in enumerate(entries):
        if one is Ellipsis:
            dim += target.ndim - taken
        elif one is not None:
            if isinstance(one, slice) and isinstance(width := extent_of(one), int) and width >= 0:
                target = torch.ops.strop.window(target, dim, one.start, width)
                entries[place] = slice(None)
            dim += 1
    return target[tuple(entries)]


def extent_of(one: slice):
    return as_number(one.stop - one.start) if one.stop is not None and one.step in (None, 1) else None


LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal,
          ast.Delete, ast.Try, ast.AsyncWith, ast.FunctionDef, ast.ClassDef, ast.NamedExpr)


def can_be_followed(node: ast.For) -> bool:
    targets = [one for one in ast.walk(node.target) if isinstance(one, ast.expr)]
    if node.orelse or not all(isinstance(one, (ast.Name, ast.Tuple, ast.List)) for one in targets):
        return False
    inner = [one for top in node.body for one in ast.walk(top)]
    known = [call for one in inner if isinstance(one, ast.Expr) for call in calls_in_place(one)[0]]
    unknown = [one for one in inner if one not in known]
    refused = (is_unknown_context, sets_attribute, changes_in_place, takes)
    return not any(isinstance(one, LEAVES) or any(is_so(one) for is_so in refused) for one in unknown)


CONTEXTS = ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "record_function", "nullcontext")


def is_unknown_context(node) -> bool:
    """A `with` that may do more than its body does."""
    if not isinstance(node, ast.With):
        return False
    calls = [one.context_expr for one in node.items if isinstance(one.context_expr, ast.Call) and not one.optional_vars]
    names = [getattr(call.func, "attr", name_of(call.func)) for call in calls]
    return len(calls) < len(node.items) or not all(name in CONTEXTS for name in names)


def sets_attribute(node) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


TAKES = ("pop", "popleft", "popitem", "appendleft", "extendleft", "setdefault", "update", "rotate", "remove", "clear", "send")


def takes(node) -> bool:
    """next(steps), queue.popleft(), torch.add(x, y, out=x)"""
    if not isinstance(node, ast.Call):
        return False
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name_of(node.func) == "next" or method in TAKES or any(one.arg == "out" for one in node.keywords)


def changes_in_place(node) -> bool:
    """x.add_(y)"""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_in_place(node.func.attr)


def is_loop(node) -> bool:
    return isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.While)) or isinstance(node, ast.For) and can_be_followed(node)


NAMES = {f"_strop_{name}": function for name, function in WALKS.items()} | {
    "_strop_loop": TensorLoop,
    "_strop_put": put_element,
    "_strop_get": get_element,
    "_strop_augmented": augmented,
    "_strop_overwritten": overwritten,
    CHANGED: changed_tensor,
    "_strop_collected": collected,
    "_strop_counts": import_walks.counts,
    "_strop_counted": import_walks.counted,
    "_strop_unchanged": import_walks.unchanged,
    "_strop_sequence": import_walks.sequence,
    "_strop_unzipped": import_walks.unzipped,
    "_strop_unbind": import_walks.unbind,
    "_strop_split": import_walks.split,
    "_strop_unbound": UNBOUND,
}


class Loader(importlib.machinery.SourceFileLoader):
    """No bytecode: what was compiled before is not rewritten."""

    def get_code(self, fullname):
        return self.source_to_code(self.get_data(self.path), self.path)

    def source_to_code(self, data, path, **_):  # type: ignore[override]
        tree = ast.parse(data, path)
        if any(is_loop(node) for node in ast.walk(tree)):
            tree = ast.fix_missing_locations(TorchRewriter().visit(tree))
        return compile(tree, path, "exec")

    def exec_module(self, module):
        vars(module).update(NAMES)
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
