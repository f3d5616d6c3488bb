"""scripts/gpu where there is no GPU: its arguments, what it makes of processes that die, and its table."""

import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest
import contextlib

from tests.cli.strop_cli import BINARY, HOME, InFolder, strop

SCRIPT = os.path.join(HOME, "scripts", "gpu")

# Does as its request says for each kernel; what it skips, an earlier process had begun.
STAND_IN = """import json, os, sys, time
request = json.load(open(sys.argv[1]))
for number, what in enumerate(request["kernels"]):
    if number < request["skip"]:
        continue
    print(json.dumps({"begin": {"strategy": what}, "number": number}), flush=True)
    if what == "dies":
        print("CUDA error: an illegal memory access", file=sys.stderr)
        os.abort()
    if what == "hangs":
        time.sleep(100)
    print(json.dumps({"strategy": what, "verdict": "ok", "evidence": ""}), flush=True)
print(json.dumps({"end": True}), flush=True)
"""


def module(name, path):
    loader = importlib.machinery.SourceFileLoader(name, path)
    spec = importlib.util.spec_from_loader(name, loader)
    loaded = importlib.util.module_from_spec(spec)
    loader.exec_module(loaded)
    return loaded


class Gpu(InFolder):
    def gpu(self, *words):
        return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False, timeout=60,
                              cwd=self.folder, env={**os.environ, "PATH": "/none"})

    def program(self):
        folder = self.folder / "strop" / "bin"
        folder.mkdir(parents=True)
        (folder / "strop").symlink_to(os.path.abspath(BINARY))
        return str(folder.parent)

    def refused(self, words, code, phrase):
        done = self.gpu(*words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertEqual(lines[0][:len("strop: " + phrase)], "strop: " + phrase)
        self.assertTrue(lines[1].startswith("hint: "))

    def test_bad_input(self):
        (self.folder / "no.tar.gz").write_text("not an archive")
        self.refused(["--strop", "nowhere"], 2, "nowhere: there is no strop in it")
        self.refused(["--archive", "no.tar.gz"], 2, "no.tar.gz: is no archive: ")
        self.refused(["--archive", "none.tar.gz"], 2, "none.tar.gz: is no archive: ")
        self.refused(["--minutes", "0.1"], 2, "--minutes: 0.1 does not fit")
        self.refused(["--json", "no/such/rows.json"], 2, "no/such/rows.json: its folder does not exist")

    def test_without_a_device(self):
        self.refused(["--strop", self.program(), "--json", "rows.json"], 3,
                     "no NVIDIA GPU: this machine has no nvidia-smi")
        self.assertFalse((self.folder / "rows.json").exists())


class Steps(InFolder):
    def setUp(self):
        super().setUp()
        self.script = module("scripts_gpu", SCRIPT)
        self.script.CHILD = self.folder / "stand_in.py"
        self.script.CHILD.write_text(STAND_IN)

    def rows(self, *kernels, seconds=20):
        return [(row.get("strategy"), row["verdict"]) for row in self.script.from_child(
            {"kernels": kernels}, self.folder, time.monotonic() + seconds)]

    def test_a_kernel_that_dies_is_a_row(self):
        self.assertEqual(self.rows("a", "dies", "b"), [("a", "ok"), ("dies", "crashed"), ("b", "ok")])

    def test_a_kernel_that_hangs_ends_with_its_share(self):
        self.assertEqual(self.rows("a", "hangs", "b", seconds=2), [("a", "ok"), ("hangs", "timed_out")])

    def run_steps(self, *steps, limit=20):
        rows = self.script.Rows()
        with contextlib.redirect_stdout(io.StringIO()):
            job = self.script.Job(None, self.folder, [], rows, {})
            self.script.run_steps(job, [(step, 0.5) for step in steps], limit)
        return [(row["step"], row["verdict"], row["evidence"]) for row in rows.all]

    def test_a_step_that_fails_is_a_row_and_not_the_end(self):
        deadlines = []

        def breaks(job, deadline):
            deadlines.append(deadline - time.monotonic())
            raise KeyError("x")

        def holds(job, deadline):
            deadlines.append(deadline - time.monotonic())
            job.rows.add("holds", "ok")

        def stopped(job, deadline):
            raise self.script.Stop

        self.assertEqual(self.run_steps(breaks, holds), [("breaks", "failed", "KeyError: 'x'"), ("holds", "ok", "")])
        self.assertLess(deadlines[0], 10.1)
        self.assertGreater(deadlines[1], 10.1)  # it has what the first one left
        self.assertEqual([row[:2] for row in self.run_steps(stopped, holds)], [("stopped", "timed_out")])

    def test_table(self):
        of_cuda = {"problem": "softmax", "language": "cuda"}
        rows = [{"step": "correctness", **of_cuda, "strategy": "a", "verdict": "ok", "evidence": ""},
                {"step": "correctness", **of_cuda, "strategy": "b", "verdict": "wrong",
                 "evidence": "small: off by 1|2"},
                {"step": "bench", "problem": "softmax", "shape": "small", "language": "cuda", "strategy": "a",
                 "verdict": "timed", "evidence": "", "microseconds": 4.0, "roofline_share": 0.5,
                 "baselines": {"pytorch": 12.0, "torch.compile": 10.0, "jax": 8.0}},
                {"step": "exploits", "verdict": "skipped", "evidence": "none"}]
        text = self.script.markdown_of({"device": "a GPU"}, rows)
        self.assertIn("- device: a GPU\n", text)
        self.assertIn("not under the referee", text)
        self.assertIn("| softmax | cuda | 1 | 1 | b wrong: small: off by 1/2 |\n", text)
        self.assertIn("| softmax | small | a | 4.00 µs | 50 % | jax | 8.00 µs | 2.00× | 2.50× |\n", text)
        self.assertIn("- exploits : skipped none\n", text)
        self.assertIn("nothing was timed", self.script.markdown_of({}, []))

    def test_defaults_of_tunables(self):
        source = "// strop:tune A = 64 | 32\n// strop:tune B = 4\n// strop:require A > B\n"
        self.assertEqual(self.script.defaults_of(source), ["-DA=64", "-DB=4"])


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Kernels(InFolder):
    """What the process does that calls kernels, with a processor's tensors in place of a device's."""

    def test_right_and_wrong_ones(self):
        document = json.loads(strop("write", "softmax", "--language", "triton", "--json").stdout)
        document["call"]["shapes"] = {"small": {"M": 3, "N": 5}, "wide": {"M": 1, "N": 5000}}
        document["strategies"] = [
            {"id": "good", "source": "def softmax(x, y=None):\n    y.copy_(x.softmax(1))\n"},
            {"id": "narrow", "condition": "N <= 4096", "source": "def softmax(x, y=None):\n    y.copy_(x.softmax(1))\n"},
            {"id": "wrong", "source": "def softmax(x, y=None):\n    y.copy_(x.softmax(0))\n"},
            {"id": "lazy", "source": "def softmax(x, y=None):\n    pass\n"},
            {"id": "raises", "source": "def softmax(x, y=None):\n    raise ValueError('no')\n"}]
        code = ("import sys, torch, pathlib\nsys.path.insert(0, sys.argv[2])\nimport gpu_kernels\n"
                "gpu_kernels.DEVICE = 'cpu'\ntorch.cuda.synchronize = lambda: None\ngpu_kernels.main()\n")
        request = self.folder / "request.json"
        request.write_text(json.dumps({"document": document, "skip": 0}))
        done = subprocess.run([sys.executable, "-c", code, str(request), os.path.join(HOME, "scripts")],
                              capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        rows = {row["strategy"]: row for row in lines if "strategy" in row}
        self.assertEqual({name: row["verdict"] for name, row in rows.items()},
                         {"good": "ok", "narrow": "ok", "wrong": "wrong", "lazy": "wrong", "raises": "failed"})
        self.assertEqual((rows["good"]["shapes"], rows["narrow"]["shapes"]), (["small", "wide"], ["small"]))
        self.assertEqual(lines[-1], {"end": True})


if __name__ == "__main__":
    unittest.main()
