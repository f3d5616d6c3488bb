"""A file with a PyTorch module as a problem: import_file.py FILE.py [DTYPE [REFERENCE]]

The file has a class `Model(nn.Module)`, `get_inputs()` and perhaps `get_init_inputs()`, `get_shapes()` and
`get_dimensions()`. The module is made with seed 42 and left in the mode in which its constructor leaves it. Its
parameters and floating buffers become inputs. With a DTYPE, bfloat16 or float16, module and floating inputs are moved
to it as `.to(DTYPE)` does. A file of TritonBench goes to import_operator.py; REFERENCE is for those. To standard output
goes {"name", "files": {name: text}, "notes": [...]}, or {"error", "hint"}.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
import warnings
from typing import Callable

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # as in trace.py

import torch  # noqa: E402
from torch._subclasses.fake_tensor import (  # noqa: E402
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)

from strop import import_outputs, import_rewrite, import_torch  # noqa: E402
from strop.import_dimensions import NAMES, Dimensions, parts  # noqa: E402
from strop.import_functions import length  # noqa: E402
from strop.import_names import SEED, Names, Refusal, answer, problem_name  # noqa: E402
from strop.import_text import module_text, problem_text, reference_text, value_of_fill  # noqa: E402
from strop.import_values import HALVES, numpy_dtype  # noqa: E402
from strop.trace_array import Traced, lift  # noqa: E402
from strop.trace_dims import SymInt, Untraceable, text  # noqa: E402
from strop.trace_graph import DTYPES, GRAPH  # noqa: E402

MOST_CONSTANTS = 64  # elements that a graph holds one by one
SHAPES = "it gives for each label a list with the shape of each tensor of get_inputs(): {'large': [[64, 512], [512]]}"
FORM = "the file needs a class Model(nn.Module), get_inputs() and perhaps get_init_inputs()"
INSTEAD = "write the reference in NumPy (docs/problems.md), or in PyTorch without it"


# ---- the user's file -------------------------------------------------------------------------------------


def place(error: BaseException, path: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{path}:{lines[-1]}" if lines else path


def first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"


@contextlib.contextmanager
def blaming(path: str, what: str, hint: str):
    """What the user's code raises is a refusal."""
    try:
        yield
    except (Refusal, Untraceable):
        raise
    except (Exception, SystemExit) as error:
        raise Refusal(f"{place(error, path)}: {what}{first_line(error)}", hint) from error


