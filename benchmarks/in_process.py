#!/usr/bin/env python3
"""What a result is worth in its user's process: a call's cost, and ratios over eager PyTorch in one process.

    benchmarks/in_process.py [--results FOLDER] [--budget 30s] [--seconds 2] [--json FILE] [PROBLEM...]

Result folders are FOLDER/PROBLEM (strop-out); what is not there is optimized first when --budget is given, else left out.
Three tables, each figure from one interleaved run:

  overhead  a call of the binding with a function that does nothing in the kernel's place, at 1 element: one input (softmax)
            and three (layernorm), NumPy and PyTorch, with out= and without; without, less what the allocation takes
  ratios    over eager PyTorch at every shape of the sweep, each call after a parallel addition of PyTorch
  chain     add, layernorm, softmax: PyTorch's add and our kernels over all three eager

Bounds: 0.5 microseconds with out=, 1 without; the chain faster at every shape. Exit 1: one is missed. It needs PyTorch
(./strop setup torch), and Python's headers; nothing else should run meanwhile.
"""

import argparse
import ctypes
import importlib.machinery
import importlib.util
import inspect
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

HOME = pathlib.Path(__file__).resolve().parent.parent


def loaded(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


in_process = loaded(HOME / "python" / "strop" / "in_process.py", "strop_in_process")  # what `strop optimize` runs

CHAIN_SHAPES = [(64, 128), (77, 1003), (1024, 1024), (4096, 4096)]
BOUND_NS = {"with out": 500, "new": 1000}
CALLS, REPEATS = 2000, 60


def result_module(folder):
    return loaded(folder / f"{folder.name}.py", folder.name)


def ratio_of(ours, theirs):
    """The median of the rounds' ratios and its distribution-free 95 % interval."""
    ratios = sorted(b / a for a, b in zip(ours, theirs))
    reach = 0.98 * math.sqrt(len(ratios))
    low, high = math.floor((len(ratios) - 1) / 2 - reach), math.ceil((len(ratios) - 1) / 2 + reach)
    return {"ratio": statistics.median(ratios), "low": ratios[max(0, low)], "high": ratios[min(len(ratios) - 1, high)]}


# ---- what a call costs


def idle_binding(module):
    """The binding once more, over a function of the C library that does next to nothing and reads no memory."""
    loader = importlib.machinery.ExtensionFileLoader(f"{module.__name__}_python", module._BINDING)
    binding = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(binding)
    binding.bind(ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p).value, module._checked)
    module._call = getattr(binding, module.__name__)
    return getattr(module, module.__name__)


def least_times(calls):
    """ns of a call: the least of many short batches, all in random order; what disturbs only adds."""
    clock, least = time.perf_counter_ns, dict.fromkeys(calls, math.inf)
    for _ in range(REPEATS):
        for name in random.sample(sorted(calls), len(calls)):
            call = calls[name]
            start = clock()
            for _ in range(CALLS):
                call()
            least[name] = min(least[name], (clock() - start) / CALLS)
    return least


def written_call(function, inputs, out=None):
    """`function(x, gamma, beta, out=out)` as people write it: *inputs would cost a tuple and a dictionary more."""
    names = {"function": function, "out": out, **{f"input{i}": value for i, value in enumerate(inputs)}}
    arguments = [f"input{i}" for i in range(len(inputs))] + (["out=out"] if out is not None else [])
    return eval(f"lambda {', '.join(f'{name}={name}' for name in names)}: function({', '.join(arguments)})", names)


def overhead(module, count):
    import numpy as np
    import torch

    shapes = [(1, 1), (1,), (1,)][:count]
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    tensors = [torch.ones(shape) for shape in shapes]
    array_out, tensor_out = np.empty((1, 1), np.float32), torch.empty(1, 1)
    getattr(module, module.__name__)(*arrays)  # compiles
    function = idle_binding(module)
    function(*tensors)
    least = least_times({
        "numpy with out": written_call(function, arrays, array_out),
        "numpy new": written_call(function, arrays),
        "torch with out": written_call(function, tensors, tensor_out),
        "torch new": written_call(function, tensors),
        "numpy allocation": lambda: np.empty((1, 1), np.float32),
        "torch allocation": lambda: torch.empty((1, 1), dtype=torch.float32),
        "nothing": lambda: None,
    })
    rows = []
    for framework in "numpy", "torch":
        for how in "with out", "new":
            base = least["nothing"] if how == "with out" else least[f"{framework} allocation"]
            rows.append({"inputs": count, "framework": framework, "how": how,
                         "nanoseconds": least[f"{framework} {how}"] - base})
    return rows


# ---- ratios in one process


def described_inputs(function):
    """(name, dtype, expressions of the extents) as the result's own description has them."""
    found = re.findall(r"^(\w+): (\w+) \[(.*)\]$", inspect.getdoc(function), re.MULTILINE)
    return [(name, dtype, shape.split(", ") if shape else []) for name, dtype, shape in found]


