"""Twelve NumPy problems for a batch: products, whose kernels have much to tune, beside ones that any kernel does well."""

import json
import pathlib

# Name: inputs with their shapes, output's shape, body of the reference, values of the dimensions at each point.
PROBLEMS = {
    "matmul": ({"a": ["M", "K"], "b": ["K", "N"]}, ["M", "N"], "return a @ b",
               [{"M": 512, "K": 512, "N": 512}, {"M": 33, "K": 1000, "N": 700}]),
    "linear_relu": ({"x": ["M", "K"], "w": ["N", "K"], "b": ["N"]}, ["M", "N"], "return np.maximum(x @ w.T + b, 0)",
                    [{"M": 256, "K": 384, "N": 512}, {"M": 7, "K": 1024, "N": 1000}]),
    "batched": ({"a": ["B", "M", "K"], "b": ["B", "K", "N"]}, ["B", "M", "N"], "return a @ b",
                [{"B": 12, "M": 128, "K": 64, "N": 128}, {"B": 5, "M": 100, "K": 200, "N": 60}]),
    "gram": ({"x": ["M", "N"]}, ["N", "N"], "return x.T @ x", [{"M": 900, "N": 300}, {"M": 2000, "N": 64}]),
    "attention": ({"q": ["B", "T", "D"], "k": ["B", "T", "D"], "v": ["B", "T", "D"]}, ["B", "T", "D"],
                  "s = q @ np.swapaxes(k, 1, 2) / np.sqrt(np.float32(q.shape[2]))\n"
                  "    e = np.exp(s - s.max(axis=2, keepdims=True))\n"
                  "    return (e / e.sum(axis=2, keepdims=True)) @ v",
                  [{"B": 8, "T": 128, "D": 64}, {"B": 3, "T": 200, "D": 48}]),
    "mlp": ({"x": ["M", "K"], "u": ["K", "H"], "w": ["H", "N"]}, ["M", "N"], "return np.tanh(x @ u) @ w",
            [{"M": 128, "K": 256, "H": 512, "N": 256}, {"M": 10, "K": 300, "H": 700, "N": 100}]),
    "outer_sum": ({"a": ["M", "K"], "b": ["N", "K"], "c": ["M", "N"]}, ["M", "N"], "return a @ b.T + c",
                  [{"M": 300, "K": 300, "N": 300}, {"M": 1000, "K": 16, "N": 500}]),
    "pointwise_convolution": ({"x": ["B", "C", "P"], "w": ["K", "C"]}, ["B", "K", "P"], "return np.matmul(w, x)",
                              [{"B": 4, "C": 64, "P": 784, "K": 128}, {"B": 2, "C": 48, "P": 361, "K": 32}]),
    "relu": ({"x": ["M", "N"]}, ["M", "N"], "return np.maximum(x, 0)", [{"M": 512, "N": 1024}, {"M": 77, "N": 1003}]),
    "add": ({"x": ["M", "N"], "y": ["M", "N"]}, ["M", "N"], "return x + y",
            [{"M": 512, "N": 1024}, {"M": 77, "N": 1003}]),
    "row_sum": ({"x": ["M", "N"]}, ["M"], "return x.sum(axis=1)", [{"M": 512, "N": 1024}, {"M": 77, "N": 1003}]),
    "scaled": ({"x": ["M", "N"], "s": ["N"]}, ["M", "N"], "return x * s", [{"M": 512, "N": 1024}, {"M": 77, "N": 1003}]),
}


def tensor(shape):
    return json.dumps({"dtype": "float32", "shape": shape})


def write_problem(folder, name, problem):
    """A folder with it; its path."""
    inputs, output, body, points = problem
    path = pathlib.Path(folder) / name
    path.mkdir(parents=True, exist_ok=True)
    (path / "reference.py").write_text(f"import numpy as np\n\n\ndef {name}({', '.join(inputs)}):\n    {body}\n",
                                       encoding="utf-8")
    lines = [f"name: {name}", "reference: reference.py", "inputs:"]
    lines += [f"  {key}: {tensor(shape)}" for key, shape in inputs.items()]
    lines += ["outputs:", f"  out: {tensor(output)}", "shapes:"]
    lines += [f"  {label}: {json.dumps(dims)}" for label, dims in zip(("first", "second"), points)]
    (path / "problem.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def write_problems(folder):
    """One folder a problem; their paths."""
    return [write_problem(folder, name, problem) for name, problem in PROBLEMS.items()]
