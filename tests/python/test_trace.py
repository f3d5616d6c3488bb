"""The tracer: whatever formula, the graph must compute what the reference computes."""

import ast
import contextlib
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "python")]

from strop import trace  # noqa: E402

import complex_arrays  # noqa: E402
import formulas  # noqa: E402
import loop_formulas  # noqa: E402
import loop_lists  # noqa: E402
import loop_numbers  # noqa: E402
import loop_parts  # noqa: E402
import loop_ranges  # noqa: E402
import break_formulas  # noqa: E402
import cut_formulas  # noqa: E402
import fork_formulas  # noqa: E402
import return_formulas  # noqa: E402
import size_formulas  # noqa: E402
import while_formulas  # noqa: E402
import list_formulas  # noqa: E402
import copy_formulas  # noqa: E402
import drawn_programs  # noqa: E402
import order_formulas  # noqa: E402
import spelling_formulas  # noqa: E402
import view_formulas  # noqa: E402
import loop_places  # noqa: E402
import index_formulas  # noqa: E402
import mask_formulas  # noqa: E402
import alias_refusals  # noqa: E402
import branch_refusals  # noqa: E402
import loop_refusals  # noqa: E402
import numeric_formulas  # noqa: E402
import numpy_formulas  # noqa: E402
from graph_evaluator import evaluate  # noqa: E402

TRACER = os.path.join(ROOT, "python", "strop", "trace.py")
HEADER = """
import math
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
"""
SIZES = {"B": 2, "H": 3, "M": 5, "N": 7, "K": 4, "C": 6, "P": 9, "Q": 8, "R": 3, "S": 2, "T": 5}
STEPS = (1, 2, 3, 6)  # sizes of T


def called_with(function):
    """The inputs and parameters in the first line of a formula."""
    arrays, _, numbers = function.__doc__.partition(";")
    inputs = {}
    for entry in arrays.split(","):
        name, _, shape = entry.partition(":")
        words = shape.split()
        typed = words[0] in ("int32", "int64", "int8", "uint8", "float64", "bool")
        inputs[name.strip()] = (words[0], " ".join(words[1:])) if typed else " ".join(words)
    pairs = [entry.split("=") for entry in numbers.split(",") if entry]
    return inputs, {name.strip(): ast.literal_eval(value.strip()) for name, value in pairs}


class Traced:
    """The document of one reference, and the means to compare it with what NumPy computes."""

    def __init__(self, path, function, inputs, parameters, points=()):
        self.inputs = {
            name: spec if isinstance(spec, tuple) else ("float32", spec) for name, spec in inputs.items()
        }
        self.parameters = parameters
        spec = {
            "reference": path,
            "function": function,
            "points": list(points),
            "inputs": [
                {"name": name, "dtype": dtype, "shape": shape.split()}
                for name, (dtype, shape) in self.inputs.items()
            ],
            "parameters": [
                {"name": name, "value": value, "dtype": "int64" if isinstance(value, int) else "float32"}
                for name, value in parameters.items()
            ],
        }
        with contextlib.redirect_stderr(io.StringIO()):
            self.document = json.loads(json.dumps(trace.document(lambda: spec)))

    @classmethod
    def of_source(cls, source, inputs, parameters=None):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEADER + source)
            return cls(path, "f", inputs, parameters or {})

    @classmethod
    def of_formula(cls, function):
        inputs, parameters = called_with(function)
        return cls(inspect.getsourcefile(function), function.__name__, inputs, parameters)

    @classmethod
    def at_points(cls, function, points):
        """As a problem with these shapes is traced."""
        inputs, parameters = called_with(function)
        return cls(inspect.getsourcefile(function), function.__name__, inputs, parameters, points)

    @property
    def reason(self):
        return self.document.get("untraceable")

    def shapes(self):
        return [self.document["nodes"][i]["shape"] for i in self.document["outputs"]]

    def compare(self, function, sizes=SIZES, seed=1):
        """With NumPy, and every node with its declared shape and dtype on the way."""
        assert self.reason is None, self.reason
        bindings = sizes | {k: v for k, v in self.parameters.items() if isinstance(v, int)}
        random = np.random.default_rng(seed)
        arrays = {}
        for name, (dtype, shape) in self.inputs.items():
            extents = [eval(extent, {}, bindings) for extent in shape.split()]
            arrays[name] = (
                random.standard_normal(extents)
                if dtype.startswith("float")
                else random.integers(-128 if dtype == "int8" else 0, {"bool": 2, "int8": 128}.get(dtype, 4), extents)
            ).astype(dtype)
        with contextlib.redirect_stdout(io.StringIO()):
            expected = function(*(a.copy() for a in arrays.values()), *self.parameters.values())
        expected = expected if isinstance(expected, (tuple, list)) else [expected]
        actual = evaluate(self.document, arrays, bindings, self.parameters)
        assert len(actual) == len(expected)
        for have, want in zip(actual, expected):
            want = np.asarray(want)
            assert have.shape == want.shape, (have.shape, want.shape)
            if (
                want.dtype != np.float64
            ):  # NumPy's scalars widen constants; the tracer keeps the arrays' precision
                assert have.dtype == want.dtype, (have.dtype, want.dtype)
            np.testing.assert_allclose(have.astype(np.float64), want.astype(np.float64), rtol=2e-4, atol=2e-5)


