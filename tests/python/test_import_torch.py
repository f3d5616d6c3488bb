"""PyTorch references: the graph must compute what PyTorch computes, at other extents than those it was traced at."""

import contextlib
import importlib.util
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "python")]

from strop import host, trace  # noqa: E402

from graph_evaluator import evaluate  # noqa: E402
from test_trace import called_with  # noqa: E402

HAVE_TORCH = importlib.util.find_spec("torch") is not None
NAMES = "B M N K P Q R".split()
TRACED_AT = dict(zip(NAMES, (2, 6, 6, 5, 8, 9, 7)))
COMPARED_AT = dict(zip(NAMES, (3, 5, 4, 6, 7, 10, 6)))


def document(path, function, inputs):
    spec = {
        "reference": path,
        "function": function,
        "framework": "pytorch",
        "points": [TRACED_AT],
        "parameters": [],
        "inputs": [{"name": name, "dtype": dtype, "shape": shape.split()} for name, (dtype, shape) in inputs.items()],
    }
    with contextlib.redirect_stderr(io.StringIO()):
        return json.loads(json.dumps(trace.document(lambda: spec)))


def typed(inputs):
    return {name: spec if isinstance(spec, tuple) else ("float32", spec) for name, spec in inputs.items()}


def arrays_of(inputs, sizes):
    random = np.random.default_rng(1)
    arrays = {}
    for name, (dtype, shape) in inputs.items():
        extents = [eval(extent, {}, dict(sizes)) for extent in shape.split()]
        drawn = random.standard_normal(extents) if dtype == "float32" else random.integers(0, 4, extents)
        arrays[name] = np.asarray(drawn, dtype)
    return arrays


def flat(results):
    if not isinstance(results, (tuple, list)):
        return [results]
    return [one for result in results for one in flat(result)]


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Formulas(unittest.TestCase):
    """One test a function of torch_formulas.py, added below."""

    def compare(self, module, name, may_be_refused=False, fixed=False):
        import torch

        function = getattr(module, name)
        inputs = typed(called_with(function)[0])
        if fixed:
            inputs = {key: (dtype, re.sub(r"[A-Z]", lambda one: str(COMPARED_AT[one[0]]), shape))
                      for key, (dtype, shape) in inputs.items()}
        graph = document(module.__file__, name, inputs)
        if may_be_refused and "untraceable" in graph:
            self.assertNotRegex(graph["untraceable"], "Unfollowed|the reference fails")
            return
        self.assertNotIn("untraceable", graph)
        arrays = arrays_of(inputs, COMPARED_AT)
        with torch.no_grad():
            expected = flat(function(*(torch.from_numpy(array.copy()) for array in arrays.values())))
        actual = evaluate(graph, arrays, COMPARED_AT, {})
        self.assertEqual(len(actual), len(expected))
        for place, (have, want) in enumerate(zip(actual, expected)):
            want = want.resolve_neg().numpy()
            self.assertEqual((have.shape, have.dtype), (want.shape, want.dtype), f"result {place}")
            np.testing.assert_allclose(
                have.astype(np.float64), want.astype(np.float64), rtol=2e-4, atol=2e-5, err_msg=f"result {place}"
            )


def formulas_of(module):
    functions = [(name, one) for name, one in vars(module).items() if inspect.isfunction(one)]
    return [name for name, one in functions if one.__module__ == module.__name__ and one.__doc__]


def add_formulas():
    if not HAVE_TORCH:
        return
    import complex_formulas
    import torch_formulas
    import torch_items
    import torch_loops
    import torch_unrolled

    for name in formulas_of(torch_unrolled):
        for how in ("fixed", "may_be_refused"):
            setattr(Formulas, f"test_unrolled_{name}_{how}",
                    lambda self, n=name, how=how: self.compare(torch_unrolled, n, **{how: True}))
    for module in (torch_formulas, torch_items, torch_loops, complex_formulas):
        for name in formulas_of(module):
            setattr(Formulas, f"test_{name}", lambda self, m=module, n=name: self.compare(m, n))


add_formulas()


