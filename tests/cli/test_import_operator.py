"""Operators of TritonBench as problems, from outside."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

from tests.cli.strop_cli import HOME, InFolder, strop

HAVE_TORCH = importlib.util.find_spec("torch") is not None
HAVE_TRITON = importlib.util.find_spec("triton") is not None
OPERATORS = pathlib.Path(HOME, "tests", "python", "operators")


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Operators(InFolder):
    def imported(self, path, reference="", name="made"):
        """(problem.yaml, the notes) of an import that works, whose problem loads."""
        more = ("--reference", str(reference)) if reference else ()
        done = strop("import", str(path), name, *more, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / name / "problem.yaml").read_text(encoding="utf-8"), done.stderr

    def test_cases_of_a_test_are_the_sweep(self):
        text, notes = self.imported(OPERATORS / "max_reduction.py", f"{OPERATORS}/plain.py:row_max")
        self.assertIn("  inp: {dtype: float32, shape: [M, N]}\n", text)
        self.assertIn("  128_256: {M: 128, N: 256}\n  64_100: {M: 64, N: 100}\n  7_33: {M: 7, N: 33}\n", text)
        self.assertEqual(notes, "! left out: 2 of 5 cases, which differ in dim, inp, keepdim\n")
        self.assertEqual(strop("write", "made", cwd=self.folder).returncode, 0, "the reference is traced")

    def test_an_autograd_function_gives_the_names(self):
        text, _ = self.imported(OPERATORS / "lightning_attention.py", f"{OPERATORS}/plain.py:attention")
        self.assertIn("  slopes: {dtype: float32, shape: [C], fill: positive, scale: 0.25}\n", text)
        self.assertIn("  1_2_16_32_32: ", text)

    def test_a_reference_over_arrays(self):
        text, _ = self.imported(OPERATORS / "max_reduction.py", f"{OPERATORS}/plain_arrays.py:row_max")
        self.assertIn("range: {M: [7, 128], N: [33, 256]}\n", text)
        self.assertIn("  y1: {dtype: int64, shape: [M]}\n", text)
        self.assertEqual(strop("write", "made", cwd=self.folder).returncode, 0, "the reference is traced")

    @unittest.skipIf(HAVE_TRITON, "Triton is installed")
    def test_without_triton_a_reference_is_needed(self):
        done = strop("optimize", str(OPERATORS / "max_reduction.py"), cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"max_reduction\.py: its operator needs Triton, which is not installed\nhint: .*--reference")

    @unittest.skipUnless(HAVE_TRITON, "Triton is not installed")
    def test_tritons_interpreter_runs_the_operator(self):
        text, notes = self.imported(OPERATORS / "lightning_attention.py")
        self.assertIn("  q: {dtype: float32, shape: [B, C, H, W]}\n", text)
        self.assertIn("require:\n  - W in (16, 32)\n", text)
        self.assertIn("the reference is the operator in Triton's interpreter", notes)
        script = ("import sys, torch\nsys.path[:0] = ['made', sys.argv[1]]\nfrom reference import lightning_attention as ours\n"
                  "from plain import attention\ngiven = [torch.randn(1, 2, 16, 16) for _ in range(3)] + [torch.ones(2)]\n"
                  "print(torch.allclose(ours(*given), attention(*given), atol=1e-4))\n")
        tried = subprocess.run([sys.executable, "-c", script, str(OPERATORS)], capture_output=True, text=True, check=False,
                               cwd=self.folder)
        self.assertEqual(tried.stdout, "True\n", tried.stderr)


if __name__ == "__main__":
    unittest.main()
