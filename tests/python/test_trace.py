"""The tracer: whatever formula, the graph must compute what the reference computes."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "python")]

from graph_evaluator import evaluate  # noqa: E402
from strop import trace  # noqa: E402

TRACER = os.path.join(ROOT, "python", "strop", "trace.py")
HEADER = """
import math
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
"""
SIZES = {"B": 2, "H": 3, "M": 5, "N": 7, "K": 4, "C": 6, "P": 9, "Q": 8, "R": 3, "S": 2}


class Traced:
    """The document of one reference, and the means to compare it with what NumPy computes."""

    def __init__(self, source, inputs, parameters=()):
        self.inputs = {name: spec if isinstance(spec, tuple) else ("float32", spec)
                       for name, spec in inputs.items()}
        self.parameters = dict(parameters)
        self.source = HEADER + textwrap.dedent(source)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.source)
            spec = {
                "reference": path, "function": "f",
                "inputs": [{"name": name, "dtype": dtype, "shape": shape.split()}
                           for name, (dtype, shape) in self.inputs.items()],
                "parameters": [{"name": name, "value": value,
                                "dtype": "int64" if isinstance(value, int) else "float32"}
                               for name, value in self.parameters.items()],
            }
            with contextlib.redirect_stderr(io.StringIO()):
                self.document = json.loads(json.dumps(trace.document(lambda: spec)))

    @property
    def reason(self):
        return self.document.get("untraceable")

    def ops(self):
        return [f"{node['family']}.{node['op']}" for node in self.document["nodes"]]

    def shapes(self):
        return [self.document["nodes"][i]["shape"] for i in self.document["outputs"]]

    def compare(self):
        assert self.reason is None, self.reason
        bindings = SIZES | {k: v for k, v in self.parameters.items() if isinstance(v, int)}
        random = np.random.default_rng(1)
        arrays = {}
        for name, (dtype, shape) in self.inputs.items():
            extents = [eval(extent, {}, bindings) for extent in shape.split()]
            arrays[name] = (random.standard_normal(extents) if dtype.startswith("float")
                            else random.integers(0, 2 if dtype == "bool" else 4, extents)).astype(dtype)
        names = {}
        exec(compile(self.source, "reference", "exec"), names)
        expected = names["f"](*(a.copy() for a in arrays.values()), *self.parameters.values())
        expected = expected if isinstance(expected, (tuple, list)) else [expected]
        actual = evaluate(self.document, arrays, bindings, self.parameters)
        assert len(actual) == len(expected)
        for have, want in zip(actual, expected):
            want = np.asarray(want)
            assert have.shape == want.shape, (have.shape, want.shape)
            if want.dtype != np.float64:  # NumPy's scalars widen constants; the tracer keeps the arrays' precision
                assert have.dtype == want.dtype, (have.dtype, want.dtype)
            np.testing.assert_allclose(have.astype(np.float64), want.astype(np.float64), rtol=2e-4, atol=2e-5)


X = {"x": "M N"}
IMAGE = {"x": "B C P Q", "w": "K C R S"}

# name: (source, inputs, parameters...). Each is compared with NumPy, node by node in shape and dtype.
FORMULAS = {
    "softmax_plain": ("def f(x):\n e = np.exp(x - x.max(axis=1, keepdims=True))\n"
                      " return e / e.sum(axis=1, keepdims=True)", X),
    "softmax_none": ("def f(x):\n e = np.exp(x - np.max(x, axis=-1)[:, None])\n"
                     " return e / np.sum(e, -1)[:, np.newaxis]", X),
    "softmax_reciprocal": ("def f(x):\n m = np.amax(x, 1, keepdims=True)\n e = np.exp(np.subtract(x, m))\n"
                           " return e * (1.0 / np.add.reduce(e, axis=1, keepdims=True))", X),
    "softmax_in_place": ("def f(x):\n y = x.copy()\n y -= y.max(1)[:, None]\n np.exp(y, out=y)\n"
                         " y /= np.expand_dims(y.sum(1), 1)\n return y", X),
    "softmax_transposed": ("def f(x):\n t = x.T\n e = np.exp(t - t.max(axis=0))\n return (e / e.sum(axis=0)).T", X),
    "softmax_log": ("def f(x):\n m = x.max(-1, keepdims=True)\n"
                    " lse = m + np.log(np.sum(np.exp(x - m), -1, keepdims=True))\n return np.exp(x - lse)", X),
    "softmax_empty_like": ("def f(x):\n out = np.empty_like(x)\n e = np.exp(x - x.max(1, keepdims=True))\n"
                           " out[...] = e / e.sum(1, keepdims=True)\n return out", X),
    "logsumexp": ("def f(x):\n m = x.max(1)\n return m + np.log(np.exp(x - m[:, None]).sum(1))", X),
    "logsumexp_reduce": ("def f(x):\n return np.logaddexp.reduce(x, axis=1)", X),
    "log_softmax_scipy": ("import scipy.special\ndef f(x):\n return scipy.special.log_softmax(x, axis=1)", X),
    "softmax_scipy": ("from scipy.special import softmax\ndef f(x):\n return softmax(x, axis=-1)", X),
    "layernorm_var": ("def f(x, g, b, eps):\n mu = x.mean(-1, keepdims=True)\n"
                      " v = x.var(-1, keepdims=True)\n return (x - mu) / np.sqrt(v + eps) * g + b",
                      {"x": "M N", "g": "N", "b": "N"}, {"eps": 1e-5}),
    "layernorm_squares": ("def f(x, g, b, eps):\n mu = np.mean(x, 1)[:, None]\n"
                          " v = np.mean(x * x, axis=1)[:, None] - mu ** 2\n return g * (x - mu) * (v + eps) ** -0.5 + b",
                          {"x": "M N", "g": "N", "b": "N"}, {"eps": 1e-5}),
    "standard_score": ("def f(x):\n return (x - x.mean(0)) / x.std(axis=0, ddof=1)", X),
    "layernorm_two_axes": ("def f(x, eps):\n mu = x.mean((1, 2), keepdims=True)\n"
                           " return (x - mu) / np.sqrt(x.var(axis=(1, 2), keepdims=True) + eps)",
                           {"x": "B M N"}, {"eps": 1e-5}),
    "rmsnorm": ("def f(x, w, eps):\n return x / np.sqrt(np.mean(np.square(x), -1, keepdims=True) + eps) * w",
                {"x": "M N", "w": "N"}, {"eps": 1e-6}),
    "rmsnorm_size": ("def f(x):\n n = x.shape[-1]\n return x * np.sqrt(n) / np.linalg.norm(x, axis=-1, keepdims=True)", X),
    "gelu_tanh": ("def f(x):\n return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))", X),
    "gelu_erf": ("from scipy.special import erf\ndef f(x):\n return x * 0.5 * (1.0 + erf(x / np.sqrt(2.0)))", X),
    "gelu_vectorize": ("erf = np.vectorize(math.erf)\ndef f(x):\n return 0.5 * x * (1 + erf(x / math.sqrt(2)))", X),
    "bias_gelu_residual": ("def gelu(v):\n c = np.float32(0.7978845608)\n"
                           " return 0.5 * v * (1 + np.tanh(c * (v + 0.044715 * v * v * v)))\n"
                           "def f(x, b, r):\n return gelu(x + b) + r", {"x": "M N", "b": "N", "r": "M N"}),
    "sums": ("def f(x):\n return x.sum(), x.sum(0), np.sum(x, axis=(0, 2)), x.sum(axis=-1, keepdims=True)",
             {"x": "B M N"}),
    "minmax": ("def f(x):\n return x.min(1), x.argmax(axis=1), np.argmin(x, 0), np.ptp(x, axis=0), x.prod(0)", X),
    "any_all": ("def f(x):\n return np.any(x > 1, axis=1), (x < 3).all(), np.count_nonzero(x > 0, axis=0)", X),
    "matmul": ("def f(a, b):\n return a @ b", {"a": "M K", "b": "K N"}),
    "linear": ("def f(x, w, b):\n return np.maximum(x @ w.T + b, 0)", {"x": "M K", "w": "N K", "b": "N"}),
    "dots": ("def f(a, b, v):\n return np.dot(a, b), a.dot(v), np.inner(a, b.T), np.outer(v, v), np.vdot(v, v), "
             "v @ b, np.tensordot(a, b, 1), np.tensordot(a, b, axes=([1], [0]))", {"a": "M K", "b": "K N", "v": "K"}),
    "batched": ("def f(a, b):\n return np.matmul(a, b)", {"a": "B M K", "b": "K N"}),
    "batched_one": ("def f(a, b):\n return a @ b[None, :, :]", {"a": "B M K", "b": "K N"}),
    "einsums": ("def f(a, b):\n return (np.einsum('bij,jk->bik', a, b), np.einsum('...j,jk', a, b), "
                "np.einsum('bij->jb', a), np.einsum('bij,bij->b', a, a), np.einsum('bij,jk,bil->kl', a, b, a), "
                "np.einsum('bij,jk->bj', a, b), np.einsum('i,j->ij', a[0, :, 0], b[0]))", {"a": "B M K", "b": "K N"}),
    "attention": ("def f(q, k, v):\n s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])\n"
                  " s = np.exp(s - s.max(-1, keepdims=True))\n return s / s.sum(-1, keepdims=True) @ v",
                  {"q": "B H M K", "k": "B H N K", "v": "B H N C"}),
    "causal_attention": ("def f(q, k, v):\n n = q.shape[0]\n s = q @ k.T * (1 / math.sqrt(k.shape[1]))\n"
                         " s = np.where(np.tril(np.ones((n, n), dtype=bool)), s, -np.inf)\n"
                         " e = np.exp(s - s.max(1, keepdims=True))\n return (e / e.sum(1, keepdims=True)) @ v",
                         {"q": "M K", "k": "M K", "v": "M C"}),
    "heads": ("def f(x, w):\n b, m, c = x.shape\n q = (x @ w).reshape(b, m, 2, -1).transpose(0, 2, 1, 3)\n"
              " return q.swapaxes(1, 2).reshape(x.shape)", {"x": "B M C", "w": "C C"}),
    "conv_groups": (open(os.path.join(ROOT, "problems", "conv2d", "reference.py"), encoding="utf-8").read()
                    .replace("def conv2d", "def f"), {"x": "B C P Q", "w": "K C//groups R S"},
                    {"stride": 2, "padding": 1, "dilation": 1, "groups": 2}),
    "conv_einsum": ("def f(x, w):\n v = sliding_window_view(x, w.shape[2:], axis=(2, 3))\n"
                    " return np.einsum('nchwrs,kcrs->nkhw', v, w)", IMAGE),
    "conv_tensordot": ("def f(x, w, stride, pad):\n p = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])\n"
                       " v = sliding_window_view(p, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]\n"
                       " return np.tensordot(v, w, axes=([1, 4, 5], [1, 2, 3])).transpose(0, 3, 1, 2)", IMAGE,
                       {"stride": 2, "pad": 1}),
    "conv_zeros": ("def f(x, w, p):\n n, c, h, q = x.shape\n t = np.zeros((n, c, h + 2 * p, q + 2 * p), x.dtype)\n"
                   " t[:, :, p:p + h, p:-p] = x\n v = sliding_window_view(t, w.shape[2:], axis=(-2, -1))\n"
                   " return np.einsum('nchwrs,kcrs->nkhw', v, w)", IMAGE, {"p": 2}),
    "conv_dilated": ("def f(x, w, d):\n k, c, r, s = w.shape\n"
                     " v = sliding_window_view(x, (d * (r - 1) + 1, d * (s - 1) + 1), axis=(2, 3))[..., ::d, ::d]\n"
                     " return np.einsum('nchwrs,kcrs->nkhw', v, w)", IMAGE, {"d": 2}),
    "conv_im2col": ("def f(x, w, stride, pad):\n n, c, h, q = x.shape\n k, _, r, s = w.shape\n"
                    " p = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))\n"
                    " v = sliding_window_view(p, (r, s), axis=(2, 3))[:, :, ::stride, ::stride]\n"
                    " ho, wo = v.shape[2:4]\n"
                    " cols = v.transpose(0, 2, 3, 1, 4, 5).reshape(n * ho * wo, c * r * s)\n"
                    " y = cols @ w.reshape(k, -1).T\n return y.reshape(n, ho, wo, k).transpose(0, 3, 1, 2)", IMAGE,
                    {"stride": 2, "pad": 1}),
    "conv_channels_last": ("def f(x, w):\n v = sliding_window_view(x, w.shape[:2], axis=(1, 2))\n"
                           " return np.einsum('nhwcrs,rsck->nhwk', v, w)", {"x": "B P Q C", "w": "R S C K"}),
    "conv_depthwise": ("def f(x, w):\n v = sliding_window_view(x, w.shape[1:], axis=(2, 3))\n"
                       " return np.einsum('nchwrs,crs->nchw', v, w)", {"x": "B C P Q", "w": "C R S"}),
    "conv_plain_image": ("def f(x, w):\n return np.tensordot(sliding_window_view(x, w.shape), w, 2)",
                         {"x": "P Q", "w": "R S"}),
    "conv_bias_relu": ("def f(x, w, b):\n v = sliding_window_view(x, w.shape[2:], axis=(2, 3))\n"
                       " y = np.einsum('nchwrs,kcrs->nhwk', v, w) + b\n return np.maximum(y, 0).transpose(0, 3, 1, 2)",
                       {"x": "B C P Q", "w": "K C R S", "b": "K"}),
    "conv_one_axis": ("def f(x, w, stride):\n v = sliding_window_view(x, w.shape[-1], axis=-1)[:, :, ::stride]\n"
                      " return np.einsum('bclr,kcr->bkl', v, w)", {"x": "B C P", "w": "K C R"}, {"stride": 2}),
    "max_pool": ("def f(x):\n return sliding_window_view(x, (2, 2), axis=(2, 3))[:, :, ::2, ::2].max(axis=(4, 5))",
                 {"x": "B C P Q"}),
    "average_pool_reshape": ("def f(x):\n b, c, p, q = x.shape\n return x.reshape(b, c, p // 3, 3, q // 2, 2).mean((3, 5))",
                             {"x": "B C P Q"}),
    "scans": ("def f(x):\n return np.cumsum(x, axis=1), x.cumprod(0), np.maximum.accumulate(x, axis=1), np.cumsum(x)", X),
    "embedding": ("def f(table, ids):\n return table[ids], np.take(table, ids, axis=0), table[:, ids % 3]",
                  {"table": "N K", "ids": ("int64", "B M")}),
    "cross_entropy": ("def f(x, labels):\n z = x - x.max(1, keepdims=True)\n"
                      " lp = z - np.log(np.exp(z).sum(1, keepdims=True))\n"
                      " return -lp[np.arange(x.shape[0]), labels].mean()", {"x": "M N", "labels": ("int64", "M")}),
    "cross_entropy_along": ("def f(x, labels):\n return np.take_along_axis(x, labels[:, None], axis=1)[:, 0]",
                            {"x": "M N", "labels": ("int64", "M")}),
    "polynomial": ("def f(x):\n y = np.zeros_like(x)\n for c in [1.0, -2.5, 3, 0.25]:\n  y = y * x + c\n return y", X),
    "polynomial_array": ("C = np.array([1.0, -2.5, 3.0])\ndef f(x):\n y = 0\n for c in C:\n  y = y * x + c\n return y", X),
    "mandelbrot": ("def f(a, b):\n x = np.zeros(a.shape, a.dtype)\n y = np.zeros_like(b)\n n = np.zeros(a.shape, np.int32)\n"
                   " for _ in range(4):\n  x, y = x * x - y * y + a, 2 * x * y + b\n  inside = x * x + y * y <= 4.0\n"
                   "  n += inside\n  x = np.where(inside, x, 0)\n  y = np.where(inside, y, 0)\n return n",
                   {"a": "M N", "b": "M N"}),
    "slices": ("def f(x):\n return x[1:, :-1], x[:, ::-1], x[0], x[-1, 2:5], x[..., None, 1], x[::2, 1::3], x[1:-1, ::2]",
               X),
    "rope": ("def f(x, c, s):\n h = x.shape[-1] // 2\n a, b = x[..., :h], x[..., h:2 * h]\n"
             " return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)",
             {"x": "B M C", "c": "M C//2", "s": "M C//2"}),
    "stack_split": ("def f(x):\n a, b = np.split(x, 2, axis=1)\n return np.stack([a, b]), np.hstack([b, a])", {"x": "M Q"}),
    "columns": ("def f(x):\n out = np.empty((x.shape[0], 2), x.dtype)\n out[:, 0] = x.min(1)\n out[:, 1] = x.max(1)\n"
                " return out", X),
    "layouts": ("def f(x):\n return (x.ravel(), x.flatten(), x[None].squeeze(0), np.moveaxis(x, 0, 1), np.roll(x, 1, 1), "
                "np.repeat(x, 2, axis=0), np.tile(x, (2, 1)), np.broadcast_to(x[:, :1], x.shape), np.flip(x, 0))", X),
    "clips": ("def f(x):\n return x.clip(-1, 1), np.clip(x, 0, None), np.minimum(np.maximum(0, x), 6)", X),
    "logic": ("def f(x):\n a = (x > 0) & (x < 1)\n return a, a | ~(x == 0), np.logical_not(a), np.where(a ^ (x > 2), x, -x)",
              X),
    "mask_assignment": ("def f(x):\n y = x.copy()\n y[y < 0] = 0.25\n return y", X),
    "activations": ("def f(x):\n s = 1 / (1 + np.exp(-x))\n return x * s, np.log1p(np.exp(x)), np.sign(x) * np.abs(x), "
                    "np.expm1(x), np.where(x > 0, x, 0.1 * x), np.sinh(x), np.exp2(x), np.hypot(x, 2)", X),
    "integers": ("def f(x):\n return x // 3, x % 3, x / 2, x * 2 + 1, x.sum(), -x, x.mean(0)",
                 {"x": ("int32", "M N")}),
    "casts": ("def f(x):\n d = x.astype(np.float64)\n return (d * d).sum(1).astype(np.float32), x.astype(int), "
              "(x > 0).astype(x.dtype), (x > 0).sum(0)", X),
    "parameters": ("def f(x, alpha, n):\n return alpha * x + n, np.sqrt(alpha) * x / float(n), x ** n", X,
                   {"alpha": 0.5, "n": 2}),
    "checks": ("def f(x, n):\n assert x.shape[1] % n == 0\n assert isinstance(n, int) and isinstance(x, np.ndarray)\n"
               " if x.ndim != 2 or not np.issubdtype(x.dtype, np.floating):\n  raise ValueError\n"
               " print('noise')\n return x * len(x) + np.prod(x.shape) + np.finfo(x.dtype).eps", X, {"n": 7}),
    "numpy_inside": ("def f(x):\n import numpy\n from numpy import exp as e\n return e(-numpy.abs(x))", X),
    "min_of_dims": ("def f(x):\n return x * min(x.shape) + max(x.shape[0], 2)", X),
    "diff_average": ("def f(x, w):\n return np.diff(x, axis=1), np.average(x, axis=1, weights=w)", {"x": "M N", "w": "N"}),
    "identity": ("def f(x):\n return x", X),
    "constant": ("def f(x):\n return np.ones((x.shape[0], 3), np.float32) * 2", X),
    "eye": ("def f(x):\n return x + np.eye(x.shape[0], dtype=x.dtype), np.triu(x, 1)", {"x": "M M"}),
}

UNTRACEABLE = {
    "inverse": ("def f(x):\n return np.linalg.inv(x)", "'np.linalg.inv' has no graph operation"),
    "sort": ("def f(x):\n return np.sort(x, axis=1)", "'np.sort' has no graph operation"),
    "sort_method": ("def f(x):\n y = x.copy()\n y.sort()\n return y", "'np.sort' has no graph operation"),
    "loop": ("def f(x):\n for i in range(x.shape[0]):\n  x = x + 1\n return x", "control flow depends on dimension 'M'"),
    "branch": ("def f(x):\n return x if x.shape[1] > 128 else -x", "control flow depends on dimension 'N'"),
    "parameter": ("def f(x, p):\n if p:\n  x = x + 1\n return x", "control flow depends on parameter 'p'"),
    "values": ("def f(x):\n return x if x.max() > 0 else -x", "control flow depends on the values of an array"),
    "mask": ("def f(x):\n return x[x > 0]", "boolean mask indexing gives a shape that depends on values"),
    "empty": ("def f(x):\n return np.empty_like(x) + x", "np.empty is read before it is written"),
    "view": ("def f(x):\n y = x.reshape(-1)\n y += 1\n return x", "an array is changed through another view of it"),
    "crash": ("def f(x):\n return undefined", "the reference fails: NameError: name 'undefined' is not defined"),
    "nothing": ("def f(x):\n x + 1", "the reference returns nothing"),
    "missing": ("def g(x):\n return x", "the reference has no function 'f'"),
    "syntax": ("def f(x:\n return x", "the reference does not compile"),
    "exit": ("import sys\ndef f(x):\n sys.exit(3)", "the reference fails: SystemExit: 3"),
    "rank": ("def f(x):\n return x.sum(axis=2)", "axis 2 is out of bounds for rank 2"),
    "mismatch": ("def f(x):\n return np.zeros((3, 4)) + np.zeros((3, 5))", "extents 4 and 5 do not broadcast"),
    "dtype": ("def f(x):\n return x.astype(np.float16)", "dtype 'float16' is not supported"),
    "endless": ("def f(x):\n while True:\n  x = x + 1", "more than 4000 operations"),
    "swallowed": ("def f(x):\n try:\n  return np.linalg.inv(x)\n except Exception:\n  return x",
                  "'np.linalg.inv' has no graph operation"),
    "float": ("def f(x):\n return x * float(x.sum())", None),
}


class Formulas(unittest.TestCase):
    """One test a formula, added below."""


class Untraceable(unittest.TestCase):
    """One test a reason, added below."""


def add_tests():
    for name, (source, inputs, *parameters) in FORMULAS.items():
        def compare(self, source=source, inputs=inputs, parameters=parameters):
            Traced(source, inputs, *parameters).compare()
        setattr(Formulas, f"test_{name}", compare)
    for name, (source, reason) in UNTRACEABLE.items():
        def refuse(self, source=source, reason=reason):
            traced = Traced(source, X, {"p": 1} if "p):" in source else {})
            if reason is None:
                traced.compare()
            else:
                self.assertTrue(str(traced.reason).startswith(reason), traced.reason or traced.ops())
        setattr(Untraceable, f"test_{name}", refuse)


add_tests()


class Shapes(unittest.TestCase):
    """Extents are exact expressions, equal ones spelled alike."""

    def shapes(self, source, inputs, parameters=()):
        traced = Traced(source, inputs, parameters)
        self.assertIsNone(traced.reason)
        return traced.shapes()

    def test_padding_and_windows(self):
        source, inputs, parameters = FORMULAS["conv_groups"]
        self.assertEqual(self.shapes(source, inputs, parameters)[0],
                         ["B", "K", "(P+dilation+2*padding-R*dilation-1)//stride+1",
                          "(Q+dilation+2*padding-S*dilation-1)//stride+1"])

    def test_cancelling(self):
        source = "def f(x):\n n = x.shape[0]\n return x[1:][:n - 1], x[:n * 2 // 2], x.reshape(1 * n, -1)"
        self.assertEqual(self.shapes(source, {"x": "M N"}), [["M-1", "N"], ["M", "N"], ["M", "N"]])

    def test_reshape_infers(self):
        self.assertEqual(self.shapes("def f(x):\n return x.reshape(x.shape[0], -1), x.reshape(-1)", {"x": "B M N"}),
                         [["B", "M*N"], ["B*M*N"]])

    def test_broadcast_prefers_the_simpler_extent(self):
        self.assertEqual(self.shapes("def f(x, y):\n return x + y", {"x": "M*N//N+K", "y": "C"}), [["C"]])


class Document(unittest.TestCase):
    def test_constants_keep_the_arrays_precision(self):
        traced = Traced("def f(x):\n return x * np.sqrt(2 / np.pi) + np.float64(3)", X)
        self.assertEqual({node["dtype"] for node in traced.document["nodes"]}, {"float32"})

    def test_double_inputs_stay_double(self):
        traced = Traced("def f(x):\n return x * 0.5 + np.zeros(x.shape)", {"x": ("float64", "M N")})
        self.assertEqual({node["dtype"] for node in traced.document["nodes"]}, {"float64"})

    def test_infinities_are_texts(self):
        traced = Traced("def f(x):\n return np.where(x > 0, x, -np.inf)", X)
        self.assertIn("-inf", [node.get("value") for node in traced.document["nodes"]])

    def test_the_script_prints_only_the_document(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("print('noise')\nimport numpy as np\ndef f(x):\n return np.exp(x)")
            spec = os.path.join(folder, "spec.json")
            with open(spec, "w", encoding="utf-8") as file:
                json.dump({"reference": path, "function": "f", "parameters": [],
                           "inputs": [{"name": "x", "dtype": "float32", "shape": ["N"]}]}, file)
            run = subprocess.run([sys.executable, TRACER, spec], text=True, capture_output=True, check=True)
        document = json.loads(run.stdout)
        self.assertEqual([node["op"] for node in document["nodes"]], ["x", "exp"])
        self.assertEqual(document["outputs"], [1])

    def test_bad_specification_is_data(self):
        for text in ("{", "{}", "[]"):
            run = subprocess.run([sys.executable, TRACER, "-"], input=text, text=True, capture_output=True, check=False)
            self.assertEqual(run.returncode, 0)
            self.assertIn("untraceable", json.loads(run.stdout))


if __name__ == "__main__":
    unittest.main()
