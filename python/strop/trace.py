"""Traces a reference into the graph document of src/graph/graph.h.

    python trace.py SPEC.json        (or - for standard input)

SPEC: {"reference": path, "function": name, "inputs": [{"name", "dtype", "shape": ["M", "N-1"]}],
       "parameters": [{"name", "dtype", "value"}], "framework": "numpy" or "pytorch",
       "points": [{dimension: value}] (PyTorch only: shapes that the reference takes)}

A function over arrays is called with the inputs, then the parameters, positionally and in the problem's order;
a parameter whose name is keyword-only is passed by name. Inputs are arrays with symbolic extents, integer
parameters symbolic integers, floating ones traced numbers. A function over tensors goes through torch.export
(import_torch.py). The document goes to standard output; a reference that cannot be traced gives
{"untraceable": "one phrase"} and exit code 0.

Parts: trace_dims.py symbolic dimensions, trace_graph.py the graph, trace_array.py the traced array, trace_layout.py
shapes and indices, trace_contraction.py products, trace_numpy.py, trace_order.py and trace_creation.py NumPy's functions,
trace_calls.py their table, trace_modules.py what the reference sees. Loops: trace_rewrite.py the reference's `for`,
trace_loops.py what it does (trace_passes.py, trace_states.py, trace_places.py, trace_lists.py, trace_walks.py),
trace_bodies.py the document with their bodies.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import os
import re
import sys

if __name__ == "__main__":
    # As a script: find the package, and keep our `trace.py` from hiding the standard module of that name.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402

from strop import (  # noqa: E402, F401  (they fill the table of trace_calls)
    trace_apply,
    trace_arrangement,
    trace_creation,
    trace_elementwise,
    trace_found,
    trace_fourier,
    trace_matrices,
    trace_numpy,
    trace_order,
    trace_scipy,
    trace_special,
    trace_statistics,
    trace_windows,
)
from strop.trace_array import Traced, lift  # noqa: E402
from strop.trace_bodies import document as document_of  # noqa: E402
from strop.trace_comprehensions import COMPREHENSIONS  # noqa: E402
from strop.trace_dims import PlacesUnfollowed, StepUndecided, SymInt, Untraceable, extremum  # noqa: E402
from strop.trace_graph import DTYPES, GRAPH  # noqa: E402
from strop.trace_modules import run_module  # noqa: E402
from strop.trace_returns import ResultUnknown  # noqa: E402

MOST_FIRST_STEPS = 3  # of a loop, traced one by one


def parse_extent(source) -> SymInt | int:
    """A shape's expression, in Python's syntax."""
    operations = {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.FloorDiv: lambda a, b: a // b,
        ast.Mod: lambda a, b: a % b,
        ast.Pow: lambda a, b: a**b,
    }

    def value_of(node):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            return SymInt.symbol(node.id)
        if isinstance(node, ast.BinOp) and type(node.op) in operations:
            return operations[type(node.op)](value_of(node.left), value_of(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value_of(node.operand)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            arguments = [value_of(argument) for argument in node.args]
            if node.func.id in ("min", "max"):
                return extremum(node.func.id, arguments)
            if node.func.id == "ceildiv" and len(arguments) == 2:
                return -(-arguments[0] // arguments[1])
        raise Untraceable(f"extent '{source}' is not understood")

    return value_of(ast.parse(str(source), mode="eval").body)


def make_input(entry: dict) -> Traced:
    shape = [parse_extent(extent) for extent in entry["shape"]]
    given = Traced(GRAPH.add("input", entry["name"], [], shape, entry["dtype"]), shape, entry["dtype"])
    given.is_given = given._storage.contiguous = True
    return given


def make_parameter(entry: dict):
    kind = np.dtype(entry["dtype"]).kind
    if kind in "iu":
        return SymInt.symbol(entry["name"])
    node = GRAPH.add("parameter", entry["name"], [], [], entry["dtype"])
    return Traced(node, (), np.float64 if kind == "f" else bool, weak=True)


def working_dtype(spec: dict) -> str:
    """The precision of Python's floats: that of the widest floating input; without one, what the framework makes of whole
    numbers."""
    floating = [entry["dtype"] for entry in spec["inputs"] if np.dtype(entry["dtype"]).kind == "f"]
    if not floating:
        return "float32" if spec.get("framework") == "pytorch" else "float64"
    return np.result_type(*floating).name


def call_reference(function, inputs, parameters):
    """`parameters`: (name, value) in order."""
    try:
        kinds = {p.name: p.kind for p in inspect.signature(function).parameters.values()}
    except (TypeError, ValueError):
        kinds = {}
    named = {name: value for name, value in parameters if kinds.get(name) is inspect.Parameter.KEYWORD_ONLY}
    return function(*inputs, *(value for name, value in parameters if name not in named), **named)


def trace(spec: dict) -> dict:
    """A `while` is traced as it is; where that does not do, again as a loop over a range, if it counts. PyTorch's loops are
    followed; where that does not do, they are unrolled."""
    GRAPH.counting.clear()
    if spec.get("framework") == "pytorch":
        return trace_exported(spec)
    earlier = None
    while True:
        GRAPH.whiles.clear()
        try:
            return trace_with_loops(spec)
        except (Exception, Untraceable) as error:
            others = GRAPH.whiles - GRAPH.counting
            if earlier is not None and not isinstance(error, Untraceable):
                raise earlier from None
            if not others:
                raise
            GRAPH.counting |= others
            earlier = error


def trace_exported(spec: dict) -> dict:
    from strop import import_loops  # PyTorch takes seconds to load

    try:
        return trace_with_loops(spec)
    except Untraceable as error:
        if not import_loops.were_any():
            raise
        try:
            with import_loops.unrolled():
                return trace_with_loops(spec)
        except (Exception, Untraceable):
            raise error from None


def trace_with_loops(spec: dict) -> dict:
    """What a loop decides for single steps only makes the trace start again, with its first steps one by one; so do
    arrays that are not written place by place, with the arrays of that loop as states; a long loop of a known length that cannot be traced as if it varied makes it start again with all of them."""
    GRAPH.first_steps.clear()
    GRAPH.unrolled.clear()
    GRAPH.whole_loops.clear()
    GRAPH.forking.clear()
    GRAPH.results.clear()
    first = latest = None
    while True:
        try:
            return trace_once(spec)
        except ResultUnknown:
            continue
        except (Exception, Untraceable) as error:
            loop = getattr(error, "loop", None)
            tried = GRAPH.long_loops - GRAPH.unrolled
            if tried:
                GRAPH.unrolled |= {loop} if loop in tried else tried
                continue
            if isinstance(error, PlacesUnfollowed) and loop not in GRAPH.whole_loops:
                GRAPH.whole_loops.add(loop)
                continue
            if isinstance(error, StepUndecided):
                first, latest = first or error, error
                if GRAPH.first_steps.get(loop, 0) == 1 and fork_at(loop):  # more than one there may not be
                    continue
                if GRAPH.first_steps.get(loop, 0) < MOST_FIRST_STEPS:
                    GRAPH.first_steps[loop] = GRAPH.first_steps.get(loop, 0) + 1
                    continue
            elif first and str(error).startswith("control flow depends on dimension"):
                if latest and fork_at(latest.loop):
                    continue
                raise first from None
            raise


def fork_at(loop) -> bool:
    """Whether branches by this loop's step may be traced on both sides now, and were not before."""
    if loop in GRAPH.forking:
        return False
    GRAPH.forking.add(loop)
    GRAPH.first_steps[loop] = 0
    return True