X = {"x": "M N"}

UNTRACEABLE = {
    "inverse": ("def f(x):\n return np.linalg.pinv(x)", "'np.linalg.pinv' has no graph operation"),
    "order": ("def f(x):\n return np.lexsort(x)", "'np.lexsort' has no graph operation"),
    "bits": ("def f(x):\n return x & 3", "'bitwise_and' of float32"),
    "doubling": (
        "def f(x):\n i = 1\n while i < x.shape[0]:\n  x, i = x + 1, i * 2\n return x",
        "control flow depends on dimension 'M'",
    ),
    "bound that changes": (
        "def f(x):\n i = 0\n while i < len(x):\n  x, i = x[1:], i + 1\n return x",
        "a 'while' whose bound changes",
    ),
    "branch": ("def f(x):\n if x.shape[1] > 128:\n  x = x[0]\n return x", "control flow depends on dimension 'N'"),
    "parameter": ("def f(x, p):\n if p:\n  x = x[:, p:]\n return x", "control flow depends on parameter 'p'"),
    "values": (
        "def f(x):\n while x.max() > 1:\n  x = x / 2\n return x",
        "a 'while' ends by the values of an array: let it count its steps too, as in 'and k < 50'",
    ),
    "mask": ("def f(x):\n return x[x > 0]", "boolean mask indexing gives a shape that depends on values"),
    "list": ("def f(x):\n a = [0.0] * len(x)\n return np.array(a + [1.0])", "a list of varying length in arithmetic"),
    "mixed list": (
        "def f(x):\n a = [0] * len(x)\n for i in range(len(x)):\n  a[i] = x[i, 0]\n return np.array(a)",
        "a list of varying length is not of one type",
    ),
    "masks": ("def f(x):\n return (x[x > 0] + x[x > 1]).sum()", "elements that different masks keep meet each other"),
    "length": ("def f(x):\n return (x[x > 0] + x[0]).sum()", "elements that a mask keeps meet an array of another length"),
    "empty": ("def f(x):\n return np.empty_like(x) + x", "np.empty is read before it is written"),
    "crash": (
        "def f(x):\n return undefined",
        "the reference fails: NameError: name 'undefined' is not defined",
    ),
    "nothing": ("def f(x):\n x + 1", "the reference returns nothing"),
    "missing": ("def g(x):\n return x", "the reference has no function 'f'"),
    "syntax": ("def f(x:\n return x", "the reference does not compile"),
    "exit": ("import sys\ndef f(x):\n sys.exit(3)", "the reference fails: SystemExit: 3"),
    "rank": ("def f(x):\n return x.sum(axis=2)", "axis 2 is out of bounds for rank 2"),
    "mismatch": (
        "def f(x):\n return np.zeros((3, 4)) + np.zeros((3, 5))",
        "extents 4 and 5 do not broadcast",
    ),
    "dtype": ("def f(x):\n return np.zeros(x.shape, np.uint16) + x", "dtype 'uint16' is not supported"),
    "where of two": ("def f(x):\n return np.where(x > 0, x)", "'np.where' with two arguments"),
    "found places": ("def f(x):\n return np.where(x > 0)[0]", "boolean mask indexing"),
    "found places of other axes": ("def f(x):\n i, j = np.nonzero(x > 0)\n return x[j, i].sum()", "places that were found"),
    "one found place": ("def f(x):\n return x + np.flatnonzero(x > 0)[0]", "boolean mask indexing"),
    "complex result": ("def f(x):\n return np.fft.fft(x)", "complex numbers where real ones are needed"),
    "complex view of a part": ("def f(x):\n z = x * 1j\n z.T.real[0] = 1\n return z.real", "complex numbers are changed in place"),
    "complex list": ("def f(x):\n r = []\n for t in range(x.shape[0]):\n  r.append(x[t] * 1j)\n return np.stack(r).real", "complex numbers where"),
    "complex base": ("def f(x):\n z = x * 1j\n w = z.T\n z += 1\n return w.imag", "complex numbers are changed in place"),
    "endless": ("def f(x):\n while True:\n  x = x + 1", "more than 20000 operations"),
    "swallowed": (
        "def f(x):\n try:\n  return np.linalg.pinv(x)\n except Exception:\n  return x",
        "'np.linalg.pinv' has no graph operation",
    ),
}


