"""Files with PyTorch modules, from outside."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

from tests.cli.strop_cli import HOME, InFolder, strop

HAVE_TORCH = importlib.util.find_spec("torch") is not None
MODULE = os.path.join(HOME, "tests", "python", "modules", "conv_norm.py")

@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Import(InFolder):
    def test_a_folder_that_can_be_edited(self):
        done = strop("import", MODULE, "block", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("block/problem.yaml: 6 inputs, 1 output, 3 shapes", done.stdout)
        self.assertIn("! training mode: bn normalizes with the statistics of the batch", done.stderr)
        self.assertEqual(pathlib.Path(self.folder, "block", "original.py").read_text(), pathlib.Path(MODULE).read_text())
        again = strop("import", MODULE, "block", cwd=self.folder)
        self.assertEqual(again.returncode, 2)
        self.assertIn("there is a problem already", again.stderr)

    def test_what_is_no_module(self):
        file = pathlib.Path(self.folder, "plain.py")
        file.write_text("x = 1\n")
        for words in (("optimize", str(file)), ("import", str(file), "folder")):
            done = strop(*words, cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("plain.py: no class 'Model' that is an nn.Module", done.stderr)
            self.assertIn("hint: the file needs a class Model(nn.Module)", done.stderr)
        done = strop("optimize", "missing.py", cwd=self.folder)
        self.assertEqual(done.returncode, 2)


DEFINITION = {
    "name": "scaled_h64", "op_type": "scale",
    "axes": {"rows": {"type": "var"}, "width": {"type": "const", "value": 64}, "twice": {"type": "expr", "expression": "2*width"}},
    "inputs": {"x": {"shape": ["rows", "width"], "dtype": "bfloat16"}, "scale": {"shape": None, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "twice"], "dtype": "float32"}},
    "reference": "import torch\n\n\ndef run(x, scale):\n    return {'y': torch.cat([x, x], dim=1) * scale}\n",
}

TASK = """import torch
from task import input_t, output_t
from utils import make_match_reference, verbose_allclose


def generate_input(size: int, width: int, seed: int) -> input_t:
    made = torch.Generator(device="cuda")
    made.manual_seed(seed)
    x = torch.randn(size, width, device="cuda", dtype=torch.float16, generator=made)
    return x, torch.ones(width, device="cuda")


def ref_kernel(data: input_t) -> output_t:
    x, scale = data
    return x * scale + 1


check_implementation = make_match_reference(ref_kernel)
"""

CASES = """files:
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "utils.py", "source": "../utils.py"}
lang: "py"
tests:
  - {"size": 8, "width": 12, "seed": 1}
  - {"size": 8, "width": 12, "seed": 2}
benchmarks:
  - {"size": 32, "width": 24, "seed": 3}