REFUSED = {
    "random": ("return F.dropout(x, 0.5)", "'aten.native_dropout' draws random numbers (reference.py:4)"),
    "missing": ("return torch.special.bessel_j0(x)", "'aten.special_bessel_j0' has no graph operation (reference.py:4)"),
    "values": ("return x if x.sum() > 0 else -x", "control flow depends on the values of a tensor (reference.py:4)"),
    "mask": ("return x[x > 0]", "boolean mask indexing gives a shape that depends on values (reference.py:4)"),
    "fixed": ("return x.view(6, -1)", "the reference fixes M, axis 0 of 'x', to 6"),
    "in_place": ("return x.add_(1)", "the reference changes one of its inputs in place"),
    "complex result": ("return torch.fft.fft(x)", "a result is complex: return its two parts, as torch.view_as_real"),
    "complex product": ("return x.to(torch.complex64).prod(1).real", "'aten.prod' of complex numbers has no graph operation"),
    "branches": (
        "return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))",
        "'cond' has no graph operation (reference.py:4)",
    ),
    "crash": ("return undefined", "the reference cannot be exported: NameError: name 'undefined' is not defined"),
    "windows over the edge": (
        "return torch.stack([x[:, i : i + 3].sum(1) for i in range(x.shape[1])], 1)",
        "control flow depends on the step of a loop ("),
}


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Types(unittest.TestCase):
    def test_what_an_extent_is_scaled_by_is_no_whole_number(self):
        bodies = ("F.scaled_dot_product_attention(x, x, x)", "x * torch.tensor(x.shape[1]).rsqrt()")
        for body in bodies:
            with self.subTest(body), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "reference.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"import torch\nimport torch.nn.functional as F\ndef f(x):\n return {body}\n")
                graph = document(path, "f", typed({"x": "B M N"}))
                self.assertNotIn("untraceable", graph)
                roots = [node["dtype"] for node in graph["nodes"] if node["op"] in ("sqrt", "rsqrt")]
                self.assertTrue(roots)
                self.assertTrue(all(dtype.startswith("float") for dtype in roots), roots)


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Refused(unittest.TestCase):
    """What has no graph is named with its line."""

    def test_reasons(self):
        for name, (body, reason) in REFUSED.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "reference.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"import torch\nimport torch.nn.functional as F\ndef f(x):\n {body}\n")
                graph = document(path, "f", typed({"x": "M N"}))
                self.assertTrue(graph.get("untraceable", "").startswith(reason), graph)


DECISIONS = {
    "made a number": ("return x[:, : int(x.shape[1] * 0.5)]", "the reference fixes N, axis 1 of 'x', to 6"),
    "made a float": ("return x * float(x.shape[1])", "the reference fixes N, axis 1 of 'x', to 6"),
    "one branch": ("return x * 2 if x.shape[0] > 4 else x", "the reference decides on extents, and otherwise at M=8, N=8 ("),
    "of several": ("return x * 2 if x.numel() > 40 else x", "the reference decides on extents, and otherwise at M=8, N=8 ("),
    "odd": ("return x * 2 if x.shape[1] % 4 else x", "the reference decides on extents, and otherwise at M=8, N=8 ("),
    "sum": ("return x[: int(torch.cat([x, x]).shape[0])] * 2", "the reference fixes M, axis 0 of 'x', to 4"),
}


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Decisions(unittest.TestCase):
    """What Python's own code has decided on at one shape is not the program of another."""

    POINTS = [{"M": 8, "N": 8}, {"M": 6, "N": 12}, {"M": 4, "N": 6}]

    def traced(self, body):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"import torch\nimport torch.nn.functional as F\ndef f(x):\n {body}\n")
            return trace.document(lambda: {
                "reference": path, "function": "f", "framework": "pytorch", "points": self.POINTS, "parameters": [],
                "inputs": [{"name": "x", "dtype": "float32", "shape": ["M", "N"]}]})

    def test_are_refused(self):
        for name, (body, reason) in DECISIONS.items():
            with self.subTest(name):
                self.assertTrue(self.traced(body).get("untraceable", "").startswith(reason), self.traced(body))

    def test_that_hold_at_every_shape_are_none(self):
        for body in ("return x * 2 if x.shape[1] % 2 == 0 else x", "return x.view(x.shape[0], -1, 2).sum(1)",
                     "assert x.shape[0] < 100\n return x / len(x)", "return F.interpolate(x[None, None], scale_factor=0.5)"):
            with self.subTest(body):
                self.assertNotIn("untraceable", self.traced(body))


