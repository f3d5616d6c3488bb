"""A PyTorch module in memory as a file with `Model`, `get_inputs` and `get_shapes` (docs/problems.md): its exported
program, operation by operation, with the module's own names of parameters and buffers.

Parameters are made as large as the module's, since they become inputs; buffers and constants have their values.
"""

from __future__ import annotations

import base64
import contextlib
import inspect
import keyword
import operator
import os
import re
import sys
import zlib
from typing import Any, Iterator, Mapping, Sequence

import torch

from strop.import_decisions import settle
from strop.import_functions import length
from strop.import_torch import extents_kept, mode_matters, refusal, silence
from strop.module_arguments import container_text
from strop.program import BadInput

GIVE_A_FILE = "give a file with the module's source (docs/problems.md)"
MOST_ELEMENTS = 2**31  # along an axis; more is no limit
SHORT = 64  # elements of a tensor that is written out
WITHOUT_MEANING = ("device", "pin_memory", "layout")  # of an operation on the processor
PACKED = '''

def _packed(text, dtype, shape):
    """Values that are too many to be written out."""
    data = bytearray(zlib.decompress(base64.b85decode(text)))
    return torch.frombuffer(data, dtype=dtype).reshape(shape)
'''
TEXT = '''"""{title} as torch.export sees it after .{mode}(), operation by operation."""

{imports}import torch
from torch.ops import aten
{packed}

class Model(torch.nn.Module):
    mode_matters = {mode_matters}    # whether train() and eval() differ

    def __init__(self):
        super().__init__()
{tensors}        self.{mode}()

    def _keep(self, name, tensor, persistent=True):
        *path, last = name.split(".")
        owner = self
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner._modules[part]
        if isinstance(tensor, torch.nn.Parameter):
            owner.register_parameter(last, tensor)
        else:
            owner.register_buffer(last, tensor, persistent)

    def forward(self, {arguments}):
{body}

def get_inputs():
    return [{inputs}]
'''


def module_file(module: torch.nn.Module, inputs: Mapping[str, Any], shapes: Mapping[str, Mapping[str, Sequence[int]]],
                dimensions: Mapping[str, Sequence[Any]]) -> str:
    """`inputs`: the arguments of forward by name, tensors as examples; `shapes`: of the tensors, by label; `dimensions`:
    what their extents are called, where they are described.

    BadInput: forward does not take them, or cannot be exported.
    """
    return _File(module, inputs).text(shapes, dimensions)


def exported(module: torch.nn.Module, inputs: Mapping[str, Any]) -> torch.export.ExportedProgram:
    auto, dynamic = torch.export.Dim.AUTO, {}
    for name, value in inputs.items():
        varies = isinstance(value, torch.Tensor)
        dynamic[name] = {axis: auto for axis, extent in enumerate(value.shape) if extent > 1} if varies else None
    try:
        with torch.no_grad(), silence(), extents_kept():
            with lengths_of(module):
                program = torch.export.export(module, (), dict(inputs), dynamic_shapes=dynamic, strict=False)
            settle(program)
            if any(isinstance(node.target, torch._ops.HigherOrderOperator) for node in program.graph.nodes):
                program = program.run_decompositions({})  # into plain operations, as of `autocast`
            return program
    except Exception as error:
        why = refusal(error, os.path.dirname(inspect.getsourcefile(type(module)) or "")).replace("the reference", "it")
        raise BadInput(f"{type(module).__name__}: {why}", "forward has to take the inputs, and its control flow no values "
                       "of tensors") from error


@contextlib.contextmanager
def lengths_of(module: torch.nn.Module) -> Iterator[None]:
    """`len` gives extents in the files of its parts."""
    names = {type(part).__module__ for part in module.modules()} & sys.modules.keys()
    files = [vars(sys.modules[name]) for name in names if name.split(".")[0] != "torch"]
    files = [file for file in files if file.setdefault("len", length) is length]
    try:
        yield
    finally:
        for file in files:
            file.pop("len", None)