def specification(folder, seconds):
    function = getattr(result_module(folder), folder.name)
    parameters = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()
                  if parameter.default not in (inspect.Parameter.empty, None)}
    inputs = described_inputs(function)
    points = []
    for shape in json.loads((folder / "report.json").read_text())["shapes"]:
        names = {**parameters, **shape["dims"]}
        points.append({"label": shape["label"], "limits": [None] * len(inputs), "asked": {},
                       "shapes": [[eval(extent, {}, names) for extent in extents] for _, _, extents in inputs]})
    return {"module": str(folder / f"{folder.name}.py"), "name": folder.name, "framework": "pytorch",
            "versions": ["pytorch"], "file": str(HOME / "problems" / folder.name / "pytorch.py"),
            "function": folder.name, "inputs": [{"dtype": dtype, "fill": "normal"} for _, dtype, _ in inputs],
            "parameters": [{"dtype": "float64" if isinstance(value, float) else "int64", "value": value}
                           for value in parameters.values()],
            "points": points, "seconds": seconds * len(points), "seed": 1}


def row_of(name, label, samples):
    ours, eager = ([call for call, _ in samples[key]] for key in (in_process.OURS, "pytorch"))
    return {"problem": name, "shape": label, "nanoseconds": statistics.median(ours), "eager": statistics.median(eager),
            **ratio_of(ours, eager)}


def ratios(folder, seconds):
    measurement = in_process.Measurement(specification(folder, seconds))
    return [row_of(folder.name, point["label"], point["samples"]) for point in measurement.points()]


def chain(layernorm, softmax, seconds):
    import torch

    torch.set_grad_enabled(False)
    rows = []
    for rows_count, columns in CHAIN_SHAPES:
        x, bias = torch.randn(rows_count, columns), torch.randn(rows_count, columns)
        gamma, beta = torch.randn(columns), torch.randn(columns)

        def ours():
            return softmax(layernorm(torch.add(x, bias), gamma, beta))

        def eager():
            return torch.softmax(torch.nn.functional.layer_norm(torch.add(x, bias), (columns,), gamma, beta), 1)

        if not torch.allclose(ours(), eager(), atol=1e-5):
            sys.exit(f"the chain is wrong at {rows_count} x {columns}")
        samples = in_process.measure({in_process.OURS: ours, "pytorch": eager}, lambda: None, seconds, random.Random(1))
        rows.append(row_of("add, layernorm, softmax", f"{rows_count} x {columns}", samples))
    return rows


# ---- tables


def print_ratios(rows):
    for row in rows:
        print(f"{row['problem']:24} {row['shape']:12} {row['nanoseconds'] / 1e3:10.2f} us  eager {row['eager'] / 1e3:10.2f} us"
              f"  {row['ratio']:5.2f} ({row['low']:.2f} to {row['high']:.2f})")
    for name in dict.fromkeys(row["problem"] for row in rows):
        values = [row["ratio"] for row in rows if row["problem"] == name]
        print(f"{name:24} in all {statistics.geometric_mean(values):.2f}, least {min(values):.2f}")


def missed(report):
    for row in report["overhead"]:
        if row["nanoseconds"] > BOUND_NS[row["how"]]:
            yield f"a call costs {row['nanoseconds']:.0f} ns ({row['framework']}, {row['how']}, {row['inputs']} inputs)"
    for row in report["chain"]:
        if row["ratio"] <= 1:
            yield f"the chain is not faster at {row['shape']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--results", type=pathlib.Path, default=HOME / "strop-out")
    parser.add_argument("--budget")
    parser.add_argument("--seconds", type=float, default=2, help="of sampling a shape")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    shipped = sorted(path.parent.name for path in HOME.glob("problems/*/pytorch.py"))
    names = arguments.problems or shipped
    folders = {}
    for name in names:
        folder = (arguments.results / name).resolve()
        if not (folder / f"{name}_python.cpp").exists() and arguments.budget:
            subprocess.run([HOME / "strop", "optimize", HOME / "problems" / name, "--budget", arguments.budget,
                            "--out", folder, "--quiet"], check=False, stdout=subprocess.DEVNULL)
        if (folder / f"{name}_python.cpp").exists():
            folders[name] = folder
        else:
            print(f"{name}: no result in {folder}; --budget makes one", file=sys.stderr)
    report = {"overhead": [], "ratios": [], "chain": []}
    for name, folder in folders.items():
        report["ratios"] += ratios(folder, arguments.seconds)
    print_ratios(report["ratios"])
    if "layernorm" in folders and "softmax" in folders:
        functions = [getattr(result_module(folders[name]), name) for name in ("layernorm", "softmax")]
        report["chain"] = chain(*functions, arguments.seconds)
        print_ratios(report["chain"])
    for name, count in ("softmax", 1), ("layernorm", 3):
        if name in folders:
            report["overhead"] += overhead(result_module(folders[name]), count)
    for row in report["overhead"]:
        print(f"{row['inputs']} inputs  {row['framework']:6} {row['how']:9} {row['nanoseconds']:7.0f} ns above the C function")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    misses = list(missed(report))
    for miss in misses:
        print("missed: " + miss)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