MODULE = "import torch\nfrom torch import nn\n"
MODEL = "class Model(nn.Module):\n def forward(self, x):\n  return {}\n"
INPUTS = "def get_inputs():\n return [{}]\n"
BAD_FILES = {
    "no_model": (MODULE + INPUTS.format("torch.ones(2)"), "no class 'Model'"),
    "no_inputs": (MODULE + MODEL.format("x"), "no function 'get_inputs'"),
    "syntax": ("def f(:\n", "SyntaxError"),
    "import": ("import nothing_like_this\n", "file.py:1: ModuleNotFoundError"),
    "constructor": (
        MODULE + "class Model(nn.Module):\n def __init__(self):\n  raise ValueError('no')\n" + INPUTS.format("torch.ones(2)"),
        "file.py:5: the constructor raises ValueError: no",
    ),
    "named_arguments": (
        MODULE + "class Model(nn.Module):\n def __init__(self, *, eps):\n  super().__init__()\n"
        + INPUTS.format("torch.ones(2)") + "def get_init_inputs():\n return [[], {'eps': 1}]\n",
        "get_init_inputs() names the constructor's arguments",
    ),
    "named_inputs": (MODULE + MODEL.format("x") + "def get_inputs():\n return {'x': torch.ones(2)}\n",
                     "get_inputs() gives a dictionary"),
    "does_not_fit": (
        MODULE + MODEL.format("x @ torch.ones(3, 3)") + INPUTS.format("torch.ones(2, 4)"),
        "file.py:5: Model does not take what get_inputs() gives: RuntimeError",
    ),
    "empty": (MODULE + MODEL.format("x") + INPUTS.format("torch.ones(0, 4)"), "input 0 has shape [0, 4]"),
    "complex": (MODULE + MODEL.format("x") + INPUTS.format("torch.ones(2) * 1j"), "forward returns a complex tensor"),
    "sparse": (MODULE + MODEL.format("x") + INPUTS.format("torch.eye(2).to_sparse()"), "input 0 is not a dense tensor"),
    "list": (MODULE + MODEL.format("x[0]") + INPUTS.format("[torch.ones(2)]"), "input 0 is a list"),
    "number": (MODULE + MODEL.format("{'y': x, 'n': 3}") + INPUTS.format("torch.ones(2)"), "forward returns a int"),
    "nothing": (MODULE + MODEL.format("None") + INPUTS.format("torch.ones(2)"), "forward returns a NoneType"),
    "empty_result": (MODULE + MODEL.format("(None, {})") + INPUTS.format("torch.ones(2)"), "forward returns no tensor"),
    "dropout": (
        MODULE + MODEL.format("nn.functional.dropout(x)") + INPUTS.format("torch.ones(2)"),
        "draws random numbers (file.py:5)",
    ),
    "control_flow": (
        MODULE + MODEL.format("x if x.max() > 0 else -x") + INPUTS.format("torch.ones(2)"),
        "file.py:5: control flow depends on the values of a tensor",
    ),
    "mask": (
        MODULE + MODEL.format("x[x > 0].sum()") + INPUTS.format("torch.ones(2)"),
        "file.py:5: a shape depends on the values of a tensor",
    ),
    "in_place": (MODULE + MODEL.format("x.mul_(2)") + INPUTS.format("torch.ones(2)"), "changes its input 'x' in place"),
}