ranking_by: "geom"
"""


def workload(rows, scale=0.5, **more):
    inputs = {"x": {"type": "random"}, "scale": {"type": "scalar", "value": scale}, **more}
    return {"definition": "scaled_h64", "workload": {"uuid": str(rows), "axes": {"rows": rows}, "inputs": inputs},
            "solution": None, "evaluation": None}


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class OfOthers(InFolder):
    def definition(self, workloads=(), **changes):
        (self.folder / "scaled_h64.json").write_text(json.dumps({**DEFINITION, **changes}), encoding="utf-8")
        (self.folder / "scaled_h64.jsonl").write_text("".join(json.dumps(one) + "\n" for one in workloads), encoding="utf-8")

    def task(self, reference=TASK, cases=CASES):
        place = self.folder / "scaled_py"
        place.mkdir(exist_ok=True)
        (place / "reference.py").write_text(reference, encoding="utf-8")
        (place / "task.yml").write_text(cases, encoding="utf-8")

    def right(self, problem):
        """The playbook has something to write, so the reference was traced."""
        done = strop("write", problem, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_definition_with_workloads(self):
        self.definition([workload(32), workload(7), workload(7)])
        done = strop("import", "scaled_h64.json", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "made/problem.yaml: 1 input, 1 output, 2 shapes\n")
        self.assertEqual(done.stderr.splitlines()[:1], ["! the scalar 'scale' is 0.5, as in its workloads"])
        text = (self.folder / "made" / "problem.yaml").read_text(encoding="utf-8")
        self.assertIn("  x: {dtype: bfloat16, shape: [rows, 64]}\n", text)
        self.assertIn("  y: {dtype: float32, shape: [rows, 2 * 64]}\n", text)
        self.assertIn('  "7": {rows: 7}\n  "32": {rows: 32}\n', text)
        self.right("made")

    def test_a_result_of_a_definition_is_a_solution(self):
        self.definition([workload(7)])
        done = strop("optimize", "scaled_h64.json", "--budget", "4s", "--evaluations", "2", "--json", "--quiet",
                     cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        run = json.loads(done.stdout)["run"]
        self.assertEqual(strop("export", run, "--solution", "solution.json", cwd=self.folder).returncode, 0)
        solution = json.loads((self.folder / "solution.json").read_text(encoding="utf-8"))
        self.assertEqual((solution["definition"], solution["spec"]["entry_point"]), ("scaled_h64", "main.py::run"))
        place = self.folder / "unpacked"
        place.mkdir()
        for source in solution["sources"]:
            (place / source["path"]).write_text(source["content"], encoding="utf-8")
        script = ("import torch, main\nx = torch.randn(5, 64).bfloat16()\ny = main.run(x, 0.5)\n"
                  "assert torch.allclose(y, torch.cat([x, x], 1).float() / 2), y\n"
                  "try:\n    main.run(x, 2.0)\nexcept ValueError as error:\n    print(error)\n")
        tried = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=place)
        self.assertEqual(tried.stdout, "the kernel is for scale = 0.5, not 2.0\n", tried.stderr)
        self.problem("shifted")
        strop("optimize", "shifted", "--budget", "1ms", "--quiet", cwd=self.folder)
        done = strop("export", "shifted", "--solution", "other.json", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("its problem is no definition of flashinfer-bench", done.stderr)

    def test_axes_that_read_other_axes(self):
        axes = {"twice": {"type": "expr", "expression": "2*more"}, "more": {"type": "expr", "expression": "width - 32"}}
        self.definition([workload(7)], axes={**axes, **{key: DEFINITION["axes"][key] for key in ("rows", "width")}},
                        reference="import torch\n\n\ndef run(x, scale):\n    return {'y': x * scale}\n")
        done = strop("import", "scaled_h64.json", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.right("made")
        self.definition([workload(7)], axes=DEFINITION["axes"] | {"more": {"type": "expr", "expression": "twice"},
                                                                  "twice": {"type": "expr", "expression": "more"}})
        done = strop("import", "scaled_h64.json", "other", cwd=self.folder)
        self.assertIn("axes that read each other: twice, more", done.stderr)

    def test_what_failed_does_not_stand_in_the_way_of_the_next_try(self):
        self.definition([workload(7)], outputs=DEFINITION["outputs"] | {"y": {"shape": ["rows", "height"], "dtype": "float32"}})
        failed = strop("import", "scaled_h64.json", "made", cwd=self.folder)
        self.assertEqual((failed.returncode, (self.folder / "made").exists()), (2, False), failed.stderr)
        self.definition([workload(7)])
        done = strop("import", "scaled_h64.json", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_definition_that_is_none(self):
        other = {"x": {"type": "safetensors", "path": "x.safetensors", "tensor_key": "x"}}
        for workloads, changes, said in (
                ([], {}, "the scalar 'scale' has no value"),
                ([workload(7), workload(8, 0.25)], {}, "the scalar 'scale' has 2 values in its workloads"),
                ([workload(7, **other)], {}, "'x' is read from a file in its workloads"),
                ([workload(7)], {"reference": "def go(x): return x"}, "the reference has no function 'run'"),
                ([workload(7)], {"axes": {"rows": {"type": "vary"}}}, "axis 'rows' is neither const with a value, var nor expr"),
                ([workload(7)], {"outputs": None}, "has no 'outputs'")):
            with self.subTest(said):
                self.definition(workloads, **changes)
                done = strop("import", "scaled_h64.json", "made", cwd=self.folder)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Astrop: \S+scaled_h64\.json: " + said + r"[^\n]*\nhint: [^\n]+\n\Z")

    def test_a_task(self):
        self.task()
        done = strop("import", "scaled_py", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "made" / "problem.yaml").read_text(encoding="utf-8")
        self.assertRegex(text, r"shapes:\n  8_12: \{M: 8, N: 12\}\n  32_24: \{M: 32, N: 24\}\n")
        self.assertEqual((self.folder / "made" / "task_reference.py").read_text(encoding="utf-8"), TASK)
        self.right("made")

    def test_a_task_that_names_its_device_runs_as_if_it_named_another(self):
        self.task(TASK.replace("x * scale + 1", "x * scale.half().to('cuda') + torch.ones(1, device='cuda:0', "
                                                "dtype=torch.bfloat16).cuda()"))
        done = strop("import", "scaled_py", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        original = (self.folder / "made" / "original.py").read_text(encoding="utf-8")
        self.assertEqual(original.count("OnProcessor()"), 1, "only where inputs are made, which is not timed")
        self.right("made")

    def test_a_task_that_is_none(self):
        for reference, cases, said in (
                (TASK.replace("def ref_kernel", "def other"), CASES, r"reference\.py:\d+: NameError.*|reference\.py: no function 'ref_kernel'"),
                (TASK, "lang: py\n", r"scaled_py/task\.yml:1: no tests and no benchmarks"),
                (TASK, "multi_gpu: true\n" + CASES, r"scaled_py/task\.yml:1: a task for several GPUs"),
                (TASK, CASES.replace('"source": "reference.py"', '"source": "../../reference.py"'),
                 r"scaled_py/task\.yml:2: reference\.py is '\.\./\.\./reference\.py'"),
                (TASK.replace("x * scale + 1", "torch.cuda.synchronize()"), CASES,
                 r"reference\.py:\d+: on the processor, ref_kernel raises AssertionError"),
                (TASK, CASES.replace("size", "length"), r"reference\.py: generate_input raises TypeError")):
            with self.subTest(said):
                self.task(reference, cases)
                done = strop("import", "scaled_py", "made", cwd=self.folder)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"\Astrop: (\S*/)?(" + said + r")[^\n]*\nhint: [^\n]+\n\Z")

    def test_a_task_that_writes_into_an_input(self):
        self.task(TASK.replace("return x * scale + 1", "scale[...] = x.sum(0)\n    return scale"))
        done = strop("import", "scaled_py", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("one.clone() if i in [1] else one", (self.folder / "made" / "original.py").read_text(encoding="utf-8"))

    def test_a_task_that_uses_what_the_evaluator_has(self):
        inside = "    with DeterministicContext(), Quiet(level=1):\n        return x * scale + 1"
        changed = TASK.replace("    return x * scale + 1", inside).replace("def ref", "@marked\ndef ref")
        self.task(changed.replace("verbose_allclose", "DeterministicContext, Quiet, marked"))
        done = strop("import", "scaled_py", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.right("made")

    def test_a_task_with_a_dataclass_and_a_count_of_values(self):
        config = "import dataclasses\n\n\n@dataclasses.dataclass\nclass Config:\n    bins: 'int' = 40\n\n\ndef generate_input"
        counted = "places = (x.clamp(0, 3) * 9).long().flatten()\n    return torch.bincount(places, minlength=Config().bins)"
        self.task(TASK.replace("def generate_input", config).replace("return x * scale + 1", counted))
        done = strop("import", "scaled_py", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.right("made")

    def test_a_task_whose_cases_are_far_apart(self):
        place = self.folder / "wide"
        place.mkdir()
        (place / "task.yml").write_text("tests:\n  - {size: 16}\nbenchmarks:\n  - {size: 1024}\n", encoding="utf-8")
        (place / "reference.py").write_text("import torch\ndef generate_input(size):\n    return torch.randn(size, 8)\n"
                                            "def ref_kernel(data):\n    return data * 2\n", encoding="utf-8")
        done = strop("import", "wide", "made", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "made" / "problem.yaml").read_text(encoding="utf-8")
        self.assertIn("range: {M: [16, 1024], N: ", text)

    def test_a_folder_of_modules_is_a_batch(self):
        place = self.folder / "level1"
        place.mkdir()
        for name in ("1_first", "2_second"):
            (place / f"{name}.py").write_text("class Model:\n    pass\n", encoding="utf-8")
        (place / "notes.py").write_text("x = 1\n", encoding="utf-8")
        done = strop("optimize", "level1", "--quiet", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^level1/1_first\.py +failed(.*\n)level1/2_second\.py +failed")
        self.assertNotIn("notes", done.stdout)


if __name__ == "__main__":
    unittest.main()
