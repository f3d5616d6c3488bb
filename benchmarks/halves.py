#!/usr/bin/env python3
"""What 16-bit tensors gain: the same computation optimized over float32 and over bfloat16, then called in turns.

    benchmarks/halves.py [--budget DURATION] [--type bfloat16|float16] [NAME...]

Each pair is optimized by itself at one large shape; the two verified kernels are then called in one process in turns, and
the ratio of their median times is printed with the range of the middle half of the paired ratios.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

HOME = Path(__file__).resolve().parent.parent
MATRIX, VECTOR = "[M, N]", "[N]"
LARGE = {"M": 4096, "N": 8192}
# name: inputs, the output's shape, the sweep's shape, the function's body
COMPUTATIONS = {
    "softmax": ({"x": MATRIX}, MATRIX, LARGE,
                "e = np.exp(x - x.max(axis=1, keepdims=True))\n    return e / e.sum(axis=1, keepdims=True)"),
    "layernorm": ({"x": MATRIX, "gamma": VECTOR, "beta": VECTOR}, MATRIX, LARGE,
                  "d = x - x.mean(axis=1, keepdims=True)\n    v = (d * d).mean(axis=1, keepdims=True)\n"
                  "    return d / np.sqrt(v + 1e-5) * gamma + beta"),
    "bias_gelu_residual": ({"x": MATRIX, "bias": VECTOR, "residual": MATRIX}, MATRIX, LARGE,
                           "z = x + bias\n    return 0.5 * z * (1 + np.tanh(0.7978845608 * (z + 0.044715 * z * z * z))) + residual"),
    "column_sum": ({"x": MATRIX}, VECTOR, LARGE, "return x.sum(axis=0)"),
    "row_sum": ({"x": MATRIX}, "[M]", LARGE, "return x.sum(axis=1)"),
    "max_pool": ({"x": "[B, 2*H, 2*W]"}, "[B, H, W]", {"B": 64, "H": 512, "W": 512},
                 "b, h, w = x.shape\n    return x.reshape(b, h // 2, 2, w // 2, 2).max(axis=(2, 4))"),
    "row_scan": ({"x": MATRIX}, MATRIX, LARGE, "return np.cumsum(x, axis=1)"),
}


def optimized(folder, name, dtype, budget):
    """The verified kernel's library function and what it is called with; None where nothing was verified."""
    inputs, output, point, body = COMPUTATIONS[name]
    problem = folder / f"{name}_{dtype}"
    problem.mkdir()
    lines = [f"name: {problem.name}", f"function: {name}", "inputs:"]
    lines += [f"  {key}: {{dtype: {dtype}, shape: {shape}}}" for key, shape in inputs.items()]
    lines += ["outputs:", f"  y: {{dtype: {dtype}, shape: {output}}}", "shapes:", f"  large: {json.dumps(point)}"]
    (problem / "problem.yaml").write_text("\n".join(lines).replace('"', "") + "\n", encoding="utf-8")
    (problem / "reference.py").write_text(f"import numpy as np\n\n\ndef {name}({', '.join(inputs)}):\n    {body}\n", encoding="utf-8")
    out = folder / f"out_{problem.name}"
    program = os.environ.get("STROP_BINARY", str(HOME / "strop"))
    done = subprocess.run([program, "optimize", str(problem), "--budget", budget, "--out", str(out), "--quiet", "--json",
                           "--no-knowledge"], capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode not in (0, 1) or not json.loads(done.stdout)["verified"]:
        return None
    library = out / "kernel.so"
    subprocess.run(["clang++-19" if Path("/usr/bin/clang++-19").exists() else "c++", "-std=c++17", "-O3", "-march=native",
                    "-ffp-contract=fast", "-fno-math-errno", "-w", "-pthread", "-shared", "-fPIC", "-o", str(library),
                    str(out / f"{problem.name}.cpp")], check=True)
    return getattr(ctypes.CDLL(str(library)), problem.name), inputs, output, point


def call_of(kernel, dtype):
    function, inputs, output, point = kernel

    def memory(shape):
        extents = eval(shape, {}, point)  # our own text
        values = np.random.default_rng(1).standard_normal(extents, np.float32)
        if dtype == "bfloat16":
            return (values.view(np.uint32) >> 16).astype(np.uint16)
        return values.astype(dtype)

    arrays = [memory(shape) for shape in (*inputs.values(), output)]
    order = list(dict.fromkeys(name for shape in (*inputs.values(), output) for name in "BMNHW" if name in shape))
    arguments = [ctypes.c_void_p(array.ctypes.data) for array in arrays] + [ctypes.c_int64(point[name]) for name in order]

    def call(kept=arrays):
        start = time.perf_counter()
        function(*arguments)
        return time.perf_counter() - start

    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(COMPUTATIONS)}")
    parser.add_argument("--budget", default="30s", help="for each of the two")
    parser.add_argument("--type", default="bfloat16", choices=["bfloat16", "float16"])
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    for name in arguments.names or COMPUTATIONS:
        with tempfile.TemporaryDirectory(prefix="strop-halves-") as place:
            kernels = {dtype: optimized(Path(place), name, dtype, arguments.budget) for dtype in ("float32", arguments.type)}
            if None in kernels.values():
                print(f"{name:<20} no verified kernel in {', '.join(d for d, k in kernels.items() if k is None)}", flush=True)
                continue
            wide, half = (call_of(kernel, dtype) for dtype, kernel in kernels.items())
            pairs = [(wide(), half()) for _ in range(arguments.rounds + 3)][3:]
            ratios = sorted(a / b for a, b in pairs)
            quarter = len(ratios) // 4
            print(f"{name:<20} float32 {1e3 * statistics.median(a for a, _ in pairs):8.3f} ms  {arguments.type} "
                  f"{1e3 * statistics.median(b for _, b in pairs):8.3f} ms  {statistics.median(ratios):5.2f}x "
                  f"({ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f})", flush=True)


if __name__ == "__main__":
    main()
