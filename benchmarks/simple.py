#!/usr/bin/env python3
"""Simple NumPy computations, as a new user would try them: does each end with a verified result?

    benchmarks/simple.py [--budget 10s] [--strop PATH] [NAME...]

Writes a problem for each into a temporary folder and runs `strop optimize` on it. Exit code 1 when one did not verify.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MATRIX = {"x": "M, N"}

# Name: inputs with their shapes, fill, the returned expression, the output's shape, lines before it.
COMPUTATIONS = {
    "relu": (MATRIX, "normal", "np.maximum(x, 0)", "M, N"),
    "gelu": (MATRIX, "normal", "0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))", "M, N"),
    "mish": (MATRIX, "normal", "x * np.tanh(np.log1p(np.exp(x)))", "M, N"),
    "frobenius": (MATRIX, "normal", "x / np.sqrt((x * x).sum())", "M, N"),
    "product": (MATRIX, "positive", "x.prod(axis=1)", "M"),
    "silu": (MATRIX, "normal", "x / (1 + np.exp(-x))", "M, N"),
    "leaky_relu": (MATRIX, "normal", "np.where(x > 0, x, 0.01 * x)", "M, N"),
    "elu": (MATRIX, "normal", "np.where(x > 0, x, np.expm1(np.minimum(x, 0)))", "M, N"),
    "softplus": (MATRIX, "normal", "np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)", "M, N"),
    "hard_sigmoid": (MATRIX, "normal", "np.clip(x / 6 + 0.5, 0, 1)", "M, N"),
    "scale_and_shift": ({"x": "M, N", "a": "N", "b": "N"}, "normal", "x * a + b", "M, N"),
    "residual": ({"x": "M, N", "r": "M, N"}, "normal", "x + 0.5 * r", "M, N"),
    "distance": ({"x": "M, N", "y": "M, N"}, "normal", "np.sqrt(((x - y) ** 2).sum(axis=1))", "M"),
    "cosine": ({"x": "M, N", "y": "M, N"}, "positive",
               "(x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))", "M"),
    "row_mean": (MATRIX, "normal", "x.mean(axis=1)", "M"),
    "row_variance": (MATRIX, "normal", "x.var(axis=1)", "M"),
    "row_maximum": (MATRIX, "normal", "x.max(axis=1)", "M"),
    "column_mean": (MATRIX, "normal", "x.mean(axis=0)", "N"),
    "column_minimum": (MATRIX, "normal", "x.min(axis=0)", "N"),
    "standard_score": (MATRIX, "normal", "(x - x.mean(axis=0)) / (x.std(axis=0) + 1e-5)", "M, N"),
    "unit_rows": (MATRIX, "normal", "x / np.sqrt((x * x).sum(axis=1, keepdims=True) + 1e-6)", "M, N"),
    "log_softmax": (MATRIX, "normal",
                    "x - x.max(axis=1, keepdims=True)"
                    " - np.log(np.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))", "M, N"),
    "mean_square_error": ({"x": "M, N", "y": "M, N"}, "normal", "((x - y) ** 2).mean(axis=1)", "M"),
    "minmax": (MATRIX, "normal",
               "(x - x.min(axis=1, keepdims=True)) / (x.max(axis=1, keepdims=True) - x.min(axis=1, keepdims=True) + 1e-6)",
               "M, N"),
    "outer_sum": ({"x": "M, N", "a": "M", "b": "N"}, "normal", "x + a[:, None] + b", "M, N"),
    "sine_wave": (MATRIX, "normal", "np.sin(x) * np.exp(-x * x)", "M, N"),
}


def write_problem(folder, name):
    inputs, fill, expression, output = COMPUTATIONS[name]
    place = folder / name
    place.mkdir()
    lines = [f"name: {name}", "inputs:"]
    lines += [f"  {tensor}: {{dtype: float32, shape: [{shape}], fill: {fill}}}" for tensor, shape in inputs.items()]
    lines += ["outputs:", f"  out: {{dtype: float32, shape: [{output}]}}",
              "shapes: {small: {M: 64, N: 256}, large: {M: 2048, N: 1024}}"]
    (place / "problem.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (place / "reference.py").write_text(
        f"import numpy as np\n\n\ndef {name}({', '.join(inputs)}):\n    return {expression}\n", encoding="utf-8")
    return place


def optimize(strop, place, budget, store):
    done = subprocess.run([strop, "optimize", str(place), "--budget", budget, "--store", str(store), "--out",
                           str(store.parent / "out" / place.name), "--quiet", "--json"], capture_output=True, text=True,
                          check=False)
    if not done.stdout:
        return False, (done.stderr.splitlines() or ["nothing was said"])[0]
    record = json.loads(done.stdout)
    ratio = record["headline"]["speedup"]
    told = record["verification"] if not record["verified"] else f"{ratio:.2f}×" if ratio else ""
    return record["verified"], f"{record['outcome']:<15} {told}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of computations (all)")
    parser.add_argument("--budget", default="10s", help="of each (10s)")
    parser.add_argument("--strop", default=str(pathlib.Path(__file__).resolve().parents[1] / "strop"), metavar="PATH")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="strop-simple-") as folder:
        folder = pathlib.Path(folder)
        for name in arguments.names or COMPUTATIONS:
            verified, told = optimize(arguments.strop, write_problem(folder, name), arguments.budget, folder / "runs.db")
            failed += not verified
            print(f"{name:<18} {'verified' if verified else 'FAILED':<9} {told}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
