"""A PyTorch reference as the graph of src/graph/graph.h: torch.export, decompositions, then node by node.

Extents that vary in the problem have to vary in the exported program too; our own symbolic extents are computed
beside PyTorch's and compared with them at the example's shape. The operations are in import_pointwise.py,
import_layout.py, import_reductions.py, import_products.py and import_order.py.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import logging
import math
import os
import re
import traceback
import warnings

import numpy as np
import torch
from torch._ops import HigherOrderOperator

from strop import (  # noqa: F401  (fill the table)
    import_complex,
    import_layout,
    import_loops,
    import_matrices,
    import_order,
    import_pointwise,
    import_products,
    import_repeat,
    import_rewrite,
)
from strop import import_reductions  # noqa: F401
from strop.import_complex import Complex
from strop.import_decisions import refuse_other_ways, settle
from strop.import_functions import REPLACED, length
from strop.import_recurrent import recurrences_kept
from strop import trace_creation, trace_numpy  # noqa: F401  (what operators of traced arrays mean)
from strop.import_values import HALVES, OPERATIONS, as_tensor, numpy_dtype
from strop.trace_array import GRAPH, Traced, broadcast_to, pointwise
from strop.trace_constants import constant_array
from strop.trace_dims import SymInt, Untraceable, extremum, text
from strop.trace_layout import triangle

# Decomposing these would hide a product, a norm or an attention from who looks for one.
KEPT = (
    "linear matmul einsum bilinear layer_norm group_norm batch_norm instance_norm rms_norm softmax log_softmax "
    "scaled_dot_product_attention max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d "
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d gelu silu mish softplus elu selu celu hardswish "
    "hardsigmoid hardtanh relu6 leaky_relu log_sigmoid softsign mse_loss l1_loss smooth_l1_loss huber_loss kl_div "
    "binary_cross_entropy binary_cross_entropy_with_logits repeat_interleave pixel_shuffle pixel_unshuffle "
    "channel_shuffle select_scatter slice_scatter zeros_like ones_like full_like one_hot roll trunc frac logsumexp var std var_mean lerp unfold outer tril triu diag_embed pad"
).split()
# Beyond what torch.export takes apart by itself.
TAKEN_APART = [
    torch.ops.aten.grid_sampler_2d,
    torch.ops.aten.upsample_bicubic2d,
    torch.ops.aten.ldexp,
    torch.ops.aten.dist,
]
RANDOM = (
    "rand randn randint randperm bernoulli dropout native_dropout feature_dropout alpha_dropout normal uniform "
    "multinomial rrelu rrelu_with_noise rrelu_with_noise_functional poisson exponential gaussian log_normal cauchy "
    "geometric rand_like randn_like randint_like normal_functional fractional_max_pool2d fractional_max_pool3d"
).split()
VALUES = {"item", "_local_scalar_dense", "nonzero", "masked_select", "unique", "_unique2", "unique_dim", "bincount"}
IGNORED = {"_assert_scalar", "_assert_async", "sym_constrain_range", "sym_constrain_range_for_size", "_assert_tensor_metadata"}
SYMBOLIC = {"sym_max": "max", "sym_min": "min"}


class Function(torch.nn.Module):
    """torch.export takes modules."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *tensors):
        return self.function(*tensors)


def mode_matters(module: torch.nn.Module) -> bool:
    """Whether train() and eval() differ: by its parts, or as it says of itself."""
    kinds = (torch.nn.modules.batchnorm._NormBase, torch.nn.modules.dropout._DropoutNd)
    return bool(getattr(module, "mode_matters", False)) or any(isinstance(part, kinds) for part in module.modules())


def load_function(path: str, name: str):
    spec = import_rewrite.spec_of("reference", path)
    module = importlib.util.module_from_spec(spec)
    module.len = length  # type: ignore[attr-defined]
    with import_rewrite.files_rewritten(os.path.dirname(os.path.abspath(path))):
        spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise Untraceable(f"the reference has no function '{name}'")
    function = getattr(module, name)
    if inspect.isfunction(function):
        # PyTorch notes a node's lines in the user's file only for functions of this name.
        function.__code__ = function.__code__.replace(co_name="forward")
    return function


# ---- exporting -------------------------------------------------------------------------------------------


def example_dims(points: list[dict]) -> dict:
    """Small, but no extent of 1: PyTorch takes that for a constant."""
    dims = min(points, key=lambda dims: (min(dims.values(), default=2) < 2, sum(dims.values())))
    return {name: max(2, extent) for name, extent in dims.items()}


