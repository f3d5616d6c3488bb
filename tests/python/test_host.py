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

    def test_numbers_of_numpy_take_the_precision_of_the_arrays(self):
        source = ("import math\nimport numpy as np\nfrom numpy import cos\n\nSTEP = np.sqrt(0.5)\n\n\n"
                  "def f(x):\n    y = x * np.sqrt(0.01) + cos(2.0) * STEP * np.linalg.norm([3.0, 4.0])\n"
                  "    return np.add.reduce(y, axis=0) + np.mean(y, dtype=np.float32) + np.float32(1) * np.pi\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)
            reference = host.Reference({"reference": path, "function": "f", "framework": "numpy"})
            x = np.ones((3, 2), np.float32)
            sys.path.insert(0, os.path.dirname(host.__file__))
            self.assertEqual(reference.of_arrays([x], [], False).dtype, np.float32)
            self.assertEqual(reference.of_arrays([x], [], True).dtype, np.float64)  # and the module is as it was
            self.assertEqual(reference.of_arrays([x.astype(np.float64)], [], False).dtype, np.float64)

    def test_parts_are_ordered_however_they_are_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("import numpy as np\n\n\ndef f(x):\n"
                           "    return np.argpartition(x, 2), np.argpartition(x, kth=2, axis=0)\n")
            reference = host.Reference({"reference": path, "function": "f", "framework": "numpy"})
            sys.path.insert(0, os.path.dirname(host.__file__))
            for places in reference.of_arrays([np.array([1.0, 0, 1, 0, 1])], [], True):
                self.assertEqual(list(places), [1, 3, 0, 2, 4])

    def test_a_narrower_or_another_type_is_refused(self):
        for result, declared in ((np.ones(3, np.float32), "float64"), (np.ones(3, np.int32), "float32")):
            text, note, _ = self.stored(result, declared)
            self.assertIn(f"returns dtype {result.dtype} for 'y'", text)
            self.assertEqual(note, "")


class Baselines(unittest.TestCase):
    def called(self, source, inputs):
        """One in NumPy, over one array for each of these names: what it returns; the arrays cannot be written."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)
            memory = [os.memfd_create(name) for name in ("inputs", "outputs")]
            for descriptor in memory:
                os.ftruncate(descriptor, 4096)
            os.pwrite(memory[0], np.arange(4, dtype=np.float32).tobytes(), 0)
            place = {"shape": [4], "offset": 0}
            spec = {"reference": path, "function": "f", "framework": "numpy", "threads": 1, "parameters": [],
                    "inputs": [{"name": name, "dtype": "float32"} for name in inputs],
                    "outputs": [{"name": "y", "dtype": "float32"}],
                    "points": [{"input_fd": memory[0], "output_fd": memory[1],
                                "sets": [{"inputs": [place] * len(inputs), "outputs": [place]}]}]}
            sys.path.insert(0, os.path.dirname(host.__file__))
            baseline = host.Baseline(spec)
            baseline.prepare(0)
            baseline.call(0, 3, 0)
            return list(baseline.last[0])

    def test_one_that_changes_its_inputs_works_on_copies(self):
        source = "def f(x):\n    x *= 2\n    return x + 1\n"
        self.assertEqual(self.called(source, ["x"]), [1, 3, 5, 7])

    def test_an_input_of_the_name_out_is_no_place_for_a_result(self):
        self.assertEqual(self.called("def f(x, out):\n    return x + out\n", ["x", "out"]), [0, 2, 4, 6])

    def test_an_argument_behind_the_inputs_is(self):
        source = "import numpy as np\ndef f(x, out=None):\n    return np.add(x, 1, out=out)\n"
        self.assertEqual(self.called(source, ["x"]), [1, 2, 3, 4])


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
