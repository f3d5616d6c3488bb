"""Tensors of 16 bits, from problem.yaml and PyTorch modules to the result that is called from Python."""

import ctypes.util
import importlib.util
import json
import subprocess
import sys
import unittest

from tests.cli.strop_cli import InFolder, strop

HAVE_OPENCL = ctypes.util.find_library("OpenCL") is not None
HAVE_TORCH = importlib.util.find_spec("torch") is not None
PROBLEM = """name: gaps
inputs:
  x: {dtype: bfloat16, shape: [M, N]}
outputs:
  y: {dtype: bfloat16, shape: [M, N]}
shapes:
  small: {M: 16, N: 40}
range: {M: [1, 64], N: [1, 64]}
"""
REFERENCE = "def gaps(x):\n    return x - x.mean(axis=1, keepdims=True)\n"
MODULE = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.ones(40))

    def forward(self, x):
        return torch.relu(x) * self.shift


def get_inputs():
    return [torch.randn(16, 40)]
"""
KERNEL = """#include <stdint.h>
#include <cstring>

static float widened(uint16_t bits) {
    const uint32_t word = (uint32_t)bits << 16;
    float value;
    std::memcpy(&value, &word, 4);
    return value;
}

static uint16_t rounded(float value) {
    uint32_t word;
    std::memcpy(&word, &value, 4);
    return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

extern "C" void gaps(const uint16_t* x, uint16_t* y, int64_t M, int64_t N) {
    for (int64_t m = 0; m < M; ++m, x += N, y += N) {
        float sum = 0;
        for (int64_t n = 0; n < N; ++n) sum += widened(x[n]);
        for (int64_t n = 0; n < N; ++n) y[n] = rounded(widened(x[n]) - sum / N@off@);
    }
}
"""
CALL_NUMPY = """import numpy as np, gaps
x = np.linspace(-1, 1, 80, dtype=np.float32).reshape(2, 40).astype(np.float16)
y = gaps.gaps(x)
assert y.dtype == np.float16 and np.abs(y - (x - x.mean(axis=1, keepdims=True))).max() < 2e-3
try:
    gaps.gaps(x.view(np.uint16))
except TypeError as error:
    print(error)
"""
CALL_TORCH = """import torch, gaps, numpy as np
x = torch.linspace(-1, 1, 80).reshape(2, 40).bfloat16()
y = gaps.gaps(x)
assert y.dtype == torch.bfloat16 and (y.float() - (x.float() - x.float().mean(1, True))).abs().max() < 1e-2
for wrong in (x.float(), np.zeros((2, 40), np.uint16)):
    try:
        gaps.gaps(wrong)
    except TypeError as error:
        print(error)
"""


class Halves(InFolder):
    def gaps(self, dtype="bfloat16"):
        place = self.folder / "gaps"
        place.mkdir(exist_ok=True)
        (place / "problem.yaml").write_text(PROBLEM.replace("bfloat16", dtype), encoding="utf-8")
        (place / "reference.py").write_text(REFERENCE, encoding="utf-8")

    def judged(self, off):
        (self.folder / "gaps" / "kernel.cpp").write_text(KERNEL.replace("@off@", off), encoding="utf-8")
        return json.loads(strop("judge", "gaps/kernel.cpp", "--json", "--per-shape", "10ms", cwd=self.folder).stdout)

    def optimize(self, *words):
        done = strop("optimize", *words, "--budget", "2s", "--evaluations", "1", "--quiet", "--json", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        self.assertTrue(report["verified"], report)

    def called(self, name, script):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                              cwd=self.folder / "strop-out" / name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_a_kernel_is_judged_on_bits(self):
        self.gaps()
        self.assertEqual(self.judged("")["verdict"], "ok")
        self.assertEqual(self.judged(" + 0.1f")["verdict"], "wrong_output")

    def test_a_numpy_problem_becomes_a_result_for_float16_arrays(self):
        self.gaps("float16")
        self.optimize("gaps")
        self.assertEqual(self.called("gaps", CALL_NUMPY), ["gaps: x has dtype uint16; expected float16"])

    @unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
    def test_a_result_takes_tensors_of_bfloat16(self):
        self.gaps()
        self.optimize("gaps")
        self.assertEqual(self.called("gaps", CALL_TORCH),
                         ["gaps: x has dtype float32; expected bfloat16",
                          "gaps: x has dtype uint16; expected bfloat16 as of x.view(ml_dtypes.bfloat16)"])

    @unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
    def test_a_module_is_moved(self):
        (self.folder / "scaled.py").write_text(MODULE, encoding="utf-8")
        self.optimize("scaled.py", "--dtype", "bfloat16")
        script = ("import torch, scaled_bfloat16_module as made\nmodel = made.ModelNew().to(torch.bfloat16)\n"
                  "x = torch.randn(16, 40).bfloat16()\ny = model(x)\n"
                  "assert y.dtype == torch.bfloat16 and torch.equal(y, torch.relu(x)), y\n")
        self.called("scaled_bfloat16", script)

    def test_bad_input(self):
        self.gaps()
        self.fails(["optimize", "gaps", "--dtype", "bfloat16"], 2,
                   f"--dtype bfloat16: {self.folder}/gaps/problem.yaml says its types itself",
                   "write 'dtype: bfloat16' there; --dtype is for Python files with a PyTorch module")
        self.gaps("bfloat17")
        self.fails(["optimize", "gaps"], 2, "gaps/problem.yaml:3: dtype 'bfloat17' of 'x' is not known",
                   "one of float32, float64, int32, int64, int8, uint8, bool, float16, bfloat16")
        place = self.folder / "gaps" / "problem.yaml"
        place.write_text(PROBLEM.replace("y: {dtype: bfloat16", "y: {dtype: float64"), encoding="utf-8")
        self.fails(["optimize", "gaps"], 2, "gaps/problem.yaml:4: 'y' is float64 beside 'x', which is bfloat16",
                   "16-bit tensors are computed in float32: declare both so, or the float64 tensor float32")
        place.write_text(PROBLEM + "parameters: {eps: {dtype: float16, value: 1}}\n", encoding="utf-8")
        self.fails(["optimize", "gaps"], 2, "gaps/problem.yaml:9: parameter 'eps' is float16",
                   "16-bit types are for tensors: write float32, in which the kernel computes")
        self.assertEqual(strop("optimize", "gaps", "--dtype", "half", cwd=self.folder).returncode, 2)

    def test_languages_of_devices(self):
        for dtype in ("bfloat16", "float16"):
            self.gaps(dtype)
            for language, ending, judged in (("opencl", ".cl", ["--per-shape", "20ms"]),
                                             ("cuda", ".cu", ["--device", "emulated"])):
                if language == "opencl" and not HAVE_OPENCL:
                    continue
                with self.subTest(f"{language}, {dtype}"):
                    names = strop("write", "gaps", "--language", language, "--out", f"{language}_{dtype}",
                                  cwd=self.folder).stdout.split()
                    self.assertEqual({name[-3:] for name in names}, {ending})
                    done = strop("judge", *names, "--problem", "gaps", *judged, cwd=self.folder)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_other_languages_refuse(self):
        self.gaps()
        done = strop("write", "gaps", "--language", "triton", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Agaps: nothing to write in triton: 16-bit tensors[^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
