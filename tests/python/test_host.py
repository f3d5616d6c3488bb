"""The process of the reference: what it does with results that are not as declared."""

import importlib.util
import os
import sys
import tempfile
import unittest

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from strop import host  # noqa: E402


class Types(unittest.TestCase):
    def stored(self, result, declared):
        """What is said, and what the judge reads."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("def f(x):\n    return x\n")
            spec = {"reference": path, "function": "f", "framework": "numpy",
                    "outputs": [{"name": "y", "dtype": declared}]}
            reference = host.Reference(spec)
            memory = bytearray(8 * result.size)
            text = reference.store((result,), {"outputs": [{"shape": list(result.shape), "offset": 0}]}, memory, False)
            return text, reference.note.rpartition(": ")[2], np.frombuffer(memory, np.float64)

    def test_a_wider_result_is_rounded(self):
        text, note, values = self.stored(np.full(3, 1 / 3), "float32")
        self.assertEqual((text, note), ("", "returns float64 for 'y', rounded to float32"))
        self.assertEqual(values[0], np.float32(1 / 3))

    def test_a_narrower_or_another_type_is_refused(self):
        for result, declared in ((np.ones(3, np.float32), "float64"), (np.ones(3, np.int32), "float32")):
            text, note, _ = self.stored(result, declared)
            self.assertIn(f"returns dtype {result.dtype} for 'y'", text)
            self.assertEqual(note, "")


class Frameworks(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("jax"), "jax is installed")
    def test_one_that_is_missing_is_not_the_baseline_of_its_name(self):
        """softmax/jax.py imports jax: itself, where only its folder is searched."""
        path = os.path.join(ROOT, "problems", "softmax", "jax.py")
        spec = {"reference": path, "function": "softmax", "framework": "jax", "threads": 1, "inputs": [], "parameters": []}
        with self.assertRaises(ModuleNotFoundError):
            host.Baseline(spec)


if __name__ == "__main__":
    unittest.main()
