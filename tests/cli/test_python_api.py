"""`import strop`: what a script sees."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import strop
from tests.cli.strop_cli import BINARY, HOME, write_problem

FEW = {"evaluations": 6, "seed": 7, "budget": "10s"}


def shifted(x, by):
    return x - x.max(axis=1, keepdims=True) + by


class InEmptyFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strop-api-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        before, changes = pathlib.Path.cwd(), {"STROP_BINARY": os.path.abspath(BINARY), "STROP_HOME": HOME,
                                               "STROP_CACHE": str(self.folder / "cache"),
                                               "PYTHONPATH": os.path.join(HOME, "python")}
        environment = dict(os.environ)
        os.chdir(folder.name)
        os.environ.update(changes)
        self.addCleanup(os.chdir, before)
        self.addCleanup(os.environ.update, environment)


class Optimizing(InEmptyFolder):
    def test_a_function_becomes_a_verified_kernel(self):
        lines = []
        result = strop.optimize(shifted, {"x": "float32[M, N]"}, {"small": {"M": 8, "N": 64}}, parameters={"by": 2.0},
                                progress=lines.append, **FEW)
        x = np.random.rand(8, 64).astype(np.float32)
        np.testing.assert_allclose(result(x), shifted(x, np.float32(2)), rtol=1e-5)
        self.assertTrue(result.verified)
        self.assertIn("verifying on fresh inputs, paired with the baselines", lines)
        self.assertEqual(len(result.history["small_ns"]), result.report["evaluations"]["total"])
        self.assertIn("shifted", result.source)
        saved = strop.Result.load(result.save(self.folder / "copy"))
        np.testing.assert_array_equal(saved(x), result(x))

        archive = strop.Archive()
        self.assertEqual([entry["problem"] for entry in archive.runs()], ["shifted"])
        self.assertEqual(archive.get(result.report["run"]).report["run"], result.report["run"])
        self.assertEqual(archive.statistics()["shifted"]["evaluations"], result.report["evaluations"]["total"])

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_a_module_whose_arguments_hold_tensors(self):
        import torch

        class Gated(torch.nn.Module):
            def forward(self, state, x, scale=2.0):
                h, c = state
                return torch.tanh(h + x) * c * scale

        module, described = Gated(), "float32[rows, 8]"
        result = strop.optimize(module, {"state": (described, described), "x": described}, {"a": {"rows": 64}}, **FEW)
        self.assertEqual([shape["dims"] for shape in result.report["shapes"]], [{"rows": 64}])
        fast, outer = result.module(module), torch.nn.Linear(8, 8)
        state, x = (torch.randn(64, 8), torch.randn(64, 8)), torch.randn(64, 8)
        with torch.no_grad():
            for found in (fast(state, x), fast(x=x, state=state)):
                torch.testing.assert_close(found, module(state, x))
            compiled = torch.compile(lambda *given: outer(fast(*given)))
            torch.testing.assert_close(compiled(state, x), outer(module(state, x)))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_a_module_in_memory_gets_its_kernel(self):
        import torch

        module = torch.nn.Sequential(torch.nn.LayerNorm(32), torch.nn.ReLU())
        result = strop.optimize(module, {"input": "float32[B, 32]"}, {"one": {"B": 1}, "some": {"B": 64}}, name="norm", **FEW)
        self.assertTrue(result.verified)
        self.assertEqual([shape["dims"] for shape in result.report["shapes"]], [{"B": 1}, {"B": 64}])
        fast = result.module(module)
        with torch.no_grad():
            module[0].weight.mul_(3)    # the parameters are those of the module
            for rows in (1, 5, 64):
                x = torch.randn(rows, 32)
                torch.testing.assert_close(fast(x), module(x))
        for other, words in ((torch.nn.Linear(3, 3), "has no '"), (torch.nn.ReLU(), "this module has no '0."),
                             (torch.nn.Sequential(torch.nn.LayerNorm(32, eps=9.0), torch.nn.ReLU()), "computes something else")):
            with self.assertRaises(strop.BadInput) as caught:
                result.module(other)
            self.assertIn(words, caught.exception.phrase)
        # Another result of that name in this process is another kernel.
        copy = result.save(self.folder / "copy")
        with open(copy / "norm_module.py", "a", encoding="utf-8") as file:
            file.write("\n\ndef _kernel(*tensors):\n    return torch.zeros_like(tensors[0])\n")
        with self.assertRaises(strop.BadInput):
            strop.Result.load(copy).module(module)
        torch.testing.assert_close(fast(x), module(x))
        with self.assertRaises(strop.BadInput) as caught:
            strop.optimize(module, {"input": torch.randn(2, 32)}, outputs={"y": "float32[M]"})
        self.assertIn("are found in it", caught.exception.phrase)

    def test_bad_input_is_an_exception_with_the_programs_words(self):
        with self.assertRaises(strop.BadInput) as caught:
            strop.optimize("nowhere")
        self.assertEqual(caught.exception.phrase, "'nowhere': no such problem")
        self.assertIn("known: ", caught.exception.hint)

    def test_a_missing_program_is_named(self):
        os.environ["STROP_BINARY"] = "/does/not/exist"
        with self.assertRaises(strop.MissingRequirement):
            strop.optimize("softmax")

    def test_a_kernel_is_judged(self):
        folder = write_problem(self.folder, "shifted")
        kernel = folder / "mine.cpp"
        kernel.write_text("broken", encoding="utf-8")
        verdict = strop.judge(kernel)
        self.assertEqual(verdict["verdict"], "compile_failed")

    def test_an_interrupt_ends_the_program_and_saves_its_state(self):
        # A shell starts what runs in the background with interrupts ignored.
        script = ("import signal, strop\nsignal.signal(signal.SIGINT, signal.default_int_handler)\ntry:\n    strop.optimize('softmax', budget='600s', point='small')\n"
                  "except KeyboardInterrupt:\n    print('interrupted')\n")
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        killer = threading.Timer(300, process.kill)
        killer.start()
        while process.poll() is None and not strop.Archive().runs():
            time.sleep(0.05)
        process.send_signal(2)
        self.assertEqual(process.communicate()[0], "interrupted\n")
        killer.cancel()
        self.assertEqual([entry["outcome"] for entry in strop.Archive().runs()], ["interrupted"])


class Decorated(InEmptyFolder):
    def test_optimizes_once_and_falls_back_where_no_shape_was_seen(self):
        decorate = strop.kernel({"x": "float32[M, N]"}, {"small": {"M": 8, "N": 64}}, parameters={"by": 0.0}, **FEW)
        function = decorate(shifted)
        self.assertEqual(function.__name__, "shifted")
        odd = np.random.rand(3, 5).astype(np.float32)
        np.testing.assert_array_equal(function(odd, 1.0), shifted(odd, 1.0))
        self.assertEqual(list(self.folder.iterdir()), [])    # nothing was optimized for it
        seen = np.random.rand(8, 64).astype(np.float32)
        np.testing.assert_allclose(function(seen), shifted(seen, 0), rtol=1e-5)
        runs = strop.Archive(self.folder / "cache" / "kernels" / "strop.db").runs
        self.assertEqual(len(runs()), 1)
        decorate(shifted)(seen)    # as another process would: the winner is there
        self.assertEqual(len(runs()), 1)


class OfAWheel(unittest.TestCase):
    def test_references_run_in_the_python_that_has_the_package(self):
        from strop import program    # pylint: disable=import-outside-toplevel
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(program, "PACKAGE", pathlib.Path(folder)), \
                mock.patch.dict(os.environ):
            os.environ.pop("STROP_PYTHON", None)
            self.assertNotIn("STROP_PYTHON", program.environment())    # a checkout's program looks for its own
            (pathlib.Path(folder) / "bin").mkdir()
            (pathlib.Path(folder) / "bin" / "strop").touch()
            self.assertEqual(program.environment()["STROP_PYTHON"], sys.executable)
            os.environ["STROP_PYTHON"] = "chosen"
            self.assertEqual(program.environment()["STROP_PYTHON"], "chosen")


if __name__ == "__main__":
    unittest.main()
