#!/usr/bin/env python3
"""A result for several targets beside one for each alone: calls of both libraries in turns, a process a round.

    benchmarks/targets.py problems/softmax --targets cpu-avx2,cpu-avx512 --budget 60s --rounds 15

For each target and shape: the time of the whole, forced to that target, over the time of the target's own result, as
the median of the rounds' ratios with a distribution-free 95% interval. The exit code is 1 where a whole interval lies
above --bound. `--alone run` compares with runs of their own (`--for TARGET`), `--alone part` with the folders below the
result, which hold the same kernels.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

HOME = pathlib.Path(__file__).resolve().parent.parent
STROP = os.environ.get("STROP_BINARY", str(HOME / "build/release/strop"))

CALLS = """
import importlib.util, json, sys, time
import numpy as np
spec = json.load(sys.stdin)
def module(folder, name):
    place = importlib.util.spec_from_file_location(f"m{len(sys.modules)}", f"{folder}/{name}.py")
    loaded = importlib.util.module_from_spec(place)
    place.loader.exec_module(loaded)
    return loaded
whole, alone = (module(folder, spec["name"]) for folder in (spec["whole"], spec["alone"]))
functions = [getattr(one, spec["name"]) for one in (whole, alone)]
random = np.random.default_rng(spec["seed"])
inputs = [random.standard_normal(shape).astype(dtype) if dtype.startswith("float")
          else random.integers(0, 2, shape).astype(dtype) for shape, dtype in spec["inputs"]]
def batch(function, calls):
    start = time.perf_counter_ns()
    for _ in range(calls):
        function(*inputs)
    return (time.perf_counter_ns() - start) / calls
for function in functions:
    function(*inputs)
calls = max(1, int(2e6 / max(1.0, min(batch(function, 3) for function in functions))))
times = [[], []]
for turn in range(spec["turns"]):
    for which in ((0, 1), (1, 0))[turn % 2]:
        times[which].append(batch(functions[which], calls))
assert whole.target() == spec["target"]
print(json.dumps([sorted(one)[len(one) // 4] for one in times]))
"""


def optimize(problem, targets, out, options):
    words = [STROP, "optimize", problem, "--for", targets, "--out", str(out), "--budget", options.budget, "--seed",
             str(options.seed), "--store", str(options.folder / "runs.db"), "--continue", "--quiet"]
    done = subprocess.run(words, check=False, stdout=subprocess.DEVNULL, env={**os.environ, "STROP_HOME": str(HOME)})
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}")


TENSOR = re.compile(r"(\w+):\s*\{[^}]*?dtype:\s*(\w+)[^}]*?shape:\s*\[([^\]]*)\]")


def extents(folder, dims):
    """Shapes and types of the inputs, of a problem.yaml that writes each in a line as the shipped ones do."""
    text = (pathlib.Path(folder) / "problem.yaml").read_text(encoding="utf-8")
    inputs = text.partition("\ninputs:")[2].partition("\noutputs:")[0]
    found = [([eval(extent, {}, dims) for extent in shape.split(",")], dtype)
             for _, dtype, shape in TENSOR.findall(inputs)]
    return found or sys.exit(f"{folder}/problem.yaml: no inputs of the form NAME: {{dtype: TYPE, shape: [...]}}")


def interval(values):
    """Of the median, distribution-free."""
    values = sorted(values)
    k = max(0, int(len(values) / 2 - 0.98 * len(values) ** 0.5))
    return statistics.median(values), values[k], values[-1 - k]


def measure(whole, alone, name, target, inputs, options):
    ratios = []
    for seed in range(options.rounds):
        spec = {"name": name, "whole": str(whole), "alone": str(alone), "target": target, "inputs": inputs,
                "seed": seed, "turns": 12}
        done = subprocess.run([options.python, "-c", CALLS], input=json.dumps(spec), check=True, capture_output=True,
                              text=True, env={**os.environ, f"{name}_TARGET": target})
        first, second = json.loads(done.stdout)
        ratios.append(first / second)
    return interval(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem")
    parser.add_argument("--targets", default="cpu-avx2,native")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bound", type=float, default=1.03)
    parser.add_argument("--alone", choices=("run", "part"), default="run")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("targets-bench"))
    parser.add_argument("--python", default=os.environ.get("STROP_PYTHON", str(HOME / ".venv/bin/python")))
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    whole = options.folder / "whole"
    optimize(options.problem, options.targets, whole, options)
    report = json.loads((whole / "report.json").read_text(encoding="utf-8"))
    worst = False
    for part in report["targets"]:
        target, alone = part["target"], whole / "targets" / part["target"]
        if options.alone == "run":
            alone = options.folder / "alone" / target
            optimize(options.problem, target, alone, options)
        for shape in part["report"]["shapes"]:
            inputs = extents(part["report"]["problem_folder"], shape["dims"])
            ratio, low, high = measure(whole, alone, report["problem"], target, inputs, options)
            worst |= low > options.bound
            print(f"{target:12} {shape['label']:16} {ratio:.3f} ({low:.3f}–{high:.3f})", flush=True)
    sys.exit(int(worst))


if __name__ == "__main__":
    main()
