"""TileLang modules that `strop write` gives: TileLang lowers them to CUDA, and in the CUDA emulator that computes what
NumPy does."""

import json
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "python")]

from test_triton import BINARY, write_problem  # noqa: E402

HAVE_TILELANG = all(importlib.util.find_spec(name) for name in ("torch", "tilelang"))
HAVE_CLANG = shutil.which("clang++-19") or shutil.which("clang++")
CHECKER = os.path.join(HERE, "tilelang_checker.py")
# So small that there are several of each, and no smaller than twice the threads.
SIZES = {"BLOCK": 256, "CHUNK": 256, "TILE_M": 32, "TILE_N": 32, "TILE_K": 16}


def strop(*words):
    return subprocess.run([BINARY, *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "STROP_HOME": ROOT})


@unittest.skipUnless(HAVE_TILELANG, "torch and tilelang are not installed: ./strop setup torch tilelang")
class Lowered(unittest.TestCase):
    def lowered(self, name, ids, folder, **settings):
        """A .cu for each strategy, for the computation's first point, which becomes the folder's only one."""
        dims = write_problem(name, folder)["points"][0]["dims"]
        with open(os.path.join(folder, "problem.yaml"), encoding="utf-8") as file:
            problem = json.load(file)
        problem.update(shapes={"one": dims}, range={dimension: [extent, extent] for dimension, extent in dims.items()})
        with open(os.path.join(folder, "problem.yaml"), "w", encoding="utf-8") as file:
            json.dump(problem, file)
        written = json.loads(strop("write", folder, "--language", "tilelang", "--json").stdout)
        strategies = [one for one in written["strategies"] if one["id"] in ids]
        self.assertEqual(len(strategies), len(ids))
        work = [{"name": name, "call": written["call"], "dims": dims, "settings": {**SIZES, **settings},
                 "strategies": strategies, "folder": folder}]
        done = subprocess.run([sys.executable, CHECKER], input=json.dumps(work), capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [os.path.join(folder, one + ".cu") for one in ids]

    def check(self, name, *ids, **settings):
        if not HAVE_CLANG:
            self.skipTest("clang is missing")
        with tempfile.TemporaryDirectory() as folder:
            files = self.lowered(name, ids, folder, **settings)
            done = strop("judge", *files, "--problem", folder, "--device", "emulated", "--json")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rows(self):
        self.check("top_share", "block_keeps_row", "block_per_row")

    def test_scans(self):
        self.check("running_maximum_gap", "block_scans")

    def test_products(self):
        self.check("covariance", "fused_stages", NUM_STAGES=3)


if __name__ == "__main__":
    unittest.main()
