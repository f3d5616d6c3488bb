"""The texts of an imported problem: problem.yaml and reference.py, as a person would write them."""

from __future__ import annotations

import json
import math

import torch

from strop import import_outputs
from strop.import_dimensions import parts
from strop.whole_numbers import drawn


def value_of_fill(tensor: torch.Tensor, is_input: bool) -> str:
    """How the judge draws it: of the sign of the file's values, but never constant, so that nothing is right by luck."""
    if tensor.dtype == torch.bool:
        return "fill: zeros_ones"
    if not tensor.is_floating_point():
        name = str(tensor.dtype).removeprefix("torch.")
        whole = drawn(name, int(tensor.min()), int(tensor.max()), tensor.numel() if is_input else 1)
        return ", ".join(f"{key}: {value}" for key, value in whole.items())
    low, high = float(tensor.detach().min()), float(tensor.detach().max())
    if is_input and 0 <= low and 0.5 < high <= 1:
        return "fill: uniform"
    fill = "fill: positive" if low > 0 else ""
    scale = scale_of(tensor.detach().double(), 0.6 if fill else 1.0)
    return ", ".join(part for part in (fill, f"scale: {scale:g}" if scale != 1 else "") if part)


def scale_of(values: torch.Tensor, usual: float) -> float:
    """As large as the file's values, to a factor of two: layers over weights of 1 overflow, and a loop over them is chaos."""
    size = float(values.square().mean().sqrt()) / usual
    if not 0 < size < math.inf or 0.5 <= size <= 2:
        return 1.0
    return 2.0 ** min(19, max(-19, round(math.log2(size))))


def tensor_text(name, dtype, shape, more="") -> str:
    dtype = str(dtype).removeprefix("torch.")
    extents = ", ".join(str(extent) for extent in shape)
    return f"  {name}: {{dtype: {dtype}, shape: [{extents}]{', ' + more if more else ''}}}\n"


def problem_text(imported, inputs, results, dimensions) -> str:
    text = f"# {type(imported.model).__name__} of original.py; its parameters and buffers are inputs.\n"
    text += f"name: {imported.name}\ninputs:\n"
    text += "".join(tensor_text(name, tensor.dtype, shape, fill) for name, tensor, shape, fill in inputs)
    text += "outputs:\n" + "".join(tensor_text(*result) for result in results) + "shapes:\n"
    for label, dims in dimensions.points().items():
        text += f"  {label}: {{{', '.join(f'{name}: {size}' for name, size in dims.items())}}}\n"
    if dimensions.values:
        limits = [f"{name}: [{dimensions.low(name)}, {size}]" for name, size in dimensions.values.items()]
        text += f"range: {{{', '.join(limits)}}}\n"
    return text


def places(model) -> dict[str, list[tuple[str, str, str]]]:
    """Of each parameter and buffer by its first name: all places where modules keep it, as path, dictionary and key."""
    found: dict[int, tuple[str, list[tuple[str, str, str]]]] = {}
    for path, part in model.named_modules():
        for kept in ("_parameters", "_buffers"):
            for key, tensor in getattr(part, kept).items():
                if tensor is not None:
                    full = f"{path}.{key}" if path else key
                    found.setdefault(id(tensor), (full, []))[1].append((path, kept, key))
    return dict(found.values())


def reference_text(imported, arguments) -> str:
    """Tensors are put where the modules keep them: torch.func.functional_call takes 10 to 100 us that no user pays."""
    has_arguments = "get_init_inputs" in dir(__import__("original"))
    imports = "Model, get_init_inputs" if has_arguments else "Model"
    made = "Model(*get_init_inputs())" if has_arguments else "Model()"
    made += f".to(torch.{imported.dtype})" if imported.dtype else ""
    text = '"""The forward of Model in original.py, as a function of its inputs, parameters and buffers."""\n\n'
    text += f"import torch\nfrom original import {imports}\n\ntorch.manual_seed(42)\nMODEL = {made}\n"
    kept = places(imported.model)
    updated = [name for name in imported.updated if name not in imported.tensors.values()]
    if kept:
        text += "PARTS = dict(MODEL.named_modules())\n"
    if updated:
        lines = [f"    {json.dumps(name)}: MODEL.get_buffer({json.dumps(name)}).clone(),\n" for name in updated]
        text += "UPDATED = {  # as they are before each call\n" + "".join(lines) + "}\n"
    text += f"\n\ndef {imported.name}({', '.join([*imported.inputs, *imported.tensors])}):\n"
    values = {full: f"torch.view_as_complex({name})" if full in imported.complex_tensors else name
              for name, full in imported.tensors.items()}
    values |= {name: f"UPDATED[{json.dumps(name)}].clone()" for name in updated}
    for full, value in values.items():
        for path, kind, key in kept[full]:
            text += f"    PARTS[{json.dumps(path)}].{kind}[{json.dumps(key)}] = {value}\n"
    call = f"MODEL({', '.join(arguments)})"
    if imported.result is None:
        return text + f"    return {call}\n"
    found = imported.names.take("result")
    taken = [found + path for path, _ in import_outputs.tensors(imported.result)]
    return text + f"    {found} = {call}\n    return {', '.join(taken)}\n"


