"""Twelve problems for a batch: kernels of somebody with much to tune, beside computations that any kernel does well."""

import json
import pathlib
import shutil

from twelve_problems import PROBLEMS, write_problem

SOURCES = pathlib.Path(__file__).resolve().parent / "kernels_to_tune"
# Name: inputs with their shapes, outputs, values of the dimensions at each point.
KERNELS = {
    "matmul": ({"a": ["M", "K"], "b": ["K", "N"]}, {"c": ["M", "N"]},
               [{"M": 768, "N": 768, "K": 768}, {"M": 300, "N": 1000, "K": 700}]),
    "convolution": ({"x": ["C", "H + 2", "W + 2"], "w": ["F", "C", 3, 3]}, {"y": ["F", "H", "W"]},
                    [{"C": 64, "F": 64, "H": 56, "W": 56}, {"C": 20, "F": 50, "H": 100, "W": 130}]),
    "distances": ({"x": ["M", "D"], "y": ["N", "D"]}, {"d": ["M", "N"]},
                  [{"M": 1024, "N": 1024, "D": 256}, {"M": 500, "N": 3000, "D": 100}]),
    "covariance": ({"x": ["M", "N"]}, {"g": ["N", "N"]}, [{"M": 4000, "N": 256}, {"M": 700, "N": 700}]),
    "smoothed": ({"x": ["H", "W"]}, {"y": ["H", "W"]}, [{"H": 2048, "W": 2048}, {"H": 700, "W": 5000}]),
    "potentials": ({"x": ["N"], "y": ["N"], "z": ["N"], "m": ["N"]}, {"p": ["N"]}, [{"N": 8192}, {"N": 5000}]),
}
SIMPLE = {name: PROBLEMS[name] for name in ("relu", "add", "row_sum", "scaled")} | {
    "difference": ({"x": ["M", "N"], "s": ["N"]}, ["M", "N"], "return np.abs(x - s)",
                   [{"M": 512, "N": 1024}, {"M": 77, "N": 1003}]),
    "column_max": ({"x": ["M", "N"]}, ["N"], "return x.max(axis=0)", [{"M": 512, "N": 1024}, {"M": 77, "N": 1003}]),
}


def tensor(shape, more=None):
    return json.dumps({"dtype": "float32", "shape": shape} | (more or {}))


def write_problems(folder):
    """One folder a problem; their paths."""
    paths = []
    for name, (inputs, outputs, points) in KERNELS.items():
        path = pathlib.Path(folder) / name
        path.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCES / f"{name}.cpp", path)
        lines = [f"name: {name}", f"reference: {name}.cpp", "inputs:"]
        lines += [f"  {key}: {tensor(shape)}" for key, shape in inputs.items()] + ["outputs:"]
        lines += [f"  {key}: {tensor(shape)}" for key, shape in outputs.items()] + ["shapes:"]
        lines += [f"  {label}: {json.dumps(dims)}" for label, dims in zip(("first", "second"), points)]
        (path / "problem.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        paths.append(str(path))
    return paths + [write_problem(folder, name, problem) for name, problem in SIMPLE.items()]