def problem_of(text):
    """The problem that becomes of a file with that text."""
    from strop import import_file

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return import_file.import_file(path)["files"]["problem.yaml"]


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Files(unittest.TestCase):
    """Files with a module become problems."""

    FOLDER = os.path.join(HERE, "modules")

    def imported(self, name):
        from strop import import_file

        return import_file.import_file(os.path.join(self.FOLDER, name + ".py"))

    def test_whole_numbers_are_drawn_as_in_the_file(self):
        from strop import import_file

        text = MODULE + ("class Model(nn.Module):\n def forward(self, a, b):\n  return a // b, torch.remainder(a, b)\n" + INPUTS.format(
            "torch.randint(-9, 10, (64, 32)), torch.randint(1, 7, (64, 32))"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "divided.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            problem = import_file.import_file(path)["files"]["problem.yaml"]
        self.assertIn("a: {dtype: int64, shape: [M, N], fill: integers, from: -9, limit: 10}", problem)
        self.assertIn("b: {dtype: int64, shape: [M, N], fill: integers, from: 1, limit: 7}", problem)

    def test_bad_files(self):
        from strop import import_file

        for name, (text, phrase) in BAD_FILES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "file.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                with self.assertRaises(import_file.Refusal) as caught:
                    import_file.import_file(path)
                self.assertIn(phrase, str(caught.exception))
                self.assertTrue(caught.exception.hint)

    def test_names(self):
        from strop import import_file

        self.assertEqual(import_file.problem_name("/a/12_Gemm_Max.py"), "gemm_max")
        self.assertEqual(import_file.problem_name("tanh.py"), "tanh_module")
        names = import_file.Names()
        self.assertEqual([names.take(n) for n in ("x", "x", "0.weight", "class", "new")], ["x", "x_", "p0_weight", "class_", "new_"])

    def test_batch_norm_in_training_mode(self):
        problem = self.imported("conv_norm")
        text = problem["files"]["problem.yaml"]
        self.assertIn("the kernel does not update the running ones", problem["notes"][0])
        self.assertIn("x: {dtype: float32, shape: [B, 3, H, W]}", text)
        self.assertIn("scale: {dtype: float32, shape: [8, 1, 1], fill: positive}", text)
        self.assertIn("file: {B: 4, H: 16, W: 16}", text)
        self.assertIn("half: {B: 2, H: 8, W: 8}", text)
        self.assertNotIn("running", text)
        self.assertIn("power != 2.0", problem["files"]["module.py"])

    def test_one_value_of_each_channel_has_no_variance(self):
        text = MODULE + "class Model(nn.Module):\n def __init__(self):\n  super().__init__()\n  self.norm = nn.BatchNorm2d(3)\n"
        text += " def forward(self, x):\n  return torch.relu(self.norm(x))\n" + INPUTS.format("torch.randn(8, 3, 8, 8)")
        problem = problem_of(text)
        self.assertIn("B: [2, 8]", problem)
        self.assertIn("H: [1, 8]", problem)

    def test_masks_stay_and_indices_become_inputs(self):
        self.assertNotIn("mask", self.imported("causal_attention")["files"]["problem.yaml"])
        self.assertIn("index: {dtype: int64, shape: [16, 16], fill: integers, limit: 49}",
                      self.imported("window_bias")["files"]["problem.yaml"])

    def test_attention_has_as_many_keys_as_values(self):
        text = MODULE + "class Model(nn.Module):\n def forward(self, q, k, v):\n"
        text += "  return nn.functional.scaled_dot_product_attention(q, k, v)\n"
        text += INPUTS.format("torch.randn(2, 4, 16, 32), torch.randn(2, 4, 48, 32), torch.randn(2, 4, 48, 32)")
        problem = problem_of(text)
        self.assertIn("k: {dtype: float32, shape: [B, 4, H_, W]}", problem)
        self.assertIn("v: {dtype: float32, shape: [B, 4, H_, W]}", problem)

    def test_extents_that_only_computing_compares(self):
        """PyTorch looks at what each pixel's class belongs to when it computes the loss, not before."""
        text = MODULE + MODEL.replace("self, x", "self, x, t").format("nn.functional.cross_entropy(x, t)")
        text += INPUTS.format("torch.randn(4, 5, 8, 8), torch.randint(0, 5, (4, 8, 8))")
        problem = problem_of(text)
        self.assertIn("t: {dtype: int64, shape: [B, 8, 8]", problem)
        self.assertIn("half: {B: 2}", problem)

    def test_extents_that_indices_may_reach_do_not_vary(self):
        text = self.imported("recurrent")["files"]["problem.yaml"]
        self.assertIn("ids: {dtype: int64, shape: [M, 4], fill: integers, limit: 50}", text)
        self.assertEqual(text.count("words_weight:"), 1)  # tied to the head's
        self.assertIn("y1: {dtype: int64, shape: [M]}", text)

    def test_complex_tensors_are_inputs_of_two_parts(self):
        files = self.imported("rotary_embedding")["files"]
        self.assertIn("by: {dtype: float32, shape: [C, 4, 2]}", files["problem.yaml"])
        self.assertIn("turns: {dtype: float32, shape: [32, 4, 2]}", files["problem.yaml"])
        self.assertIn('_buffers["turns"] = torch.view_as_complex(turns)\n', files["reference.py"])
        self.assertIn("torch.view_as_complex(by))\n", files["reference.py"])
        self.assertIn('torch.view_as_real(by), torch.view_as_real(self.get_buffer("turns")))', files["module.py"])

    def test_what_a_module_returns_keeps_its_structure(self):
        files = self.imported("statistics_of_rows")["files"]
        self.assertEqual(re.findall(r"^  (\w+): ", files["problem.yaml"].partition("outputs:")[2], re.M)[:3],
                         ["centred", "moments_0", "moments_1_0"])
        self.assertIn("return result['centred'], result['moments'][0], result['moments'][1][0]\n", files["reference.py"])
        self.assertIn("return {'centred': results[0], 'moments': (results[1], [results[2]]), 'cache': None}\n",
                      files["module.py"])

    def test_graphs_compute_what_the_modules_do(self):
        for name in ("causal_attention", "conv_norm", "window_bias", "recurrent", "statistics_of_rows",
                     "rotary_embedding"):
            with self.subTest(name):
                self.compare(name)

    def compare(self, name):
        import torch

        problem = self.imported(name)
        with tempfile.TemporaryDirectory() as folder:
            for file, text in problem["files"].items():
                with open(os.path.join(folder, file), "w", encoding="utf-8") as target:
                    target.write(text)
            shutil.copy(os.path.join(self.FOLDER, name + ".py"), os.path.join(folder, "original.py"))
            inputs, dims, draws = self.declared(problem["files"]["problem.yaml"])
            spec = {
                "reference": os.path.join(folder, "reference.py"), "function": problem["name"], "framework": "pytorch",
                "points": [dims["file"]], "parameters": [],
                "inputs": [{"name": n, "dtype": d, "shape": s.split()} for n, (d, s) in inputs.items()],
            }
            sys.modules.pop("original", None)
            sys.path.insert(0, folder)
            try:
                graph = json.loads(json.dumps(trace.document(lambda: spec)))
                self.assertNotIn("untraceable", graph)
                function = host.load_function(spec["reference"], problem["name"])
            finally:
                sys.path.remove(folder)
            arrays = {n: array % draws.get(n, 1 << 30) for n, array in arrays_of(inputs, dims["half"]).items()}
            with torch.no_grad():
                expected = flat(function(*(torch.from_numpy(array.copy()) for array in arrays.values())))
            for have, want in zip(evaluate(graph, arrays, dims["half"], {}), expected):
                np.testing.assert_allclose(have, want.numpy(), rtol=1e-3, atol=1e-4)

    @staticmethod
    def declared(text):
        """Inputs, shapes and limits of a problem.yaml as we write it."""
        inputs = {n: (d, s.replace(",", "")) for n, d, s in
                  re.findall(r"^  (\w+): \{dtype: (\w+), shape: \[(.*?)\]", text.partition("outputs:")[0], re.M)}
        dims = {label: {n: int(v) for n, v in re.findall(r"(\w+): (\d+)", values)} for label, values in
                re.findall(r"^  (file|half|quarter): \{(.*?)\}", text, re.M)}
        return inputs, dims, {n: int(v) for n, v in re.findall(r"^  (\w+): \{.*limit: (\d+)", text, re.M)}


# In a process without Strop: the result's module beside the original and the kernel's function.
CHECK = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
from linear_relu_block_module import ModelNew
from linear_relu_block_original import Model, get_init_inputs, get_inputs

torch.manual_seed(1)
original, new = Model(*get_init_inputs()), ModelNew(*get_init_inputs())
print(new.load_state_dict(original.state_dict()))
x, low = get_inputs()
with torch.no_grad():
    expected = original(x, low)
    print("equal", torch.allclose(new(x, low), expected, rtol=1e-3, atol=1e-3))
    class Around(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = new
        def forward(self, x):
            return self.inner(x + 0, 0.5) * 2
    compiled = torch.compile(Around(), fullgraph=True, backend="aot_eager")
    print("compiled", torch.allclose(compiled(x), 2 * expected, rtol=1e-3, atol=1e-3))
    exported = torch.export.export(Around(), (x,))
    print("exported", any("linear_relu_block" in str(node.target) for node in exported.graph.nodes))
try:
    new(x, low).sum().backward()
except NotImplementedError as error:
    print("backward", error)
try:
    new(x, 3.0)
except ValueError as error:
    print("low", error)
try:
    new.eval()(x, low)
except RuntimeError as error:
    print("mode", error)
"""


KERNEL = """
import torch
def linear_relu_block(x, fc_weight, fc_bias):
    return torch.clamp(x @ fc_weight.T + fc_bias, min=0.5)
"""


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Result(unittest.TestCase):
    """ModelNew stands in for Model; here the kernel is a function in Python."""

    def test_the_module(self):
        from strop import import_file

        original = os.path.join(HERE, "modules", "linear_relu_block.py")
        text = import_file.import_file(original)["files"]["module.py"].replace("@name@", "linear_relu_block")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(original, os.path.join(folder, "linear_relu_block_original.py"))
            for name, content in (("linear_relu_block_module.py", text), ("linear_relu_block.py", KERNEL),
                                  ("linear_relu_block.cpp", "// by which operators are told apart\n")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
            check = subprocess.run(
                [sys.executable, "-c", CHECK, folder], capture_output=True, text=True, check=False, timeout=300, cwd="/"
            )
        self.assertEqual(check.returncode, 0, check.stderr)
        for line in ("<All keys matched successfully>", "equal True", "compiled True", "exported True",
                     "backward linear_relu_block computes no gradients",
                     "low linear_relu_block: the kernel is for low = 0.5, not 3.0",
                     "mode linear_relu_block: the kernel computes what Model does after train()"):
            self.assertIn(line, check.stdout)


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Double(unittest.TestCase):
    """Expected values are in float64, whatever the reference asks for."""

    def test_casts_and_constants(self):
        import torch

        kept = torch.full((3, 3), 1 / 3)

        def reference(x):
            return (x.float() @ kept.to(torch.float32) + torch.ones(3, dtype=torch.float32)).type(torch.float32)

        x = torch.full((2, 3), 1 / 3, dtype=torch.float64)
        with host.evaluated_in(torch.float64):
            result = reference(x)
        self.assertEqual(result.dtype, torch.float64)
        self.assertLess(abs(float(result[0, 0]) - (1 + 3 * (1 / 3) * float(kept[0, 0]))), 1e-15)

    def test_equal_elements_stay_in_order(self):
        import torch

        x = torch.zeros(2, 1000)
        x[:, 100] = 1
        order = [100, *range(100), *range(101, 1000)]
        for wide in (None, torch.float64):
            with host.evaluated_in(wide):
                self.assertEqual(x.sort(-1, descending=True).indices[0].tolist(), order)
                self.assertEqual(x.argsort(-1, descending=True)[1].tolist(), order)
                values, places = torch.topk(x, 5)
            self.assertEqual((values[0].tolist(), places[0].tolist()), ([1, 0, 0, 0, 0], order[:5]))

    def test_equal_elements_stay_in_order_in_numpy(self):
        import numpy as np

        x = np.zeros(1000, dtype=np.float32)
        with host.stable_argsort():
            self.assertEqual(np.argsort(x).tolist(), list(range(1000)))
            self.assertEqual(np.argsort(x.reshape(2, 500), axis=0, kind="stable").tolist()[1], [1] * 500)


if __name__ == "__main__":
    unittest.main()