def load(path: str):
    if not path.endswith(".py"):
        raise Refusal(f"{path}: is no Python file (.py)", FORM)
    spec = import_rewrite.spec_of("original", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["original"] = module
    torch.manual_seed(SEED)
    module.len = length  # type: ignore[attr-defined]
    with blaming(path, "", "the file has to stand by itself: only PyTorch and the standard library are there"):
        spec.loader.exec_module(module)
    model = getattr(module, "Model", None)
    if not (isinstance(model, type) and issubclass(model, torch.nn.Module)):
        raise Refusal(f"{path}: no class 'Model' that is an nn.Module", FORM)
    if not callable(getattr(module, "get_inputs", None)):
        raise Refusal(f"{path}: no function 'get_inputs'", FORM)
    return module


def make_model(module, path):
    with blaming(path, "the constructor raises ", "Model(*get_init_inputs()) has to work without network and files"):
        torch.manual_seed(SEED)
        arguments = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        if isinstance(arguments, dict) or any(isinstance(one, dict) for one in arguments) and not takes(module.Model, arguments):
            raise Refusal(f"{path}: get_init_inputs() names the constructor's arguments", "it gives a list of them in their "
                          "order: let the constructor of a class Model(Theirs) pass them on by name")
        return module.Model(*arguments)


def takes(function, arguments) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    return True


class SetMemory(torch.overrides.TorchFunctionMode):
    """What lies in a tensor of torch.empty must not decide how it is drawn."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result.zero_() if getattr(func, "__name__", "").startswith(("empty", "new_empty")) else result


def make_inputs(module, path) -> list:
    with blaming(path, "get_inputs() raises ", FORM):
        torch.manual_seed(SEED)
        with SetMemory():
            given = module.get_inputs()
    if isinstance(given, dict):
        raise Refusal(f"{path}: get_inputs() gives a dictionary", "it gives a list, in the order of forward's arguments")
    with blaming(path, "get_inputs() raises ", FORM):
        inputs = list(given)
    for place_, value in enumerate(inputs):
        check_input(value, f"{path}: input {place_}")
    if not any(isinstance(value, torch.Tensor) for value in inputs):
        raise Refusal(f"{path}: get_inputs() gives no tensor", "there has to be something to compute on")
    return inputs


def check_input(value, what):
    if isinstance(value, torch.Tensor):
        dtype = str(torch.view_as_real(value).dtype if value.is_complex() else value.dtype).removeprefix("torch.")
        if value.layout != torch.strided or value.is_quantized:
            raise Refusal(f"{what} is not a dense tensor", "inputs are dense: convert them in get_inputs()")
        if dtype not in (*DTYPES, *HALVES):
            raise Refusal(f"{what} is of dtype {dtype}", f"inputs are {', '.join((*DTYPES, *HALVES))}")
        if value.numel() == 0:
            raise Refusal(f"{what} has shape {list(value.shape)}", "every extent has to be at least 1")
    elif not isinstance(value, (int, float, bool, str, type(None))):
        raise Refusal(f"{what} is a {type(value).__name__}", "inputs are tensors, numbers, strings or None")


def harmless(value):
    """0, or where an example of whole numbers is never 0 one of its own: it may be a divisor."""
    whole = not value.is_floating_point() and value.dtype != torch.bool
    return int(value.min()) if whole and value.numel() and not bool((value == 0).any()) else 0


# ---- the module as a function of tensors -----------------------------------------------------------------


class Imported:
    """What is known of the file, step by step."""

    def __init__(self, path: str, dtype: str = "", module=None):
        self.path, self.folder, self.dtype = path, os.path.dirname(path), dtype
        self.name = problem_name(path) + (f"_{dtype}" if dtype else "")
        self.notes: list[str] = []
        module = module or load(path)
        self.model = make_model(module, path)
        self.values = make_inputs(module, path)
        if dtype:
            self.move_to(getattr(torch, dtype))
        self.names = Names()
        self.names.take(self.name)
        self.arguments = self.name_arguments()
        tensors = {n: v for n, v in zip(self.arguments, self.values) if isinstance(v, torch.Tensor)}
        self.complex = {name for name, value in tensors.items() if value.is_complex()}
        self.inputs = {n: torch.view_as_real(v) if n in self.complex else v for n, v in tensors.items()}
        self.tensors = {self.names.take(name.replace(".", "_")): name for name, _ in self.candidates()}
        self.complex_tensors = {name for name in self.tensors.values() if self.kept(name).is_complex()}
        self.updated: list[str] = []
        self.result: object = None  # of forward, where it is no tensor or flat tuple of tensors
        self.all_tensors: list[tuple[str, str]] = []  # as exported, also those that nothing reads

    def move_to(self, dtype):
        with blaming(self.path, f"Model cannot be moved to {self.dtype}: ", "leave --dtype out"):
            self.model = self.model.to(dtype)
        real = [isinstance(value, torch.Tensor) and value.is_floating_point() for value in self.values]
        if not any(real) and not any(one.is_floating_point() for one in self.model.parameters()):
            raise Refusal(f"{self.path}: --dtype {self.dtype}: no tensor of it is floating", "leave --dtype out")
        self.values = [value.to(dtype) if moves else value for value, moves in zip(self.values, real)]

    def name_arguments(self) -> list[str]:
        kinds = inspect.signature(self.model.forward).parameters.values()
        known = [p.name for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return [self.names.take(known[i] if i < len(known) else f"x{i}") for i in range(len(self.values))]

    def candidates(self):
        """Parameters, buffers of finite floating or complex values, large ones of indices or of bytes; all others stay
        in the module."""
        yield from self.model.named_parameters()
        for name, buffer in self.model.named_buffers():
            real = (buffer.is_floating_point() or buffer.is_complex()) and bool(torch.isfinite(buffer).all())
            whole = buffer.dtype in (torch.int64, torch.int32, torch.int8, torch.uint8) and buffer.numel() > MOST_CONSTANTS
            if real or (whole and (buffer.dtype == torch.int8 or int(buffer.min()) >= 0)):
                yield name, buffer

    def mode_matters(self) -> bool:
        return import_torch.mode_matters(self.model)

    def kept(self, name):
        return self.model.get_parameter(name) if name in dict(self.model.named_parameters()) else self.model.get_buffer(name)

    def tensor(self, name):
        """As an input: the two parts of complex numbers are its last axis."""
        kept = self.kept(name)
        return torch.view_as_real(kept.detach()) if name in self.complex_tensors else kept

    def call(self, inputs: dict, tensors: dict):
        inputs = {n: torch.view_as_complex(one) if n in self.complex else one for n, one in inputs.items()}
        arguments = [inputs.get(name, value) for name, value in zip(self.arguments, self.values)]
        own = {name: buffer.clone() for name, buffer in self.model.named_buffers() if name not in tensors}
        tensors = {n: torch.view_as_complex(one) if n in self.complex_tensors else one for n, one in tensors.items()}
        return torch.func.functional_call(self.model, own | tensors, tuple(arguments))

    def function(self, *given):
        inputs = dict(zip(self.inputs, given))
        tensors = dict(zip(self.tensors.values(), given[len(self.inputs) :]))
        result = self.call(inputs, tensors)
        return result if import_outputs.is_flat(result) else tuple(one for _, one in import_outputs.tensors(result))

    # ---- trying shapes without computing ----

    def works_at(self, shapes: dict) -> bool:
        try:
            self.outputs_at(shapes)
            return True
        except Exception:
            return False

    def outputs_at(self, shapes: dict):
        with (FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad(), import_torch.extents_kept(),
              import_torch.silence()):
            inputs = {n: torch.empty(shapes[n], dtype=value.dtype) for n, value in self.inputs.items()}
            tensors = {
                name: torch.empty(tensor.shape, dtype=tensor.dtype)
                for name, tensor in ((name, self.tensor(name)) for name in self.tensors.values())
            }
            return self.call(inputs, tensors)

    def runs_at(self, shapes: dict) -> bool:
        """Computed, because some of PyTorch's operations look at their extents only then."""
        try:
            with torch.no_grad(), import_torch.silence():
                inputs = {n: torch.full(shapes[n], harmless(value), dtype=value.dtype) for n, value in self.inputs.items()}
                self.call(inputs, {name: self.tensor(name) for name in self.tensors.values()})
            return True
        except Exception:
            return False

    def check_forward(self):
        shapes = {name: tuple(value.shape) for name, value in self.inputs.items()}
        try:
            with blaming(self.path, "Model does not take what get_inputs() gives: ", "forward(*get_inputs()) has to work"):
                result = self.outputs_at(shapes)
        except Refusal as refusal:
            if isinstance(refusal.__cause__, DataDependentOutputException):
                raise Refusal(f"{place(refusal.__cause__, self.path)}: control flow depends on the values of a tensor",
                              "torch.where computes both branches; " + INSTEAD) from refusal
            if isinstance(refusal.__cause__, DynamicOutputShapeException):
                raise Refusal(f"{place(refusal.__cause__, self.path)}: a shape depends on the values of a tensor",
                              "torch.where keeps the shape, as in torch.where(m, x, 0).sum() for x[m].sum(); " + INSTEAD
                              ) from refusal
            raise
        except Untraceable as error:
            raise Refusal(f"{self.path}: {error}", INSTEAD) from error
        for _, one in import_outputs.leaves(result):
            if isinstance(one, torch.Tensor) and one.is_complex():
                raise Refusal(f"{self.path}: forward returns a complex tensor", "return its parts: torch.view_as_real")
            if not isinstance(one, torch.Tensor) and (one is not None or one is result):
                raise Refusal(f"{self.path}: forward returns a {type(one).__name__}",
                              "it has to return tensors, or tuples, lists and dictionaries of tensors")
            check_input(one, f"{self.path}: what forward returns")
        if not import_outputs.tensors(result):
            raise Refusal(f"{self.path}: forward returns no tensor", "there has to be something to compute")
        self.result = None if import_outputs.is_flat(result) else result

    # ---- exporting ----

    def export(self):
        """Which extents vary, which tensors are read, which buffers change."""
        self.check_forward()
        given = [*self.inputs.values(), *(self.tensor(name).detach() for name in self.tensors.values())]
        varying = [[extent > 1 for extent in value.shape] for value in self.inputs.values()]
        varying += [[False] * self.tensor(name).ndim for name in self.tensors.values()]
        try:
            with import_torch.extents_kept():
                return import_torch.exported(self.function, tuple(given), varying, self.folder)
        except Untraceable as error:
            raise Refusal(f"{self.path}: {error}", INSTEAD) from error

    def read(self, program):
        nodes = list(program.graph.nodes)
        placeholders = self.user_placeholders(program, nodes)
        outputs = import_torch.Reader.outputs_of(program, nodes[-1])
        needed = import_torch.Reader.needed(outputs)
        self.refuse_random(needed)
        changed = {spec.target for spec in program.graph_signature.output_specs if spec.kind.name == "USER_INPUT_MUTATION"}
        for node, name in zip(placeholders, [*self.inputs, *self.tensors]):
            if node.name in changed and name in self.inputs:
                raise Refusal(f"{self.path}: forward changes its input '{name}' in place", "clone it first")
            if node.name in changed and node in needed and self.is_parameter(name):
                raise Refusal(f"{self.path}: forward changes the parameter '{self.tensors[name]}' in place", INSTEAD)
            if name in self.tensors and (node.name in changed or node not in needed):
                del self.tensors[name]
        return dict(zip(self.inputs, placeholders)), outputs

    def is_parameter(self, name):
        return self.tensors.get(name) in dict(self.model.named_parameters())

    @staticmethod
    def user_placeholders(program, nodes):
        specs = program.graph_signature.input_specs
        placeholders = [node for node in nodes if node.op == "placeholder"]
        return [node for spec, node in zip(specs, placeholders) if spec.kind.name == "USER_INPUT"]

    def refuse_random(self, needed):
        for node in needed:
            if getattr(node.target, "_opname", "") in import_torch.RANDOM:
                where = import_torch.line_of(node, self.folder)
                raise Refusal(f"{self.path}: '{import_torch.name_of(node.target)}' draws random numbers{where}",
                              "leave dropout out (self.eval() in a module's constructor), or take the numbers as an input")

    def note_updates(self):
        before = {name: buffer.clone() for name, buffer in self.model.named_buffers()}
        norms = [name for name, part in self.model.named_modules()
                 if part.training and getattr(part, "track_running_stats", False) and part.running_mean is not None]
        self.updated = [n for n in before if any(n.startswith(norm + ".") or not norm for norm in norms)]
        if norms:
            self.notes.append(f"training mode: {', '.join(norms) or 'the module'} normalizes with the statistics of the "
                              "batch; the kernel does not update the running ones")


# ---- writing -----------------------------------------------------------------------------------------------


def output_shapes(imported: Imported, program, dimensions: Dimensions, outputs) -> list:
    """By our own tracer; where it does not know an operation, as PyTorch computes them at the file's shape."""
    GRAPH.start("float32")
    traced = [traced_input(n, v, dimensions.shapes[n]) for n, v in imported.inputs.items()]
    given = [traced_input(n, imported.tensor(full), list(imported.tensor(full).shape)) for n, full in imported.all_tensors]
    try:
        results = import_torch.Reader(program, [*traced, *given], dimensions.values, imported.folder).results()
        return [[text(extent) for extent in lift(result).shape] for result in results]
    except Untraceable:
        for name in list(dimensions.values):
            dimensions.fix(name)
        return [[str(int(e) if import_torch.is_fixed(e) else e.node.hint) for e in out.meta["val"].shape] for out in outputs]


def traced_input(name, value, shape) -> Traced:
    extents = [times * SymInt.symbol(one) if one else times for times, one in map(parts, shape)]
    dtype = numpy_dtype(value.dtype)
    return Traced(GRAPH.add("input", name, [], extents, dtype), extents, dtype)


def called_extents(imported: Imported, called) -> dict:
    """What get_dimensions() calls them, by input."""
    fits = isinstance(called, (list, tuple)) and len(called) == len(imported.inputs) and all(
        isinstance(one, (list, tuple)) and len(one) == value.ndim
        and all(extent is None or extent == size or (isinstance(extent, str) and parts(extent)[1].isidentifier())
                for extent, size in zip(one, value.shape))
        for one, value in zip(called, imported.inputs.values()))
    if not fits:
        raise Refusal(f"{imported.path}: get_dimensions() gives {called!r}", NAMES)
    return dict(zip(imported.inputs, called))


def asked_points(imported: Imported, asked) -> Callable[[Dimensions], dict]:
    """What get_shapes() asks for, as points; a refusal where they are none."""
    ranks = [value.ndim for value in imported.inputs.values()]
    fits = isinstance(asked, dict) and asked and all(
        isinstance(shapes, (list, tuple)) and [len(shape) for shape in shapes] == ranks
        and all(isinstance(size, int) and size > 0 for shape in shapes for size in shape) for shapes in asked.values())
    if not fits:
        raise Refusal(f"{imported.path}: get_shapes() gives {asked!r}", SHAPES)

    def points(dimensions: Dimensions) -> dict:
        found, other = dimensions.points_at({re.sub(r"\W", "_", str(label)): shapes for label, shapes in asked.items()})
        if other:
            fixed = ", ".join(f"{name} {dimensions.shapes[name]}" for name in imported.inputs)
            raise Refusal(f"{imported.path}: get_shapes() asks for '{other[0]}', {list(asked[other[0]])}, where inputs are "
                          f"{fixed}", "an extent that is a number here is the same at every shape")
        for label, dims in found.items():
            if not imported.works_at(dimensions.shapes_at(dims)):
                raise Refusal(f"{imported.path}: Model does not take the shapes of '{label}' in get_shapes()", SHAPES)
        return found

    return points


def import_file(path: str, dtype: str = "", module=None, cases=None) -> dict:
    """`module` stands for what the file would be loaded as; `cases(dimensions)` are the points of the sweep."""
    module = module or load(path)
    imported = Imported(path, dtype, module)
    if cases is None and hasattr(module, "get_shapes"):
        cases = asked_points(imported, module.get_shapes())
    called = called_extents(imported, module.get_dimensions()) if hasattr(module, "get_dimensions") else None
    program = imported.export()
    imported.all_tensors = list(imported.tensors.items())
    placeholders, outputs = imported.read(program)
    imported.note_updates()
    dimensions = Dimensions(imported, placeholders, cases, called)
    shapes = output_shapes(imported, program, dimensions, outputs)
    inputs = [(name, value, dimensions.shapes[name], value_of_fill(value, True)) for name, value in imported.inputs.items()]
    inputs += [(name, tensor, list(tensor.shape), value_of_fill(tensor, False))
               for name, tensor in ((n, imported.tensor(full)) for n, full in imported.tensors.items())]
    names = ["y"] if len(outputs) == 1 else [f"y{i}" for i in range(len(outputs))]
    if imported.result is not None:
        names = [import_outputs.name_at(path) for path, _ in import_outputs.tensors(imported.result)]
    results = [(imported.names.take(name), import_torch.first_tensor(out.meta["val"]).dtype, shape)
               for name, out, shape in zip(names, outputs, shapes)]
    arguments = [f"torch.view_as_complex({name})" if name in imported.complex else
                 name if name in imported.inputs else repr(value)
                 for name, value in zip(imported.arguments, imported.values)]
    files = {
        "problem.yaml": problem_text(imported, inputs, results, dimensions),
        "module.py": module_text(imported, results, dimensions),
        "reference.py": reference_text(imported, arguments),
    }
    return {"name": imported.name, "files": files, "notes": imported.notes}


def import_any(path: str, dtype: str = "", reference: str = "") -> dict:
    from strop import import_operator, import_record  # they use this module

    if import_record.is_operator_file(path):
        return import_operator.import_operator(path, dtype, reference)
    if reference:
        raise Refusal(f"--reference {reference}: {path} has its own", "--reference is for operators of TritonBench; leave it out")
    return import_file(path, dtype)


def main(arguments) -> int:
    warnings.simplefilter("ignore")
    return answer(lambda: import_any(os.path.abspath(arguments[0]), *arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