class _File:
    def __init__(self, module: torch.nn.Module, inputs: Mapping[str, Any]) -> None:
        self.module, self.inputs = module, inputs
        self.program = exported(module, inputs)
        try:
            self.graph = self.program.module(check_guards=False)
        except SyntaxError as error:
            raise BadInput(f"{type(module).__name__} cannot be written as a file: a part of it is called by a word of Python",
                           "give it another name") from error
        self.parameters = dict(self.graph.named_parameters(remove_duplicate=False))
        self.own = {**self.parameters, **dict(self.graph.named_buffers(remove_duplicate=False)), **self.constants()}

    def text(self, shapes: Mapping[str, Mapping[str, Sequence[int]]], dimensions: Mapping[str, Sequence[Any]]) -> str:
        body = self.guard() + "".join(f"        {line}\n" for line in self.lines())
        tensors = "".join(self.tensors())
        packs = "_packed(" in tensors
        imports = ["import base64\n"] * packs + ["import operator\n"] * (" operator." in body) + ["import zlib\n"] * packs
        known = inspect.signature(self.module.forward).parameters
        tail = [name for name, value in self.inputs.items() if isinstance(value, torch.Tensor)][-1:]
        behind = list(self.inputs)[list(self.inputs).index(tail[0]) + 1 :] if tail else list(self.inputs)
        arguments = [f"{name}={_literal(value)}" if name in behind and name in known else name
                     for name, value in self.inputs.items()]
        inputs = [_example(value) if isinstance(value, torch.Tensor) else _literal(value) for value in self.inputs.values()]
        text = TEXT.format(title=type(self.module).__name__, mode="train" if self.module.training else "eval",
                           mode_matters=mode_matters(self.module), imports="".join(imports + ["\n"] * bool(imports)),
                           packed=PACKED if packs else "", tensors=tensors, arguments=", ".join(arguments), body=body,
                           inputs=", ".join(inputs))
        if shapes:
            rows = "".join(f"        {label!r}: {[list(shape) for shape in one.values()]},\n" for label, one in shapes.items())
            text += f"\n\ndef get_shapes():\n    return {{\n{rows}    }}\n"
            text += f"\n\ndef get_dimensions():\n    return {[list(map(_called, one)) for one in dimensions.values()]}\n"
        return text

    # ---- what it keeps ----

    def constants(self) -> dict[str, torch.Tensor]:
        """Tensors that are no parameter and no buffer of the module."""
        found = {}
        for node in self.graph.graph.nodes:
            if node.op == "get_attr":
                value = operator.attrgetter(node.target)(self.graph) if "." not in node.target else None
                if isinstance(value, torch.Tensor):
                    found[node.target] = value
        return found

    def tensors(self) -> Iterator[str]:
        """Statements that register parameters, buffers and constants where the module has them."""
        stored = self.module.state_dict(keep_vars=True)
        first: dict[int, str] = {}
        names = {**{name: value for name, value in stored.items() if isinstance(value, torch.Tensor)}, **self.own}
        for name, value in names.items():
            trained = isinstance(value, torch.nn.Parameter) or name in self.parameters
            known = first.setdefault(id(value), name)
            if known != name:  # two names of one tensor
                tensor = _attribute(known)
            elif trained:
                tensor = f"torch.nn.Parameter({_like(value)}{'' if value.requires_grad else ', False'})"
            else:
                tensor = _exact(value)
            yield f"        self._keep({name!r}, {tensor}{'' if trained or name in stored else ', persistent=False'})\n"

    # ---- what it computes ----

    def guard(self) -> str:
        """What the program holds for: Python's own arithmetic and branches over extents are done by now."""
        shapes = {spec.arg.name: node.meta["val"].shape
                  for spec, node in zip(self.program.graph_signature.input_specs, self.program.graph.nodes)
                  if spec.kind.name == "USER_INPUT" and isinstance(node.meta.get("val"), torch.Tensor)}
        names = [name for name, value in self.inputs.items() if isinstance(value, torch.Tensor)]
        conditions: list[str] = []
        first: dict[Any, str] = {}
        for name, shape in zip(names, shapes.values()):
            for axis, extent in enumerate(shape):
                place = f"{name}.shape[{axis}]"
                if not isinstance(extent, torch.SymInt) or not extent.node.expr.free_symbols:
                    conditions.append(f"{place} == {int(extent)}")
                    continue
                expression = extent.node.expr
                if not expression.is_symbol:
                    continue
                if expression in first:
                    conditions.append(f"{place} == {first[expression]}")
                    continue
                first[expression] = place
                limits = self.program.range_constraints.get(expression)
                if limits is not None and limits.lower > 2:
                    conditions.append(f"{place} >= {limits.lower}")
                if limits is not None and limits.upper < MOST_ELEMENTS:
                    conditions.append(f"{place} <= {limits.upper}")
        if not conditions:
            return ""
        text = " and ".join(conditions)
        return f"        if not ({text}):\n            raise ValueError({'forward is for ' + text!r})\n"

    def lines(self) -> Iterator[str]:
        given = iter(self.inputs)
        for node in self.graph.graph.nodes:
            if node.op == "get_attr":
                if node.target not in self.own:
                    raise BadInput(f"{type(self.module).__name__} cannot be written as a file: it has a part that is "
                                   f"computed by itself ({node.target})", GIVE_A_FILE)
                if node.users:
                    yield f"{node.name} = {_attribute(node.target)}"
            elif node.op == "call_function":
                call = f"{self.function(node)}({self.arguments(node)})"
                yield f"{node.name} = {call}" if node.users else call
            elif node.op == "output":
                yield f"return {self.returned(node)}"
            elif node.op == "placeholder":
                name = next(given)
                if name != node.name:
                    yield f"{node.name} = {name}"
            elif node.users:
                raise BadInput(f"{type(self.module).__name__} cannot be written as a file: it calls {node.target}", GIVE_A_FILE)

    def function(self, node: torch.fx.Node) -> str:
        target: Any = node.target
        name = getattr(target, "__name__", "")
        if getattr(operator, name, None) is target:
            return f"operator.{name}"
        if isinstance(target, torch._ops.OpOverload) and target.namespace == "strop":  # a layer that was kept
            return f"torch._VF.{target._opname}"
        if isinstance(target, torch._ops.OpOverload) and target.namespace == "aten":
            return f"aten.{target._opname}.{target._overloadname}"
        if getattr(torch, name, None) is target:  # torch.sym_max
            return f"torch.{name}"
        raise BadInput(f"{type(self.module).__name__} cannot be written as a file: it uses {target}", GIVE_A_FILE)

    def arguments(self, node: torch.fx.Node) -> str:
        words = [_literal(value) for value in node.args]
        words += [f"{name}={_literal(value)}" for name, value in node.kwargs.items() if name not in WITHOUT_MEANING]
        return ", ".join(words)

    def returned(self, node: torch.fx.Node) -> str:
        """As forward returns it."""
        flat = list(node.args[0])
        tree = torch.utils._pytree.tree_unflatten(flat, self.graph._out_spec)
        return _literal(tree)