class Formulas(unittest.TestCase):
    """One test a function of formulas.py, added below."""

    def test_all_are_found(self):
        self.assertGreater(sum(name.startswith("test_") for name in dir(self)), 60)


class Loops(unittest.TestCase):
    """One test a function of loop_formulas.py and its like, added below."""

    def compare(self, function):
        traced = Traced.of_formula(function)
        self.assertIn("repeat", {node["family"] for node in traced.document.get("nodes", [])}, traced.reason)
        for steps in STEPS:
            if steps >= loop_formulas.FEWEST.get(function.__name__, 1):
                traced.compare(function, SIZES | {"T": steps})

    def test_all_are_found(self):
        self.assertGreater(sum(name.startswith("test_") for name in dir(self)), 120)


class Forks(unittest.TestCase):
    """One test a function of the files of formulas that branch, added below."""

    def compare(self, function):
        traced = Traced.of_formula(function)
        for steps in STEPS:
            for seed in range(1, 5 if steps >= loop_formulas.FEWEST.get(function.__name__, 1) else 1):
                traced.compare(function, SIZES | {"T": steps}, seed)

    def test_all_are_found(self):
        self.assertGreater(sum(name.startswith("test_") for name in dir(self)), 45)


class Drawn(unittest.TestCase):
    """Functions of drawn_programs.py: what is traced at all computes what NumPy does."""

    COUNT = 3000 if os.environ.get("STROP_LONG_TESTS") else 300

    def test_programs(self):
        traced_ones = 0
        for seed in range(self.COUNT):
            source = drawn_programs.Program(seed).text()
            space = {}
            exec(source, space)
            with np.errstate(all="ignore"), self.subTest(seed=seed, source=source):
                try:
                    for rows in (3, 4, 6):
                        space["f"](np.ones((rows, SIZES["N"]), np.float32))
                except (ValueError, IndexError):  # NumPy refuses it
                    continue
                traced = Traced.of_source(source, {"x": "T N"})
                if traced.reason:
                    continue
                traced_ones += 1
                for rows in (3, 4, 6):
                    sizes = SIZES | {"T": rows}
                    if all(eval(condition, {}, sizes) for condition in traced.document.get("require", [])):
                        traced.compare(space["f"], sizes, seed)
        self.assertGreater(traced_ones, 0.9 * self.COUNT)


class CutOff(unittest.TestCase):
    """One test a function of cut_formulas.py, added below: slices are cut off at the ends of an axis, as NumPy's are,
    where a shape of the problem asks for it; else the graph says which sizes it is for."""

    SMALL = [{"T": rows, "N": columns} for rows in (1, 2, 3, 4, 6, 9) for columns in (1, 2, 5, 7)]

    def compare(self, function):
        asked = Traced.at_points(function, self.SMALL)
        self.assertNotIn("require", asked.document)
        granted = Traced.at_points(function, [{"T": 64, "N": 128}])
        self.assertTrue(granted.document["require"])
        for sizes in self.SMALL:
            asked.compare(function, SIZES | sizes)
            if all(eval(condition, {}, sizes) for condition in granted.document["require"]):
                granted.compare(function, SIZES | sizes)

    def test_the_strongest_condition_is_said(self):
        self.assertEqual(Traced.at_points(cut_formulas.put, []).document["require"], ["T >= 3"])


class Untraceable(unittest.TestCase):
    """One test a reason, added below."""