def trace_once(spec: dict) -> dict:
    GRAPH.start(working_dtype(spec))
    GRAPH.names = names_of(spec)
    numbers = {entry["name"]: entry["value"] for entry in spec["parameters"]}
    GRAPH.points = [point | numbers for point in spec.get("points", ())]
    COMPREHENSIONS.clear()
    for entry in [*spec["inputs"], *spec["parameters"]]:
        if entry["dtype"] not in DTYPES:
            raise Untraceable(f"dtype '{entry['dtype']}' is not supported")
    SymInt.parameters = {entry["name"] for entry in spec["parameters"]}
    inputs = [make_input(entry) for entry in spec["inputs"]]
    parameters = [(entry["name"], make_parameter(entry)) for entry in spec["parameters"]]
    if spec.get("framework") == "pytorch":
        from strop import import_torch  # PyTorch takes seconds to load

        results = import_torch.results_of(spec, inputs)
    else:
        results = results_of(spec, inputs, parameters)
    if any(value is None for value in results):
        raise Untraceable("the reference returns nothing")
    outputs = [lift(value).node for value in results]
    return document_of(outputs)


def names_of(spec: dict) -> set[str]:
    """Of the dimensions and parameters."""
    shapes = " ".join(str(extent) for entry in spec["inputs"] for extent in entry["shape"])
    return set(re.findall(r"[A-Za-z_]\w*", shapes)) | {entry["name"] for entry in spec["parameters"]}


def results_of(spec: dict, inputs, parameters) -> list:
    names = run_module(spec["reference"])
    if spec["function"] not in names:
        raise Untraceable(f"the reference has no function '{spec['function']}'")
    result = call_reference(names[spec["function"]], inputs, parameters)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def phrase(error: BaseException) -> str:
    if isinstance(error, Untraceable):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"the reference does not compile: {error.msg} at line {error.lineno}"
    first = (str(error).splitlines() or [""])[0]
    return f"the reference fails: {type(error).__name__}: {first}"


def place_in(path: str, error: BaseException) -> str:
    """" (reference.py:5)": the reference's own line that led there; nothing where another one is named already."""
    line, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == path:
            line = step.tb_lineno
        step = step.tb_next
    return f" ({os.path.basename(path)}:{line})" if line is not None else ""


def document(read_spec) -> dict:
    """The graph, or why there is none. What the reference prints goes to standard error."""
    spec = None
    try:
        with contextlib.redirect_stdout(sys.stderr):
            sys.path.insert(1, "")
            spec = read_spec()
            sys.path[1] = os.path.dirname(os.path.abspath(spec["reference"]))
            return trace(spec)
    except BaseException as error:  # whatever the reference does must end as data
        said = phrase(error)
        path = spec.get("reference", "") if isinstance(spec, dict) else ""
        return {"untraceable": said if said.endswith(")") else said + place_in(path, error)}


def main(arguments) -> int:
    if len(arguments) != 1:
        print("usage: trace.py SPEC.json", file=sys.stderr)
        return 2

    def read_spec():
        if arguments[0] == "-":
            return json.load(sys.stdin)
        with open(arguments[0], encoding="utf-8") as file:
            return json.load(file)

    json.dump(document(read_spec), sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
