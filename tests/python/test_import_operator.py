"""Operators of TritonBench: which cases of a test become a problem, and what is refused."""

import contextlib
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "python")]

from strop.import_names import Refusal  # noqa: E402
from strop.import_processor import Absences, Absent, Needed, for_processor  # noqa: E402

HAVE_TORCH = importlib.util.find_spec("torch") is not None
OPERATORS = pathlib.Path(HERE, "operators")
SEPARATOR = "#" * 100

TRITON = """import torch
import triton
import triton.language as tl
from somewhere.of_theirs import decorated


@triton.jit
def _run(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


@decorated
def copy(x, n):
    o = torch.empty_like(x)
    _run[(triton.cdiv(n, 64),)](x, o, n, B=64)
    return o
"""


class Processor(unittest.TestCase):
    def test_devices_in_a_source(self):
        for given, expected in (
                ("x = torch.ones(2, device='cuda')  # 'cuda'", "x = torch.ones(2, device=\"cpu\")  # 'cuda'"),
                ("x.to('cuda:1').cuda(0).pin_memory()", 'x.to("cpu")'),
                ("x = y.cuda(\n    'cuda')\nz", "x = y\\\n\nz"),
                ("a = 1\x0c\nb = 'cuda'", 'a = 1\x0c\nb = "cpu"'),
                ("t = 'ä', f'cuda:{i}', 'cudart'", "t = 'ä', \"cpu\", 'cudart'"),
                ("assert x.is_cuda", "assert x.is_cpu"),
                ("D = triton.runtime.driver.active.get_active_torch_device()", 'D = __import__("torch").device("cpu")'),
                ("with torch.cuda.device(0): pass", 'with __import__("on_processor").cuda.device(0): pass')):
            with self.subTest(given):
                self.assertEqual(for_processor(given), expected)

    def test_missing_modules_decorate_and_do_not_compute(self):
        with Absences(["nowhere.of.theirs"]):
            from nowhere.of import theirs
            import nowhere
            self.assertIsInstance(theirs.mark(key=[1])(len), Absent)
            self.assertIsInstance(nowhere.anything.at_all[3], Absent)
            Absent.strict = True
            with self.assertRaisesRegex(Needed, r"\Anowhere\.of\.theirs\.compute\Z"):
                theirs.compute(1)
        self.assertNotIn("nowhere", sys.modules)


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Operators(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strop-operator-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def of_text(self, head, test, reference=""):
        (self.folder / "given.py").write_text(f"{head}\n{SEPARATOR}\n\n{test}\n", encoding="utf-8")
        (self.folder / "plain.py").write_text(reference, encoding="utf-8")
        return self.folder / "given.py"

    def imported(self, path, reference="", dtype=""):
        """(its files, its notes)."""
        from strop.import_file import import_any

        for name in ("given_reference", "operator_source", "original"):
            sys.modules.pop(name, None)
        spec = str(self.folder / reference) if reference else ""
        with contextlib.redirect_stdout(io.StringIO()):
            document = import_any(str(path), dtype, spec)
        return document["files"], document["notes"]

    def refused(self, path, said, reference="", dtype=""):
        with self.assertRaisesRegex(Refusal, said) as caught:
            self.imported(path, reference, dtype)
        self.assertTrue(caught.exception.hint)

    def test_extents_that_a_reference_over_arrays_refuses(self):
        plain = "import numpy as np\ndef twice(x):\n    assert x.shape[0] % 8 == 0\n    return np.concatenate([x, x]) * 2\n"
        test = "def test_f():\n    return [f(torch.ones(n, 3, device='cuda')) for n in (8, 32)]\nresult_gold = test_f()"
        files, _ = self.imported(self.of_text("import torch\ndef f(x): pass", test, plain), "plain.py:twice")
        self.assertIn("  y: {dtype: float32, shape: [2*M, 3]}\n", files["problem.yaml"])
        self.assertTrue(files["problem.yaml"].endswith("range: {M: [8, 32]}\nrequire:\n  - M in (8, 32)\n"), files["problem.yaml"])

    def test_an_operator_in_pytorch_is_the_reference(self):
        head = "import torch\ndef scaled(x, scale=1.0, *, out=None):\n    return torch.relu(x).cuda() * scale\n"
        test = ("def test_scaled():\n    found = [scaled(torch.randn(n, 4).cuda(), 0.5) for n in (2, 64)]\n    try:\n        scaled(1)\n"
                "    except TypeError:\n        found.append(0)\n    torch.cuda.synchronize()\n    assert False, 'on purpose'\n"
                "test_results = test_scaled()")
        files, notes = self.imported(self.of_text(head, test))
        self.assertIn("range: {M: [2, 64], N: [1, 4]}\n", files["problem.yaml"])
        self.assertEqual(notes, ["the test ended at line 14, where it raises AssertionError: on purpose: later cases are missing"])
        self.assertEqual(files["operator_source.py"], head.replace(".cuda()", ""))

    def test_what_is_changed_in_place_is_the_output(self):
        head = "import torch\ndef add_to(out, x):\n    out += x\n"
        test = "def test_f():\n    add_to(torch.zeros(8, device='cuda:0'), torch.ones(8).to('cuda'))\nresult_gold = test_f()"
        files, _ = self.imported(self.of_text(head, test))
        self.assertIn("        out = out.clone()\n        operator_source.add_to(out, x)\n        return out\n",
                      files["original.py"])

    def test_integers_that_follow_from_the_shape(self):
        test = ("def test_copy():\n    for n in (64, 1000):\n        x = torch.ones(n, device='cuda')\n        copy(x, x.numel())\n"
                "result_gold = test_copy()")
        files, _ = self.imported(self.of_text(TRITON, test, "import torch\ndef same(x, n): return x + 0\n"), "plain.py:same")
        self.assertIn("  64: {N: 64}\n  1000: {N: 1000}\n", files["problem.yaml"])
        self.assertIn("given_reference.same(x0, x0.numel())", files["original.py"])  # what decorates it hides its names

    def test_what_cannot_be_imported(self):
        plain = "import torch\ndef f(x):\n    return x * 2\n"
        for head, test, said in (
                (plain, "    return f([torch.ones(2)])", "f's argument 'x' is a list of tensors"),
                (plain, "    return torch.ones(2)", r"test_f\(\) calls no function"),
                (plain, "    return f(torch.load('none.pt'))", r"given\.py:8: test_f\(\) raises FileNotFoundError"),
                (plain, "    return f(torch.ones(0, 2))", r"f's argument 'x' has shape \[0, 2\]"),
                (plain.replace("x * 2", "x.to(torch.int16)"), "    return f(torch.ones(2))", "what f returns is of dtype int16"),
                (plain.replace("x * 2", "torch.dropout(x, 0.5, True)"), "    return f(torch.ones(2))", "draws random numbers"),
                ("import nowhere\n" + plain, "    return f(torch.ones(2))", "needs nowhere, which is not installed"),
                (plain.replace("def f(x)", "class f(torch.nn.Module):\n  def forward(self, x)").replace("    return", "      return"),
                 "    return f()(torch.ones(2))", "the test uses the class 'f'")):
            with self.subTest(said):
                self.refused(self.of_text(head, f"def test_f():\n{test}\nresult_gold = test_f()"), said)

    def test_references_that_do_not_fit(self):
        (self.folder / "plain.py").write_text("def f(x):\n    return x\n", encoding="utf-8")
        for reference, said in (("plain", r"--reference \S+plain: is no FILE\.py:FUNCTION"),
                                ("none.py:f", r"--reference \S+none\.py: No such file"),
                                ("plain.py:g", r"plain\.py: no function 'g'"),
                                ("plain.py:f", r"max_reduction\.py:\d+: test_max_dim\(\) raises TypeError: f\(\) got an unexpected")):
            with self.subTest(reference):
                self.refused(OPERATORS / "max_reduction.py", said, reference)
        module = os.path.join(HERE, "modules", "conv_norm.py")
        self.refused(module, r"conv_norm\.py has its own", "plain.py:f")
        self.refused(OPERATORS / "max_reduction.py", "max_reduction.py says its types itself", dtype="bfloat16")


if __name__ == "__main__":
    unittest.main()