def add_tests():
    for module in (formulas, numpy_formulas, numeric_formulas, mask_formulas, index_formulas, complex_arrays):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and function.__doc__:
                assert not hasattr(Formulas, f"test_{name}"), name
                setattr(Formulas, f"test_{name}", lambda self, f=function: Traced.of_formula(f).compare(f))
    for module in (loop_formulas, loop_lists, loop_places, loop_numbers, loop_parts, loop_ranges):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and function.__doc__:
                assert not hasattr(Loops, f"test_{name}"), name
                setattr(Loops, f"test_{name}", lambda self, f=function: self.compare(f))
    modules = fork_formulas, break_formulas, while_formulas, return_formulas, size_formulas, list_formulas
    for module in (*modules, copy_formulas, order_formulas, spelling_formulas, view_formulas):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__doc__:
                setattr(Forks, f"test_{name}", lambda self, f=function: self.compare(f))
    for name, function in vars(cut_formulas).items():
        if inspect.isfunction(function) and function.__doc__:
            setattr(CutOff, f"test_{name}", lambda self, f=function: self.compare(f))
    for name, (source, reason) in (loop_refusals.REFUSED | branch_refusals.REFUSED | alias_refusals.REFUSED).items():

        def refuse_loop(self, source=source, reason=reason):
            traced = Traced.of_source(source, {"x": "T N"})
            self.assertTrue(str(traced.reason).startswith(reason), traced.reason or traced.document)

        setattr(Untraceable, f"test_loop_{name}", refuse_loop)
    for name, (source, reason) in UNTRACEABLE.items():

        def refuse(self, source=source, reason=reason):
            traced = Traced.of_source(source, X, {"p": 1} if "p):" in source else {})
            self.assertTrue(str(traced.reason).startswith(reason), traced.reason or traced.document)

        setattr(Untraceable, f"test_{name}", refuse)


add_tests()


class Shapes(unittest.TestCase):
    """Extents are exact expressions, equal ones spelled alike."""

    def shapes(self, source, inputs):
        traced = Traced.of_source(source, inputs)
        self.assertIsNone(traced.reason)
        return traced.shapes()

    def test_padding_and_windows(self):
        self.assertEqual(
            Traced.of_formula(formulas.conv_groups).shapes()[0],
            [
                "B",
                "K",
                "(P+dilation+2*padding-R*dilation-1)//stride+1",
                "(Q+dilation+2*padding-S*dilation-1)//stride+1",
            ],
        )

    def test_cancelling(self):
        source = "def f(x):\n n = x.shape[0]\n return x[1:][:n - 1], x[:n * 2 // 2], x.reshape(1 * n, -1)"
        self.assertEqual(self.shapes(source, {"x": "M N"}), [["M-1", "N"], ["M", "N"], ["M", "N"]])

    def test_reshape_infers(self):
        self.assertEqual(
            self.shapes("def f(x):\n return x.reshape(x.shape[0], -1), x.reshape(-1)", {"x": "B M N"}),
            [["B", "M*N"], ["B*M*N"]],
        )

    def test_broadcast_prefers_the_simpler_extent(self):
        self.assertEqual(self.shapes("def f(x, y):\n return x + y", {"x": "M*N//N+K", "y": "C"}), [["C"]])


