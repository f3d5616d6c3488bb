"""The main job and the judge from outside, on small problems: what they print, what they leave, what later commands see."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from tests.cli.strop_cli import (HOME, InFolder, environment, screen, strop, strop_in_terminal, violations,
                                 write_problem)

FEW = ["--evaluations", "12", "--seed", "7"]


class OneRun(unittest.TestCase):
    """One run through pipes, looked at from all sides."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="strop-cli-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        write_problem(cls.folder, "shifted")
        # A budget with room for sanitizers; evaluations end it long before.
        cls.done = strop("optimize", "shifted", "--budget", "30s", *FEW, "--json", cwd=cls.folder)
        cls.document = json.loads(cls.done.stdout) if cls.done.returncode in (0, 1) else {}
        cls.out = cls.folder / "strop-out" / "shifted"

    def setUp(self):
        self.assertIn(self.done.returncode, (0, 1), self.done.stderr)

    def test_prints_one_document_that_follows_the_schema(self):
        schema = json.loads((pathlib.Path(HOME) / "docs" / "report.schema.json").read_text(encoding="utf-8"))
        self.assertEqual(violations(self.document, schema), [])
        self.assertNotEqual(violations({**self.document, "outcome": "splendid"}, schema), [])

    def test_the_final_function_ran_under_every_sanitizer_that_there_is(self):
        usable = {entry["name"] for entry in json.loads(strop("doctor", "--json").stdout)["sanitizers"] if entry["usable"]}
        for run in self.document["sanitizers"]:
            self.assertEqual((run["verdict"], run["evidence"]), ("ok", ""))
            self.assertEqual(run["sanitizer"] in usable, run["shapes"] >= 1, run)
        self.assertEqual(len(self.document["sanitizers"]), 2)
        shown = strop("report", self.document["run"], cwd=self.folder).stdout
        self.assertRegex(shown, r"sanitizers +\w")

    def test_cold_times_stand_beside_the_others(self):
        for shape in self.document["shapes"]:
            names = set(shape["cold_baselines"])
            self.assertLessEqual(names, set(shape["baselines"]) - {"jax"})
            self.assertEqual(shape["cold_ns"] > 0, "numpy" in names)

    def test_the_exit_code_is_the_outcome(self):
        self.assertEqual(self.document["outcome"], ["improved", "no_improvement"][self.done.returncode])
        self.assertTrue(self.document["verified"], self.document["verification"])

    def test_the_record_is_about_this_problem(self):
        self.assertEqual(self.document["problem"], "shifted")
        self.assertEqual([shape["label"] for shape in self.document["shapes"]], ["small", "large"])
        self.assertEqual(self.document["shapes"][1]["dims"], {"M": 64, "N": 100})
        for shape in self.document["shapes"]:
            self.assertGreater(shape["nanoseconds"], 0)
            self.assertGreater(shape["baselines"]["numpy"], 0)
        self.assertGreaterEqual(len(self.document["strategies"]), 2)
        self.assertIn("winner", [strategy["state"] for strategy in self.document["strategies"]])
        self.assertEqual(self.document["settings"]["seed"], 7)
        self.assertTrue(1 <= self.document["evaluations"]["total"] <= 12, self.document["evaluations"])
        self.assertEqual(len(self.document["history"]), self.document["evaluations"]["total"])
        dispatch = self.document["dispatch"]
        self.assertGreater(dispatch["shapes"], 0)
        self.assertEqual(dispatch["correct"], dispatch["shapes"])

    def test_progress_goes_to_standard_error_without_escape_codes(self):
        self.assertIn("strategy ", self.done.stderr)
        self.assertNotIn("\x1b", self.done.stderr + self.done.stdout)
        self.assertNotIn("\r", self.done.stderr)

    def test_the_result_folder_is_complete(self):
        self.assertEqual(sorted(path.name for path in self.out.iterdir() if path.name not in ("build", "__pycache__")),
                         ["CMakeLists.txt", "report.html", "report.json", "report.md", "shifted.cpp", "shifted.h",
                          "shifted.py", "shifted_python.cpp", "shifted_test.cpp"])
        self.assertEqual(json.loads((self.out / "report.json").read_text(encoding="utf-8"))["run"],
                         self.document["run"])
        source = (self.out / "shifted.cpp").read_text(encoding="utf-8")
        self.assertIn('extern "C" void shifted(', source)
        self.assertNotIn("strop/", source)

    def test_the_python_module_computes_the_right_answer(self):
        script = ("import numpy as np\nfrom shifted import shifted\n"
                  "for shape in [(1, 1), (3, 17), (64, 100)]:\n"
                  "    x = np.random.randn(*shape).astype(np.float32)\n"
                  "    b = np.random.randn(shape[1]).astype(np.float32)\n"
                  "    y = np.empty_like(x)\n"
                  "    assert shifted(x, b, out=y) is y\n"
                  "    np.testing.assert_allclose(y, np.maximum(x + b, 0), rtol=1e-6)\n"
                  "    np.testing.assert_allclose(shifted(x, b), y)\n"
                  "try:\n    shifted(x, b[:-1])\nexcept ValueError as error:\n    print(error)\n")
        done = subprocess.run([sys.executable, "-c", script], cwd=self.out, capture_output=True, text=True,
                              check=False, env=environment(PYTHONPATH=str(self.out)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("b", done.stdout)

    def test_the_test_program_builds_and_passes(self):
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        build = self.folder / "cmake-build"
        for words in (["cmake", "-S", str(self.out), "-B", str(build), "-DCMAKE_BUILD_TYPE=Debug"],
                      ["cmake", "--build", str(build)], [str(build / "shifted_test")]):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_later_commands_know_the_run(self):
        run = self.document["run"]
        self.assertRegex(strop("runs", cwd=self.folder).stdout, rf"(?m)^{run} .*{self.document['outcome']}")
        listed = json.loads(strop("list", "--json", cwd=self.folder).stdout)
        entry = next(entry for entry in listed if entry["name"] == "shifted")
        self.assertIn(run, json.dumps(entry))
        shown = strop("show", run[:12], "--history", cwd=self.folder)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn(f"run {run}", shown.stdout)
        for strategy in self.document["strategies"]:
            self.assertIn(strategy["id"], shown.stdout)
        self.assertEqual(json.loads(strop("show", run, "--json", cwd=self.folder).stdout), self.document)

    def test_the_source_of_a_winner_can_be_had(self):
        run, winner = self.document["run"], self.document["regimes"][0]["kernel"]
        shown = strop("show", run, "--kernel", winner, cwd=self.folder)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("// strop:tune ", shown.stdout)
        self.assertIn('extern "C" void shifted(', shown.stdout)
        refused = strop("show", run, "--kernel", "splendid", cwd=self.folder)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertRegex(refused.stderr, rf"splendid: no winner of the run {run}\nhint: they are .*{re.escape(winner)}")

    def test_every_form_of_the_report(self):
        run = self.document["run"]
        texts = {}
        for form in ("terminal", "markdown", "html", "json"):
            done = strop("report", run, "--format", form, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertNotIn("\x1b", done.stdout)
            texts[form] = done.stdout
        self.assertEqual(json.loads(texts["json"]), self.document)
        self.assertEqual(texts["markdown"].strip(), (self.out / "report.md").read_text(encoding="utf-8").strip())
        self.assertEqual(texts["html"].strip(), (self.out / "report.html").read_text(encoding="utf-8").strip())
        self.assertTrue(texts["html"].lower().startswith("<!doctype html>"))
        for text in texts.values():
            self.assertIn("shifted", text)

    def test_a_result_of_another_problem_is_not_replaced_without_a_word(self):
        other = write_problem(self.folder / "other", "shifted")
        (other / "reference.py").write_text("def shifted(*arguments):\n    return nothing\n", encoding="utf-8")
        shutil.copytree(self.out, self.folder / "copy")
        said = strop("optimize", str(other), "--out", "copy", "--store", "other.db", cwd=self.folder).stderr
        self.assertIn(f"copy holds the result of another shifted, in {self.document['problem_folder']}: it is replaced", said)
        again = strop("optimize", str(other), "--out", "new", "--store", "other.db", cwd=self.folder).stderr
        self.assertNotIn("is replaced", again)

    def test_a_finished_run_is_not_run_again(self):
        done = strop("resume", self.document["run"], "--json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (self.done.returncode, ""))
        self.assertEqual(json.loads(done.stdout), self.document)


class Screens(InFolder):
    def test_a_terminal_shows_a_live_block_and_is_clean_at_the_end(self):
        self.problem("shifted")
        shown, code = strop_in_terminal("optimize", "shifted", "--budget", "4s", *FEW, columns=100, cwd=self.folder)
        self.assertIn(code, (0, 1), shown)
        self.assertRegex(shown, r"\x1b\[\d+A\x1b\[J")
        self.assertIn("  tried ", shown)
        self.assertRegex(shown, r"(?m)^[a-z].* \(\d+ evaluations[,)]")
        final = screen(shown)
        self.assertTrue(any(line.startswith("shifted: ") for line in final), final)
        self.assertTrue(any(line.startswith("result ") for line in final), final)
        for line in final:
            self.assertNotIn("  tried ", line)
            self.assertNotRegex(line, r"\(\d+ evaluations[,)]")

    def test_quiet_is_silent(self):
        self.problem("shifted")
        done = strop("optimize", "shifted", "--budget", "2s", "--evaluations", "3", "--point", "small", "--quiet",
                     "--out", "elsewhere", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1))
        self.assertEqual(done.stderr, "")
        self.assertIn("shifted: ", done.stdout)
        self.assertNotIn("large", done.stdout)
        self.assertTrue((self.folder / "elsewhere" / "shifted.cpp").exists())
        self.assertFalse((self.folder / "strop-out" / "shifted").exists())


class OldCeilings(InFolder):
    """A run whose machine was slower when its ceilings were measured."""

    def setUp(self):
        super().setUp()
        self.problem("shifted")
        self.cache = self.folder / "cache"
        done = strop("doctor", "--json", STROP_CACHE=str(self.cache))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.file, = self.cache.glob("machine-*.json")
        self.measured = json.loads(self.file.read_text(encoding="utf-8"))

    def scaled(self, factor, age_seconds):
        machine = json.loads(json.dumps(self.measured))
        for name in machine["ceilings"]:
            machine["ceilings"][name] *= factor
        for cache in machine["caches"]:
            cache["read_bytes_per_second"] *= factor
        self.file.write_text(json.dumps(machine), encoding="utf-8")
        then = self.file.stat().st_mtime - age_seconds
        os.utime(self.file, (then, then))
        done = strop("optimize", "shifted", "--budget", "2s", "--evaluations", "3", "--quiet", "--json",
                     cwd=self.folder, STROP_CACHE=str(self.cache))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        cached = json.loads(self.file.read_text(encoding="utf-8"))["ceilings"]
        self.assertEqual(json.loads(done.stdout)["machine"]["ceilings"], cached)
        return {name: cached[name] / machine["ceilings"][name] for name in cached}

    def test_what_a_baseline_beats_is_measured_again(self):
        for name, raised in self.scaled(1e-3, 0).items():
            self.assertGreater(raised, 10, name)

    def test_what_is_old_is_measured_again_and_never_lowered(self):
        for name, raised in self.scaled(1e3, 7200).items():
            self.assertEqual(raised, 1, name)
        self.assertLess(time.time() - self.file.stat().st_mtime, 600)

    def test_what_is_new_and_high_enough_is_kept(self):
        self.scaled(1e3, 1800)
        self.assertGreater(time.time() - self.file.stat().st_mtime, 1700)


class Proposals(InFolder):
    def test_a_missing_operation_is_named(self):
        self.problem("sorted_rows", "return np.take_along_axis(x, np.lexsort((x + b,), axis=1), 1)")
        done = strop("optimize", "sorted_rows", "--budget", "3s", "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["outcome"], "no_improvement")
        self.assertIn("np.lexsort", document["note"])
        self.assertEqual(document["evaluations"]["total"], 0)
        text = strop("show", document["run"], cwd=self.folder).stdout
        self.assertIn("np.lexsort", text)

    def strategies(self, name):
        done = strop("optimize", name, "--budget", "3s", "--evaluations", "8", "--point", "small", "--json",
                     "--quiet", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return sorted(strategy["id"] for strategy in json.loads(done.stdout)["strategies"])

    def test_another_way_of_writing_softmax_gets_the_same_strategies(self):
        rows = {"inputs": "{x: {dtype: float32, shape: [M, N]}}"}
        original = self.problem("softmax", **rows)
        shutil.copy(pathlib.Path(HOME) / "problems" / "softmax" / "reference.py", original)
        other = self.problem("likelihoods", **rows)
        (other / "reference.py").write_text(
            "import numpy as np\n\n\ndef likelihoods(x):\n"
            "    highest = np.max(x, axis=-1)\n    centred = x - highest[:, None]\n    raised = np.exp(centred)\n"
            "    total = np.sum(raised, axis=-1)\n    return raised / total[:, None]\n", encoding="utf-8")
        expected = self.strategies("softmax")
        self.assertGreaterEqual(len(expected), 3)
        self.assertEqual(self.strategies("likelihoods"), expected)


KERNEL = """#include <cstdint>
#include <cstdio>
extern "C" void shifted(const float* x, const float* b, float* y, int64_t M, int64_t N) {{
    {first}
    for (int64_t i = 0; i < M * N; ++i) {{
        float value = x[i] + b[i % N];
        y[i] = {value};
    }}
}}
"""


class Judging(InFolder):
    def judge(self, *words, first="", value="value > 0 ? value : 0", head=""):
        self.problem("shifted")
        (self.folder / "mine.cpp").write_text(head + KERNEL.format(first=first, value=value), encoding="utf-8")
        done = strop("judge", "mine.cpp", "--problem", "shifted", "--json", *words, cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(set(document), {"kernel", "verdict", "evidence", "configuration", "shapes", "speedup", "sanitizers", "seed",
                                         "seconds"})
        self.assertEqual(done.returncode, 0 if document["verdict"] == "ok" else 1)
        return document

    def test_an_error_that_no_output_shows_is_found_on_request(self):
        first = "float* own = new float[M > 0 ? 8 : 9]; volatile float one = own[8]; (void)one; delete[] own;"
        self.assertEqual(self.judge("--per-shape", "50ms", first=first)["verdict"], "ok")
        document = self.judge("--per-shape", "50ms", "--sanitize", first=first)
        if document["sanitizers"][0]["missing"]:
            self.skipTest(document["sanitizers"][0]["missing"])
        self.assertEqual(document["verdict"], "crashed")
        self.assertRegex(document["evidence"], r"^AddressSanitizer: heap-buffer-overflow: READ of size 4 at mine\.cpp:\d+ at M=")
        self.assertEqual(document["sanitizers"][0]["evidence"], document["evidence"])

    def test_several_kernels(self):
        self.problem("shifted")
        for name, value in (("right", "value > 0 ? value : 0"), ("wrong", "value"), ("again", "value < 0 ? 0 : value")):
            (self.folder / f"{name}.cpp").write_text(KERNEL.format(first="", value=value), encoding="utf-8")
        files = ["right.cpp", "wrong.cpp", "again.cpp"]
        done = strop("judge", *files, "--problem", "shifted", "--json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        turns = documents.pop()
        self.assertEqual([document["kernel"] for document in documents], files)
        self.assertEqual([document["verdict"] for document in documents], ["ok", "wrong_output", "ok"])
        self.assertEqual(turns["in_turns_with"], "right.cpp")
        self.assertEqual([shape["label"] for shape in turns["shapes"]], ["small", "large"])
        for shape in turns["shapes"]:
            self.assertEqual(set(shape["kernels"]), {"right.cpp", "again.cpp"})    # who is wrong has no time
            again = shape["kernels"]["again.cpp"]["speedup"]
            self.assertTrue(0 < again["low"] <= again["ratio"] <= again["high"], again)
        self.assertEqual(set(turns["speedups"]), {"again.cpp"})
        done = strop("judge", "again.cpp", "right.cpp", "--problem", "shifted", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?s)^again.cpp\nverdict: ok\n.*\n\nright.cpp\nverdict: ok\n.*\n\nin turns with again.cpp\n\n"
                                      r"SHAPE +again.cpp +right.cpp\nsmall +\S+ ns +\S+ ns, [0-9.]+× \(.*\nall  ")
        done = strop("judge", "right.cpp", "right.cpp", "--problem", "shifted", cwd=self.folder)
        self.assertRegex(done.stdout, r"\nSHAPE +right.cpp +right.cpp \(2\)\n")

    def test_the_second_kernel_gains_over_the_first(self):
        self.problem("shifted")
        slow = "for (volatile int again = 0; again < 500; again = again + 1) for (int64_t k = 0; k < M * N; ++k) y[k] = x[k];"
        for name, first in (("slow", slow), ("fast", "")):
            (self.folder / f"{name}.cpp").write_text(KERNEL.format(first=first, value="value > 0 ? value : 0"), encoding="utf-8")
        done = strop("judge", "slow.cpp", "fast.cpp", "--problem", "shifted", "--json", cwd=self.folder)
        turns = json.loads(done.stdout.splitlines()[-1])
        self.assertGreater(turns["speedups"]["fast.cpp"]["ratio"], 2)

    def test_several_kernels_that_do_not_compile(self):
        self.problem("shifted")
        files = ["first.cpp", "$1 second.cpp"]
        for name in files:
            (self.folder / name).write_text(KERNEL.format(first="nonsense;", value="value"), encoding="utf-8")
        done = strop("judge", *files, "--problem", "shifted", "--json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        for name, line in zip(files, done.stdout.splitlines(), strict=True):
            document = json.loads(line)
            self.assertEqual(document["verdict"], "compile_failed")
            self.assertRegex(document["evidence"], rf"^{re.escape(name)}:\d+")

    def test_a_right_kernel(self):
        document = self.judge()
        self.assertEqual((document["verdict"], document["evidence"]), ("ok", ""))
        self.assertEqual([shape["label"] for shape in document["shapes"]], ["small", "large"])
        for shape in document["shapes"]:
            self.assertEqual(shape["verdict"], "ok")
            self.assertTrue(0 < shape["low"] <= shape["nanoseconds"] <= shape["high"], shape)
            self.assertGreater(shape["baselines"]["numpy"]["nanoseconds"], 0)
            self.assertIn(shape["baselines"]["numpy"]["decision"], ("faster", "slower", "undecided"))
        self.assertTrue(document["speedup"]["low"] <= document["speedup"]["ratio"] <= document["speedup"]["high"])
        self.assertGreater(document["seconds"], 0)

    def test_the_problem_is_the_kernels_own_folder(self):
        folder = self.problem("shifted")
        (folder / "mine.cpp").write_text(KERNEL.format(first="", value="0"), encoding="utf-8")
        done = strop("judge", str(folder / "mine.cpp"), cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, r"^verdict: wrong_output\n  \| y\[\d+, \d+\] is 0, expected ")
        self.assertRegex(done.stdout, r"(?m)^small +wrong_output +- +- *$")

    def test_one_that_does_not_compile(self):
        document = self.judge(first="undeclared;")
        self.assertEqual(document["verdict"], "compile_failed")
        self.assertRegex(document["evidence"], r"^mine\.cpp:4:\d+: error: .*undeclared")
        self.assertEqual((document["shapes"], document["speedup"]), ([], None))

    def test_one_without_the_function(self):
        document = self.judge(head="#define shifted another\n")
        self.assertEqual(document["verdict"], "compile_failed")
        self.assertIn("shifted", document["evidence"])

    def test_a_wrong_output(self):
        document = self.judge(value="value > 0 ? value : 1e-3f")
        self.assertEqual(document["verdict"], "wrong_output")
        self.assertRegex(document["evidence"], r"y\[\d+, \d+\] is 0\.00100\d*, expected 0 .*M=4,N=32")
        self.assertIsNone(document["speedup"])

    def test_an_output_that_is_not_written(self):
        self.assertEqual(self.judge(first="if (M > 4) return;")["verdict"], "wrong_output")

    def test_a_crash(self):
        document = self.judge(first="*static_cast<volatile float*>(nullptr) = 1;")
        self.assertEqual(document["verdict"], "crashed")
        self.assertIn("SIGSEGV", document["evidence"])

    def test_leaving_during_a_call(self):
        document = self.judge(first="std::exit(0);", head="#include <cstdlib>\n")
        self.assertEqual(document["verdict"], "crashed")

    def test_a_write_to_an_input(self):
        document = self.judge(first="const_cast<float*>(x)[0] = 1;")
        self.assertEqual(document["verdict"], "crashed")
        self.assertIn("a write to an input", document["evidence"])

    def test_what_describes_the_machine_may_be_read_and_nothing_else(self):
        opened = 'std::FILE* file = std::fopen("{}", "r"); if (file) std::fclose(file); if ({}file) return;'
        self.assertEqual(self.judge(first=opened.format("/proc/cpuinfo", "!"))["verdict"], "ok")
        if "Landlock" in strop("doctor").stdout:   # named where it is missing
            self.skipTest("nothing restricts reading here")
        self.assertEqual(self.judge(first=opened.format("/etc/passwd", ""))["verdict"], "ok")

    def test_no_file_may_be_written(self):
        escaped = self.folder / "escaped"
        document = self.judge(
            first=f'if (std::FILE* file = std::fopen("{escaped}", "w")) {{ std::fclose(file); return; }}')
        self.assertEqual(document["verdict"], "ok", document["evidence"])   # right only where fopen failed
        self.assertFalse(escaped.exists())

    def test_tunables(self):
        head = "// strop:tune LIMIT = 0 | 1\n"
        self.assertEqual(self.judge(head=head, value="value > LIMIT ? value : 0")["configuration"], {"LIMIT": 0})
        document = self.judge("--set", "LIMIT=1", head=head, value="value > LIMIT ? value : 0")
        self.assertEqual((document["verdict"], document["configuration"]), ("wrong_output", {"LIMIT": 1}))
        self.fails(["judge", "mine.cpp", "--problem", "shifted", "--set", "LIMIT=2"], 2,
                   "--set LIMIT=2: '2' is not a value of LIMIT", "its values are 0, 1")
        self.fails(["judge", "mine.cpp", "--problem", "shifted", "--set", "LIMT=1"], 2,
                   "--set LIMT=1: the kernel has no tunable 'LIMT'", "it has LIMIT")


if __name__ == "__main__":
    unittest.main()