def evaluated(extent, dims: dict) -> int:
    return int(eval(text(extent), {"min": min, "max": max}, dict(dims)))  # our own text


def export(function, examples, varying):
    """`varying`: for each tensor whether each axis varies."""
    dynamic = tuple(
        tuple(torch.export.Dim.AUTO if varies else torch.export.Dim.STATIC for varies in axes) for axes in varying
    )
    module = Function(function)
    module.train()
    with torch.no_grad(), silence():
        program = torch.export.export(module, examples, dynamic_shapes=(dynamic,), strict=False)
        settle(program)
        if is_understood(program):
            return program  # to take it apart takes as long again
        table = torch.export.default_decompositions()
        for operation in list(table):
            if operation._opname in KEPT:
                del table[operation]
        table.update(torch._decomp.get_decompositions(TAKEN_APART))
        return program.run_decompositions(table)


def is_understood(program) -> bool:
    """Whether every operation has an entry as it is, and none changes a tensor."""
    for node in program.graph.nodes:
        target = node.target
        if isinstance(target, HigherOrderOperator):
            return False  # `autocast` around operations, say
        if node.op != "call_function" or not hasattr(target, "_opname") or target._opname in IGNORED:
            continue
        known = f"{target._opname}.{target._overloadname}" in OPERATIONS or target._opname in OPERATIONS
        known |= target._opname in import_complex.COMPLEX or target._opname in import_loops.OPERATORS
        if target._schema.is_mutable or not (known or target._opname in ("sym_size", "sym_numel")):
            return False
    return True


@contextlib.contextmanager
def silence():
    """What PyTorch logs of a failure is in the exception, too."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def extents_kept():
    """What would make a constant of an extent while it is exported does not: see import_functions."""
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in REPLACED]
    for owner, name, function in REPLACED:
        setattr(owner, name, function)
    try:
        with recurrences_kept():
            yield
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)


def exported(function, examples, varying, folder):
    try:
        return import_loops.followed(lambda: export(function, examples, varying))
    except Untraceable:
        raise
    except Exception as error:
        raise Untraceable(refusal(error, folder)) from error


def refusal(error: Exception, folder: str) -> str:
    """Why torch.export failed, as one phrase, with the line of the user's file."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(folder + os.sep)]
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    kind, message = type(error).__name__, str(error)
    if "DataDependent" in kind or "data-dependent" in message or "unbacked" in message:
        return f"control flow depends on the values of a tensor{place}"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return f"the reference cannot be exported: {kind}: {lines[0] if lines else 'no message'}{place}"


# ---- reading the exported program --------------------------------------------------------------------------


def line_of(node, folder: str) -> str:
    """' (file.py:12)': the last line of the user's own files that led to the node."""
    found = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    own = [(path, line) for path, line in found if path.startswith(folder + os.sep)]
    return f" ({os.path.basename(own[-1][0])}:{own[-1][1]})" if own else ""


def name_of(target) -> str:
    return f"aten.{target._opname}" if hasattr(target, "_opname") else getattr(target, "__name__", str(target))


def operation(target):
    """The table's entry; Untraceable without one."""
    name, overload = target._opname, target._overloadname
    if name in RANDOM:
        raise Untraceable(f"'{name_of(target)}' draws random numbers")
    if name in VALUES:
        raise Untraceable(f"'{name_of(target)}' makes a shape or a number depend on the values of a tensor")
    entry = OPERATIONS.get(f"{name}.{overload}") or OPERATIONS.get(name)
    if entry is None or target.namespace not in ("aten", "prims", "strop"):
        raise Untraceable(f"'{name_of(target)}' has no graph operation")
    return entry


def first_tensor(value):
    values = value if isinstance(value, (tuple, list)) else [value]
    return next((one for one in values if isinstance(one, torch.Tensor)), None)


def constant(tensor: torch.Tensor) -> Traced | Complex:
    """A tensor that the reference keeps: few values, or a pattern."""
    if tensor.is_complex():
        tensor = tensor.resolve_conj()
        return Complex(real_constant(tensor.real.contiguous()), real_constant(tensor.imag.contiguous()))
    return real_constant(tensor)


