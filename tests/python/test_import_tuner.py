"""Scripts of Kernel Tuner as T1."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
IMPORT = os.path.join(HERE, "..", "..", "python", "strop", "import_tuner.py")

SCRIPT = '''import numpy
import pycuda.driver as drv
from kernel_tuner import tune_kernel, run_kernel
from kernel_tuner.observers.nvml import NVMLObserver

LIMIT = 1024


def fits(p):
    """No more threads than a block has."""
    return p["x"] * p.y <= LIMIT


def main(most=8):
    n = numpy.int32(1000)
    args = [numpy.zeros(1000, numpy.float32), n]
    answer = run_kernel("scale", "scale.cu", 1000, args, {"x": 1})
    assert answer[1] == n
    drv.Context.synchronize()
    tune_params = {"x": [2**i for i in range(4)], "y": numpy.arange(1, 3), "real": [1, 2.5], "flag": [True, False],
                   "text": ["a", 1]}
    tune_kernel("scale", "scale.cu", (1000, 20), args, tune_params, observers=[NVMLObserver(["power"])],
                restrictions=[RESTRICTIONS])


if __name__ == "__main__":
    main()
'''


FUNCTIONS = """

ONLY_FAST, WIDTHS = False, [2, 4]


def chosen(p):
    'Of an if.'
    bx, by = p["x"], p["y"]
    threads = bx * by
    if threads < 2 or threads > LIMIT:
        return False
    shared = threads * (4 if p["flag"] else 8)
    if bx == 1:
        return shared < 40
    elif by == 2:
        return True
    return shared <= 64
"""


class ImportTuner(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([sys.executable, IMPORT, path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def test_tunables_and_restrictions(self):
        restrictions = '"x % 2 == 0 or flag", lambda p: p["x"] < most, lambda x, real: x > real, lambda p: p["y"] > 1 or p["flag"], fits'
        t1 = self.read(SCRIPT.replace("RESTRICTIONS", restrictions))["t1"]
        space = t1["ConfigurationSpace"]
        self.assertEqual([(one["Name"], one["Type"], one["Values"]) for one in space["TuningParameters"]],
                         [("x", "int", [1, 2, 4, 8]), ("y", "int", [1, 2]), ("real", "float", [1, 2.5]), ("flag", "bool", [True, False]),
                          ("text", "string", ["a", "1"])])
        self.assertEqual([one["Expression"] for one in space["Conditions"]],
                         ["x % 2 == 0 or flag", "x < 8", "x > real", "y > 1 or flag", "x * y <= 1024"])
        self.assertEqual(space["Conditions"][1]["Parameters"], ["x"])
        self.assertEqual(t1["KernelSpecification"], {"KernelName": "scale", "ProblemSize": [1000, 20]})

    def test_functions_of_several_statements(self):
        restrictions = ('chosen, lambda p: (p["x"] != 2) if ONLY_FAST else True, lambda p: p["x"] in WIDTHS, '
                        'lambda p: p["y"] < 2 if p["flag"] else p["x"] > 1')
        text = SCRIPT.replace("LIMIT = 1024\n", "LIMIT = 1024\n" + FUNCTIONS).replace("RESTRICTIONS", restrictions)
        said = [one["Expression"] for one in self.read(text)["t1"]["ConfigurationSpace"]["Conditions"]]
        self.assertEqual(said[1:], ["True", "x in (2, 4)", "flag and y < 2 or (not flag and x > 1)"])
        self.assertNotIn(" if ", said[0])

        def chosen(x, y, flag):
            shared = x * y * (4 if flag else 8)
            return 2 <= x * y <= 1024 and (shared < 40 if x == 1 else y == 2 or shared <= 64)

        for x, y, flag in itertools.product((1, 2, 4, 8), (1, 2), (True, False)):
            found = eval(said[0], {"x": x, "y": y, "flag": flag})  # pylint: disable=eval-used
            self.assertEqual(bool(found), chosen(x, y, flag), (x, y, flag, said[0]))

    def test_what_is_made_of_directives(self):
        made = ("def main(most=8):\n    from kernel_tuner.utils.directives import Code, Cxx, OpenACC, process_directives\n"
                "    code, made = process_directives(Code(OpenACC(), Cxx()), '#pragma tuner start scale')\n"
                "    answer = [made['scale'][0] + 2 * made['scale'][1], code['scale']]\n")
        text = SCRIPT.replace("RESTRICTIONS", "").replace("def main(most=8):\n", made)
        self.assertEqual(self.read(text)["t1"]["KernelSpecification"]["ProblemSize"], [1000, 20])

    def test_a_restriction_for_all(self):
        t1 = self.read(SCRIPT.replace("[RESTRICTIONS]", "lambda p: p['x'] <= 4"))["t1"]
        self.assertEqual([one["Expression"] for one in t1["ConfigurationSpace"]["Conditions"]], ["x <= 4"])
        self.assertEqual(self.read(SCRIPT.replace("[RESTRICTIONS]", "None"))["t1"]["ConfigurationSpace"]["Conditions"], [])

    def test_what_cannot_be_said(self):
        for changed, said in (
                (SCRIPT.replace("RESTRICTIONS", "print"), "script.py: a restriction that is not an expression"),
                (SCRIPT.replace("RESTRICTIONS", "main"), r"script.py:14: a restriction that is not an expression"),
                (SCRIPT.replace("[2**i for i in range(4)]", "[]").replace("RESTRICTIONS", ""), r"script.py: tune_params\['x'\] is not a list of values"),
                (SCRIPT.replace("[2**i for i in range(4)]", "[None]").replace("RESTRICTIONS", ""), r"script.py: tune_params\['x'\] has None among its values"),
                (SCRIPT.replace("main()\n", "pass\n"), "script.py: does not call tune_kernel"),
                (SCRIPT.replace("numpy.int32", "numpy.int23"), r"script.py:15: AttributeError: module 'numpy' has no attribute"),
                (SCRIPT + "x = (\n", r"script.py:\d+: '\(' was never closed"),
                ("exit(3)\n", "script.py:1: SystemExit: 3"),
        ):
            with self.subTest(said):
                self.assertRegex(self.read(changed)["error"], said)


if __name__ == "__main__":
    unittest.main()