def _called(extent: Any) -> Any:
    """A number, a name, a multiple of one, or None for another formula."""
    text = re.sub(r"^(\w+)\*(\d+)$", r"\2*\1", str(extent).replace(" ", ""))
    return int(text) if text.isdecimal() else text if re.match(r"(\d+\*)?[^\W\d]\w*$", text) else None


def _attribute(name: str) -> str:
    """norm.weight: self.norm.weight; mix.0.weight: getattr(self.mix, '0').weight."""
    text = "self"
    for part in name.split("."):
        text = f"{text}.{part}" if part.isidentifier() and not keyword.iskeyword(part) else f"getattr({text}, {part!r})"
    return text


def _literal(value: Any) -> str:
    if isinstance(value, torch.fx.Node):
        return value.name
    if isinstance(value, (list, dict)) or type(value) in (tuple, torch.Size):  # no tuple with names
        return container_text(value, _literal)
    if isinstance(value, float):
        return f"float('{value}')" if value != value or value in (float("inf"), -float("inf")) else repr(value)
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout, bool, int, str, type(None))):
        return repr(value)
    raise BadInput(f"a {type(value).__name__} in the module's program cannot be written", GIVE_A_FILE)


def _like(value: torch.Tensor) -> str:
    """As large as `value`; what is constant, as new norms are, stays so."""
    numbers, shape = value.detach().double(), list(value.shape)
    if not value.is_floating_point() or numbers.numel() == 0 or not bool(torch.isfinite(numbers).all()):
        return _exact(value)
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        return f"torch.full({shape}, {low!r}, dtype={value.dtype})"
    size = float(numbers.square().mean().sqrt())
    if low > 0:
        return f"torch.empty({shape}, dtype={value.dtype}).uniform_({low:.6g}, {high:.6g})"
    return f"torch.empty({shape}, dtype={value.dtype}).normal_(0, {size:.6g})"


def _exact(value: torch.Tensor) -> str:
    plain = value.detach().cpu().contiguous()
    if plain.numel() == 0:
        return f"torch.empty({list(plain.shape)}, dtype={plain.dtype})"
    if plain.numel() > 1 and bool((plain == plain.reshape(-1)[0]).all()):
        return f"torch.full({list(plain.shape)}, {_literal(plain.reshape(-1)[0].item())}, dtype={plain.dtype})"
    if plain.numel() <= SHORT and plain.dtype not in (torch.bfloat16, torch.float16):
        return f"torch.tensor({_literal(plain.tolist())}, dtype={plain.dtype})"
    data = plain.reshape(-1).view(torch.uint8).numpy().tobytes()
    return f"_packed({base64.b85encode(zlib.compress(data, 9)).decode()!r}, {plain.dtype}, {list(plain.shape)})"


def _example(value: torch.Tensor) -> str:
    """A tensor whose fill `strop import` reads as the fill of the input."""
    shape = list(value.shape)
    if value.dtype == torch.bool:
        return f"torch.randint(0, 2, {shape}).bool()"
    if not value.is_floating_point():
        return f"torch.randint({min(0, int(value.min()))}, {int(value.max()) + 1}, {shape}).to({value.dtype})"
    finite = value.double()[torch.isfinite(value)]
    if finite.numel() == 0:
        return f"torch.randn({shape}).to({value.dtype})"
    low, high = float(finite.min()), float(finite.max())
    if low >= 0:
        return f"torch.empty({shape}, dtype={value.dtype}).uniform_({low:.6g}, {max(high, low + 1e-6):.6g})"
    return f"torch.randn({shape}).mul_({float(finite.square().mean().sqrt()):.6g}).to({value.dtype})"
