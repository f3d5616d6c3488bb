"""Triton modules that `strop write` gives: in Triton's interpreter they compute what NumPy does."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "python")]

import computations  # noqa: E402
import export_computations  # noqa: E402

BINARY = os.environ.get("STROP_BINARY", os.path.join(ROOT, "build", "strop"))
HAVE_TRITON = all(importlib.util.find_spec(name) for name in ("torch", "triton"))
# The one process that has the interpreter; what it checks comes in as JSON.
CHECKER = os.path.join(HERE, "triton_checker.py")


def write_problem(name, folder):
    """The computation as a problem folder."""
    inputs, points = computations.COMPUTATIONS[name]
    entries = {}
    for entry in export_computations.parse_inputs(inputs):
        told = {"dtype": entry["dtype"], "shape": entry["shape"]}
        if entry["limit"]:
            told.update(fill="integers", limit=entry["limit"])
        elif entry["dtype"] == "bool":
            told["fill"] = "zeros_ones"
        entries[entry["name"]] = told
    exported = export_computations.export(name)
    nodes = json.loads(exported["graph"])
    shapes = [nodes["nodes"][output]["shape"] for output in nodes["outputs"]]
    # NumPy's scalars are wider than the arrays that they come from.
    types = [dtype.replace("float64", "float32") for dtype in exported["outputs"]]
    problem = {
        "name": name,
        "inputs": entries,
        "outputs": {f"y{k}": {"dtype": types[k], "shape": shape} for k, shape in enumerate(shapes)},
        "shapes": {f"point{k}": point["dims"] for k, point in enumerate(exported["points"])},
    }
    with open(os.path.join(folder, "problem.yaml"), "w", encoding="utf-8") as file:
        json.dump(problem, file)  # YAML, too
    with open(os.path.join(folder, "reference.py"), "w", encoding="utf-8") as file, open(
        computations.__file__, encoding="utf-8"
    ) as source:
        file.write(source.read())
    return exported


def written(problem, language="triton"):
    command = [BINARY, "write", problem, "--language", language, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "STROP_HOME": ROOT}, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)["strategies"]


@unittest.skipUnless(HAVE_TRITON, "torch and triton are not installed")
class Interpreter(unittest.TestCase):
    def check(self, names):
        work = []
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                exported = write_problem(name, folder)
                # Variants exchange one launch for another that some other computation has, too.
                strategies = [one for one in written(folder) if "parent" not in one]
            work.append({**exported, "strategies": strategies})
        done = subprocess.run([sys.executable, CHECKER], input=json.dumps(work), capture_output=True, text=True,
                              env={**os.environ, "TRITON_INTERPRET": "1"}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rows(self):
        self.check(["max_and_place", "running_maximum_gap", "cumulative_share"])

    def test_products(self):
        self.check(["bilinear", "triangular_product"])

    def test_windows(self):
        self.check(["moving_average"])

    def test_places(self):
        self.check(["embedding_norm", "rotary", "transposes"])


if __name__ == "__main__":
    unittest.main()