class Repeat(unittest.TestCase):
    """The form of the nodes that loops become; that they compute the same is what Loops tests."""

    def repeats(self, source, inputs=None, parameters=None):
        traced = Traced.of_source(source, inputs or {"x": "T N"}, parameters)
        self.assertIsNone(traced.reason)
        return [node for node in traced.document["nodes"] if node["family"] == "repeat"]

    def test_an_average_carries_one_state_and_stacks_it(self):
        source = (
            "def f(x, alpha):\n y = np.empty_like(x)\n y[:, 0] = x[:, 0]\n for t in range(1, x.shape[1]):\n"
            "  y[:, t] = alpha * x[:, t] + (1 - alpha) * y[:, t - 1]\n return y"
        )
        (node,) = self.repeats(source, {"x": "B T"}, {"alpha": 0.5})
        self.assertEqual((node["op"], node["count"], node["step"], node["states"]), ("stack", "T-1", "t", 1))
        self.assertEqual(node["shape"], ["T-1", "B"])
        self.assertEqual(len(node["body"]["outputs"]), 2)
        self.assertIn(["0", "t+1"], [inner.get("begin") for inner in node["body"]["nodes"]])

    def test_results_share_one_loop(self):
        first, second = self.repeats(
            "def f(x):\n h, out = x[0], []\n for row in x:\n  h = np.tanh(h + row)\n  out.append(h)\n"
            " return np.stack(out), h"
        )
        own = ("op", "shape", "result")
        self.assertEqual(*({k: v for k, v in node.items() if k not in own} for node in (first, second)))
        self.assertEqual({first["op"], second["op"]}, {"last", "stack"})

    def test_what_nobody_needs_is_left_out(self):
        source = (
            "def f(x):\n g, h, y = x[0], x[0], np.zeros_like(x)\n for t in range(x.shape[0]):\n"
            "  g, h, z = h * g, h + x[t], x[t] * 3\n  y[t] = g\n return h"
        )
        (node,) = self.repeats(source)
        self.assertEqual((node["states"], len(node["body"]["outputs"])), (1, 1))
        self.assertNotIn("multiply", {inner["op"] for inner in node["body"]["nodes"]})
        self.assertEqual(self.repeats(source.replace("return h", "return x")), [])

    def test_what_is_the_same_in_each_step_stays_outside(self):
        (node,) = self.repeats("def f(x):\n h = x[0]\n for row in x:\n  h = h + row * np.exp(x[1] * 2)\n return h")
        self.assertNotIn("exp", {inner["op"] for inner in node["body"]["nodes"]})

    def test_names_of_steps(self):
        loop = "def f(x):\n h = x[0]\n for {0} in range(x.shape[0]):\n  for {1} in range(x.shape[1]):\n"
        loop += "   h = h * {0} + x[{0}, {1}]\n return h"
        for outer, inner, names in (("t", "u", ("t", "u")), ("T", "N", ("T_2", "N_2")), ("_", "__", ("step", "step_2"))):
            (node,) = self.repeats(loop.format(outer, inner))
            within = next(one for one in node["body"]["nodes"] if one["family"] == "repeat")
            self.assertEqual((node["step"], within["step"]), names)

    def test_a_first_step_is_traced_by_itself(self):
        """More than one there may not be."""
        source = "def f(x):\n h = 0\n for t in range(x.shape[0]):\n  if t > {}:\n   h = h * 2\n  h = h + x[t]\n return h"
        for last, count in ((0, "T-1"), (1, "T-1"), (2, "T-1")):
            self.assertEqual([node["count"] for node in self.repeats(source.format(last))], [count])

    def test_the_line_is_named(self):
        traced = Traced.of_source("def f(x):\n for row in x:\n  x = x + 1\n  y = x[row]\n return y", {"x": "T N"})
        self.assertIn("(reference.py:8)", traced.reason)


class Document(unittest.TestCase):
    def test_constants_keep_the_arrays_precision(self):
        traced = Traced.of_source("def f(x):\n return x * np.sqrt(2 / np.pi) + np.float64(3)", X)
        self.assertEqual({node["dtype"] for node in traced.document["nodes"]}, {"float32"})

    def test_double_inputs_stay_double(self):
        traced = Traced.of_source("def f(x):\n return x * 0.5 + np.zeros(x.shape)", {"x": ("float64", "M N")})
        self.assertEqual({node["dtype"] for node in traced.document["nodes"]}, {"float64"})

    def test_infinities_are_texts(self):
        traced = Traced.of_source("def f(x):\n return np.where(x > 0, x, -np.inf)", X)
        self.assertIn("-inf", [node.get("value") for node in traced.document["nodes"]])

    def test_the_script_prints_only_the_document(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("print('noise')\nimport numpy as np\ndef f(x):\n return np.exp(x)")
            spec = os.path.join(folder, "spec.json")
            with open(spec, "w", encoding="utf-8") as file:
                json.dump(
                    {
                        "reference": path,
                        "function": "f",
                        "parameters": [],
                        "inputs": [{"name": "x", "dtype": "float32", "shape": ["N"]}],
                    },
                    file,
                )
            run = subprocess.run([sys.executable, TRACER, spec], text=True, capture_output=True, check=True)
        document = json.loads(run.stdout)
        self.assertEqual([node["op"] for node in document["nodes"]], ["x", "exp"])
        self.assertEqual(document["outputs"], [1])

    def test_bad_specification_is_data(self):
        for text in ("{", "{}", "[]"):
            run = subprocess.run(
                [sys.executable, TRACER, "-"], input=text, text=True, capture_output=True, check=False
            )
            self.assertEqual(run.returncode, 0)
            self.assertIn("untraceable", json.loads(run.stdout))


if __name__ == "__main__":
    unittest.main()