def real_constant(tensor: torch.Tensor) -> Traced:
    half = str(tensor.dtype).removeprefix("torch.") in HALVES
    numpy_dtype(tensor.dtype)
    array = (tensor.float() if half else tensor).detach().numpy()
    if array.ndim >= 2 and array.size > 64:
        for lower in (True, False):
            pattern = np.tril(np.ones(array.shape[-2:], bool)) if lower else np.triu(np.ones(array.shape[-2:], bool))
            if array.dtype == bool and (array == pattern).all():
                mask = triangle(array.shape[-2], array.shape[-1], 0, lower)
                return broadcast_to(mask, array.shape)
    return constant_array(array)


def is_fixed(extent) -> bool:
    return not isinstance(extent, torch.SymInt) or not extent.node.expr.free_symbols


class Reader:
    """Follows an exported program with traced arrays."""

    def __init__(self, program, inputs, dims, folder):
        self.program, self.inputs, self.dims, self.folder = program, list(inputs), dims, folder
        self.values: dict = {}
        self.in_place: dict[int, Traced] = {}  # by identity: that the steps of a loop write into

    def results(self) -> list:
        nodes = list(self.program.graph.nodes)
        outputs = self.outputs_of(self.program, nodes[-1])
        needed = self.needed(outputs)
        self.place_inputs([node for node in nodes if node.op == "placeholder"], needed)
        import_repeat.run(self, [node for node in nodes if node.op == "call_function" and node in needed])
        results = [self.values[output] if isinstance(output, torch.fx.Node) else output for output in outputs]
        if any(isinstance(result, Complex) for result in results):
            raise Untraceable("a result is complex: return its two parts, as torch.view_as_real gives them")
        return results

    def refuse_changed_inputs(self):
        for spec in self.program.graph_signature.output_specs:
            if spec.kind.name == "USER_INPUT_MUTATION":
                raise Untraceable("the reference changes one of its inputs in place")

    @staticmethod
    def outputs_of(program, node) -> list:
        specs = program.graph_signature.output_specs
        return [value for spec, value in zip(specs, node.args[0]) if spec.kind.name == "USER_OUTPUT"]

    @staticmethod
    def needed(outputs) -> set:
        found, open_ = set(), [output for output in outputs if isinstance(output, torch.fx.Node)]
        while open_:
            node = open_.pop()
            if node not in found:
                found.add(node)
                open_ += node.all_input_nodes
        return found

    def place_inputs(self, placeholders, needed):
        specs = self.program.graph_signature.input_specs
        given = iter(self.inputs)
        for spec, node in zip(specs, placeholders):
            if spec.kind.name == "USER_INPUT":
                traced = next(given)
                self.refuse_fixed_extents(node, traced)
                self.values[node] = traced
            elif node in needed:
                self.values[node] = constant(self.constant_of(spec))

    def constant_of(self, spec):
        for place in (self.program.constants, self.program.state_dict):
            if spec.target in place:
                return place[spec.target]
        raise Untraceable(f"'{spec.target}' has no value")

    def refuse_fixed_extents(self, node, traced):
        """An extent that varies in the problem, but that the program takes for a number."""
        name = GRAPH.nodes[traced.node]["op"]
        for axis, (extent, seen) in enumerate(zip(traced.shape, node.meta["val"].shape)):
            if isinstance(extent, SymInt) and is_fixed(seen):
                raise Untraceable(f"the reference fixes {text(extent)}, axis {axis} of '{name}', to {seen}")

    def refuse_other_ways(self, points):
        specs = zip(self.program.graph_signature.input_specs, self.program.graph.nodes)
        given = [node for spec, node in specs if spec.kind.name == "USER_INPUT"]
        refuse_other_ways(self.program, given, self.inputs, points, evaluated)

    def value(self, argument):
        if isinstance(argument, torch.fx.Node):
            return self.values[argument]
        if isinstance(argument, (list, tuple)):
            return [self.value(item) for item in argument]
        return argument

    def follow(self, node):
        if isinstance(node.target, HigherOrderOperator):
            raise Untraceable(f"'{node.target.name()}' has no graph operation{line_of(node, self.folder)}")
        arguments = [self.value(argument) for argument in node.args]
        options = {key: self.value(argument) for key, argument in node.kwargs.items()}
        try:
            if arguments and id(arguments[0]) in self.in_place:
                return self.of_changing(node, arguments, options)
            result = self.apply(node, arguments, options)
            self.check(node, result)
            return result
        except Untraceable as error:
            raise Untraceable(f"{error}{line_of(node, self.folder)}") from error
        except (TypeError, ValueError, IndexError, AttributeError, KeyError) as error:
            first = (str(error).splitlines() or [""])[0]
            raise Untraceable(f"this form of '{name_of(node.target)}' is not understood{line_of(node, self.folder)}: "
                              f"{first}") from error

    def of_changing(self, node, arguments, options):
        """What is read of an array that changes stays as it was."""
        name = node.target._opname
        if name in import_repeat.SCATTERED:
            return import_repeat.scattered(arguments[0], arguments[1], name, *arguments[2:], **options)
        result = self.apply(node, arguments, options)
        return Traced(result.node, result.shape, result.dtype) if isinstance(result, Traced) else result

    def apply(self, node, arguments, options):
        target = node.target
        if target in (math.ceil, math.floor) and (quotient := self.quotient(node.args[0])):
            above, below = quotient
            return -(-above // below) if target is math.ceil else above // below
        if not hasattr(target, "_opname"):
            return self.apply_python(target, arguments)
        if target._opname in IGNORED:
            return None
        if target._opname == "sym_size":
            return arguments[0].shape[arguments[1]]
        if target._opname == "sym_numel":
            return arguments[0].size
        seen = first_tensor(node.meta.get("val"))
        if import_complex.concerns(seen, [*arguments, *options.values()]):
            return import_complex.call(target._opname, OPERATIONS.get(target._opname), seen, arguments, options)
        entry = operation(target)
        out = numpy_dtype(seen.dtype) if seen is not None else None
        result = entry(out, *arguments, **options)
        single = isinstance(node.meta.get("val"), torch.Tensor)
        if single and isinstance(result, (tuple, list)):
            result = result[0]
        return as_tensor(result, out) if single else result

    def quotient(self, node):
        """An extent and what it is divided by, for `n / 2` and `n * 0.5`."""
        name = getattr(getattr(node, "target", None), "__name__", "")
        if name not in ("truediv", "mul") or len(node.args) != 2:
            return None
        extent, number = self.value(node.args[0]), node.args[1]
        if not isinstance(extent, SymInt) or not isinstance(number, (int, float)) or not math.isfinite(number):
            return None
        above, below = number.as_integer_ratio()
        if name == "truediv":
            above, below = below, above
        return (extent * above, below) if above > 0 and 0 < below <= 1024 and above <= 1024 else None

    @staticmethod
    def apply_python(target, arguments):
        """Indexing of results, and arithmetic on extents."""
        name = getattr(target, "__name__", "")
        if name in SYMBOLIC:
            return extremum(SYMBOLIC[name], arguments)
        if name in ("sym_sqrt", "_sym_sqrt"):
            return pointwise("sqrt", arguments[0])
        if name == "sym_sum":
            return sum(arguments[0], 0)
        if name == "sym_float":
            return arguments[0]
        if getattr(target, "__module__", "") == "_operator":
            return target(*arguments)
        raise Untraceable(f"'{name or target}' has no graph operation")

    def check(self, node, result):
        """Our extents against PyTorch's at the example."""
        seen = node.meta.get("val")
        if not isinstance(result, (Traced, Complex)) or not isinstance(seen, torch.Tensor):
            return
        expected = [int(extent) if is_fixed(extent) else extent.node.hint for extent in seen.shape]
        found = [evaluated(extent, self.dims) for extent in result.shape]
        if None not in expected and found != expected:
            raise Untraceable(f"'{name_of(node.target)}' gives shape {found} here, {expected} in PyTorch")


def results_of(spec: dict, inputs: list[Traced]) -> list:
    """The traced results of the reference of a problem."""
    if spec["parameters"]:
        raise Untraceable("parameters of a PyTorch reference are not traced: write their values into the function")
    torch.manual_seed(42)
    folder = os.path.dirname(os.path.abspath(spec["reference"]))
    dims = example_dims(spec["points"])
    examples = tuple(
        torch.empty([evaluated(extent, dims) for extent in traced.shape],
                    dtype=getattr(torch, entry.get("stored", entry["dtype"])))
        for traced, entry in zip(inputs, spec["inputs"])
    )
    varying = [[isinstance(extent, SymInt) for extent in traced.shape] for traced in inputs]
    with extents_kept():
        function = load_function(spec["reference"], spec["function"])
        program = exported(function, examples, varying, folder)
    reader = Reader(program, inputs, dims, folder)
    reader.refuse_changed_inputs()
    results = reader.results()
    reader.refuse_other_ways(spec["points"])
    return results

