"""scripts/bench --modules with a stand-in for the program, and the form of the modules."""

import ast
import json
import os
import pathlib
import subprocess
import sys
import unittest

from tests.cli.strop_cli import HOME, InFolder

MODULES = pathlib.Path(HOME, "benchmarks", "modules")

# Says what it was asked; one module is refused, one ends without a verified kernel.
STAND_IN = """#!{python}
import json, pathlib, sys
file = pathlib.Path(sys.argv[2]).stem
with open({log!r}, "a") as log:
    print(sys.argv[1], file, file=log)
if file == "bool_logic":
    print("! a note\\nstrop: bool_logic.py:9: no such thing\\nhint: none", file=sys.stderr)
    sys.exit(2)
if sys.argv[1] == "write":
    print(json.dumps({{"strategies": [{{"id": "plain_stages"}}, {{"id": "plain_stages+more"}}]}}))
    sys.exit(0)
verified, times = file != "int64_sum", 2.0 if file == "float64_matmul" else 0.5
ratio = {{"baseline": "pytorch", "ratio": times, "low": times, "high": times}}
shape = {{"label": "file", "speedup": ratio, "speedups": {{"pytorch": ratio}}, "roofline_share": 0.25}}
print(json.dumps({{"run": "r", "outcome": "improved", "verified": verified, "verification": "", "note": "not right",
    "headline": {{}}, "shapes": [shape], "in_process": {{"speedup": 1.5}}, "evaluations": {{}},
    "missing_baselines": [], "machine": {{}}}}))
"""


class Modules(InFolder):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.binary = self.folder / "stand_in"
        self.binary.write_text(STAND_IN.format(python=sys.executable, log=str(self.log)))
        self.binary.chmod(0o755)

    def bench(self, *words):
        done = subprocess.run([sys.executable, os.path.join(HOME, "scripts", "bench"), "--modules", "--out",
                               str(self.folder / "out"), *words], capture_output=True, text=True, check=False,
                              timeout=100, env={**os.environ, "STROP_BINARY": str(self.binary)})
        return done, self.log.read_text().splitlines() if self.log.exists() else []

    def test_a_family_and_once_only(self):
        file = self.folder / "modules.json"
        done, asked = self.bench("--family", "dtype", "--json", str(file))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("dtype/bool_logic  not verified: bool_logic.py:9: no such thing", done.stdout)
        self.assertIn("dtype/int64_sum  not verified: not right", done.stdout)
        self.assertIn("dtype/float64_matmul  2.00× the best baseline  1.50× in its process  [pytorch 2.00×]   25% of the "
                      "roofline", done.stdout)
        summary = done.stdout.splitlines()[-1]
        self.assertIn("all  6 of 8 correct, 0.63× the best baseline, worst 0.50×", summary)
        self.assertEqual(len(json.loads(file.read_text())["modules"]), len(asked))
        again, still = self.bench("--family", "dtype", "--json", str(file))
        self.assertEqual((again.stdout, still), (done.stdout, asked))
        _, more = self.bench("dtype/int64_sum", "--json", str(file), "--budget", "5s")
        self.assertEqual(more, asked + ["optimize int64_sum"])

    def test_cover_measures_nothing(self):
        done, asked = self.bench("--cover", "--family", "dtype")
        self.assertEqual(done.returncode, 1)
        self.assertIn("dtype/bool_logic  refused: bool_logic.py:9: no such thing", done.stdout)
        self.assertIn("dtype/int64_sum  plain_stages\n", done.stdout)
        self.assertIn("dtype  7 of 8 covered", done.stdout)
        self.assertEqual({line.split()[0] for line in asked}, {"write"})

    def test_what_is_not_there(self):
        for words, phrase in ((("nothing",), "nothing: there is no such module"), (("--family", "x"), "--family x: there is ")):
            done, asked = self.bench(*words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("bench: " + phrase, done.stderr)
            self.assertEqual(asked, [])


class Files(unittest.TestCase):
    def test_every_module_has_the_form(self):
        files = sorted(MODULES.glob("*/*.py"))
        self.assertGreaterEqual(len(files), 120)
        for file in files:
            with self.subTest(file.relative_to(MODULES)):
                tree = ast.parse(file.read_text())
                names = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
                self.assertTrue(ast.get_docstring(tree))
                self.assertLessEqual({"Model", "get_inputs"}, names)


if __name__ == "__main__":
    unittest.main()