MODULE = '''"""ModelNew: Model of @name@_original.py with its forward computed by the kernel @name@.

The constructor, the names of parameters and buffers and so the state_dict are Model's. It works inside torch.compile
and torch.export; it computes no gradients.@moved@
"""

import hashlib
import importlib.util
import os

import torch


def _load(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Model = _load("@name@_original").Model
_kernel = _load("@name@").@name@


# The operator has a name for this file and what lies beside it: several results of one name may be in one process.
_source = os.path.splitext(os.path.abspath(__file__))[0].removesuffix("_module") + ".cpp"
_digest = hashlib.sha256(_source.encode() + open(_source, "rb").read()).hexdigest()[:16]


@torch.library.custom_op(f"strop::@name@_{_digest}", mutates_args=())
def _forward(@typed@) -> @result@:
    with torch.no_grad():
        return _kernel(@contiguous@)


@_forward.register_fake
def _shapes(@names@):
@dimensions@    return @empty@


def _backward(context, *gradients):
    raise NotImplementedError("@name@ computes no gradients: train with Model of @name@_original.py")


_forward.register_autograd(_backward)


class ModelNew(Model):
    def forward(self, @arguments@):
@checks@        @returned@
'''


def listed(parts, indent: int) -> str:
    """Joined by commas, or a line each."""
    line = ", ".join(parts)
    if len(line) + indent < 90:
        return line
    space = " " * (indent + 4)
    return "\n" + "".join(f"{space}{part},\n" for part in parts) + " " * indent


def forward_checks(imported, names) -> str:
    """What the kernel takes for given."""
    text = ""
    for name, value in zip(names, imported.values):
        if name not in imported.inputs:
            text += f"        if {name} != {value!r}:\n"
            text += f'            raise ValueError(f"@name@: the kernel is for {name} = {value!r}, not {{{name}}}")\n'
    if imported.mode_matters():
        mode = "train" if imported.model.training else "eval"
        text += f"        if {'not ' if imported.model.training else ''}self.training:\n"
        text += f'            raise RuntimeError("@name@: the kernel computes what Model does after {mode}()")\n'
    return text


def returned(imported, call: str, count: int) -> str:
    """As Model returns it."""
    if imported.result is None:
        return f"return {call}"
    found = imported.names.take("results")
    given = iter([f"{found}[{place}]" for place in range(count)] if count > 1 else [found])
    return f"{found} = {call}\n        return {import_outputs.rebuilt(imported.result, given)}"


def extents_text(shape) -> str:
    return f"({', '.join(shape)}{',' if len(shape) == 1 else ''})"


def module_text(imported, results, dimensions) -> str:
    """@name@ is filled in when the result is written."""
    names = [*imported.inputs, *imported.tensors]
    parameters = dict(imported.model.named_parameters(remove_duplicate=False))
    stored = [f'self.get_{"parameter" if full in parameters else "buffer"}({json.dumps(full)})'
              for full in imported.tensors.values()]
    stored = [f"torch.view_as_real({one})" if full in imported.complex_tensors else one
              for one, full in zip(stored, imported.tensors.values())]
    reads = ""
    for name, shape in dimensions.shapes.items():
        targets = [extent if extent in dimensions.values else "_" for extent in shape]
        if any(target != "_" for target in targets):
            reads += f"    {', '.join(targets)}{',' if len(targets) == 1 else ''} = {name}.shape\n"
        for axis, (times, one) in enumerate(map(parts, shape)):
            if one and times > 1:
                reads += f"    {one} = {name}.shape[{axis}] // {times}\n"
    empty = [f"{names[0]}.new_empty({extents_text(shape)}, dtype={dtype})" for _, dtype, shape in results]
    given = [f"torch.view_as_real({name})" if name in imported.complex else name for name in imported.inputs]
    many = len(results) > 1
    fields = {
        "moved": f" It is for ModelNew(...).to(torch.{imported.dtype})." if imported.dtype else "",
        "typed": listed([f"{name}: torch.Tensor" for name in names], 0),
        "result": f"tuple[{', '.join(['torch.Tensor'] * len(results))}]" if many else "torch.Tensor",
        "contiguous": listed([f"{name}.contiguous()" for name in names], 8),
        "names": listed(names, 0),
        "dimensions": reads,
        "empty": f"({', '.join(empty)})" if many else empty[0],
        "arguments": ", ".join(imported.arguments),
        "checks": forward_checks(imported, imported.arguments),
        "returned": returned(imported, f"_forward({listed([*given, *stored], 8)})", len(results)),
    }
    text = MODULE
    for key, value in fields.items():
        text = text.replace(f"@{key}@", value)
    return text
