"""Results later: judged again beside their reports, and compared with one another."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest
from xml.etree import ElementTree

from tests.cli.strop_cli import BINARY, HOME, environment, strop, write_problem

SHORT = ["--per-shape", "100ms"]
LONG = ["--per-shape", "500ms"]  # enough calls for a narrow interval on a loaded machine

# No load of a machine makes a kernel so many times slower or faster.
BEYOND_NOISE = 1e9


class OfOneResult(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="strop-cli-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        write_problem(cls.folder, "shifted")
        done = strop("optimize", "shifted", "--budget", "5s", "--evaluations", "2", "--seed", "7", "--quiet",
                     cwd=cls.folder)
        assert done.returncode in (0, 1), done.stderr

    def copy(self, name, change=lambda report: None):
        """The result under another name, its report changed."""
        place = self.folder / name
        shutil.copytree(self.folder / "strop-out" / "shifted", place)
        self.addCleanup(shutil.rmtree, place)
        report = json.loads((place / "report.json").read_text(encoding="utf-8"))
        change(report)
        (place / "report.json").write_text(json.dumps(report), encoding="utf-8")
        return place

    @staticmethod
    def promising(factor, ratios_only=False):
        """A change of a report: every ratio is so many times what was measured, to two percent, and the kernel's own time so
        much shorter, unless only ratios are to change."""
        def change(report):
            for shape in report["shapes"]:
                shape["nanoseconds"] /= 1 if ratios_only else factor
                for ratio in (shape["speedup"], *shape["speedups"].values()):
                    middle = factor * ratio["ratio"]
                    ratio.update(ratio=middle, low=0.98 * middle, high=1.02 * middle)
        return change

    def check(self, *words, time=SHORT):
        return strop("check", *words, *time, cwd=self.folder)

    def refused(self, words, phrase, hint):
        done = strop(*words, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, f"strop: {phrase}\nhint: {hint}\n")


class Check(OfOneResult):
    def test_one_that_does_what_it_promised(self):
        self.copy("modest", self.promising(1 / BEYOND_NOISE))
        done = self.check("modest")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"^modest: ok\nSHAPE +VERDICT .*\nsmall +faster +numpy .*\nlarge +faster +numpy ")

    def test_one_that_is_slower_than_it_promised(self):
        self.copy("boasting", self.promising(BEYOND_NOISE))
        self.copy("modest", self.promising(1 / BEYOND_NOISE))
        done = self.check("boasting", "modest", "--json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        document = json.loads(done.stdout)
        self.assertFalse(document["kept"])
        slow, good = document["results"]
        self.assertEqual((slow["result"], slow["verdict"], good["verdict"]), ("boasting", "slower", "ok"))
        self.assertEqual([shape["verdict"] for shape in slow["shapes"]], ["slower", "slower"])
        self.assertTrue(slow["same_machine"])
        for shape in slow["shapes"]:
            self.assertLess(shape["change"]["high"], 1)
            self.assertAlmostEqual(shape["now"]["ratio"] / shape["promised"]["ratio"], shape["change"]["ratio"])

    def test_a_ratio_that_is_lower_by_the_baseline_alone_is_a_note(self):
        self.copy("lucky", self.promising(BEYOND_NOISE, ratios_only=True))
        done = self.check("lucky", "--tolerance", "10")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"(?m)^! small: numpy gained on it, which takes \S+ \S+ now and took \S+ \S+ then$")

    def test_a_function_that_was_changed_takes_turns_with_that_of_then(self):
        self.copy("modest", self.promising(1 / BEYOND_NOISE))
        source = self.folder / "modest" / "shifted.cpp"
        before = source.read_text(encoding="utf-8")
        source.write_text(before + "\n// Nothing is changed by a comment.\n", encoding="utf-8")
        self.assertNotIn("itself then", self.check("modest", "--tolerance", "10").stdout)
        source.write_text(before + "\nstatic int not_read = 0;\n", encoding="utf-8")
        done = self.check("modest", "--tolerance", "10", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        [result] = json.loads(done.stdout)["results"]
        self.assertEqual([(shape["label"], shape["baseline"], shape["verdict"]) for shape in result["shapes"]],
                         [("small", "numpy", "faster"), ("large", "numpy", "faster"), ("small", "itself then", "ok"),
                          ("large", "itself then", "ok")])
        (self.folder / "earlier.json").write_text(done.stdout, encoding="utf-8")
        head = re.search(r'extern "C" void shifted\(([^)]*)\)(?=\s*\{)', before)
        names = ", ".join(re.search(r"(\w+)\s*$", one).group(1) for one in head[1].split(","))
        calls = f"    for (volatile int left = 4000; left > 0; left = left - 1) shifted_once({names});\n"
        slow = before[: head.start()] + f"static void shifted_once({head[1]})" + before[head.end() :]
        source.write_text(slow + f"\n{head[0]} {{\n{calls}}}\n", encoding="utf-8")
        for words in ([], ["--baseline", "earlier.json"]):
            with self.subTest(words):
                done = self.check("modest", "--tolerance", "0.5", *words, "--json", "--junit", "junit.xml", time=LONG)
                self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
                [result] = json.loads(done.stdout)["results"]
                slower = [(shape["label"], shape["baseline"]) for shape in result["shapes"] if shape["verdict"] == "slower"]
                self.assertTrue({("small", "itself then"), ("large", "itself then")} <= set(slower), done.stdout)
                cases = ElementTree.parse(self.folder / "junit.xml").getroot().iter("testcase")
                self.assertIn("speed at small, in turns with itself then",
                              [case.get("name") for case in cases if case.find("failure") is not None])

    def test_the_tolerance_is_the_callers(self):
        self.copy("boasting", self.promising(20))
        self.assertEqual(self.check("boasting", "--tolerance", "1000").returncode, 0)

    def test_one_that_is_wrong(self):
        place = self.copy("wrong")
        (place / "shifted.cpp").write_text(
            '#include <cstdint>\nextern "C" void shifted(const float* x, const float* b, float* y, int64_t M, '
            'int64_t N) {\n    for (int64_t i = 0; i < M * N; ++i) y[i] = x[i] + b[i % N];\n}\n', encoding="utf-8")
        done = self.check("wrong")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^wrong: wrong_output\n")

    def test_one_that_does_not_compile_names_its_file(self):
        place = self.copy("broken")
        (place / "shifted.cpp").write_text("int shifted(;\n", encoding="utf-8")
        done = self.check("broken")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^broken: compile_failed\n")
        self.assertIn("shifted.cpp:1", done.stdout)

    def test_another_machine_is_held_to_nothing_but_the_right_answer(self):
        def moved(report):
            self.promising(20)(report)
            report["machine"]["fingerprint"] = "another"
        self.copy("moved", moved)
        done = self.check("moved")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("! another machine than the report's", done.stdout)

    def test_a_baseline_that_is_gone_is_no_success(self):
        def renamed(report):
            for shape in report["shapes"]:
                shape["speedups"] = {"gone": shape["speedups"]["numpy"]}
                shape["baselines"] = {"gone": 100.0}
                shape["speedup"]["baseline"] = "gone"
        self.copy("lonely", renamed)
        done = self.check("lonely")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^lonely: not compared\n")

    def test_a_problem_that_lies_elsewhere(self):
        def gone(report):
            report["problem_folder"] = "/nowhere/shifted"
        self.copy("cloned", gone)
        self.refused(["check", "cloned"], "cloned: its problem's folder is gone: /nowhere/shifted",
                     "name the problem with --problem DIR")
        done = self.check("cloned", "--problem", "problems/shifted", "--tolerance", "1000")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_is_no_result(self):
        (self.folder / "empty").mkdir()
        self.refused(["check", "empty"], f"{self.folder}/empty/report.json: there is no report",
                     "give a folder that `strop optimize` wrote, such as strop-out/softmax")
        place = self.copy("edited")
        (place / "report.json").write_text('{"schema": 1}', encoding="utf-8")
        self.refused(["check", "edited"], f"{place}/report.json: not a report of Strop",
                     "give a result folder, or the report.json that lies in one")
        place = self.copy("bare")
        (place / "shifted.cpp").unlink()
        self.refused(["check", "bare"], f"{place}/shifted.cpp: there is no kernel",
                     "a run that found none leaves a report only; else run `strop optimize` again")


class Baselines(OfOneResult):
    """Held to an earlier check in place of the report."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = strop("check", "strop-out/shifted", "--tolerance", "1000", "--json", *SHORT, cwd=cls.folder)
        assert done.returncode == 0, done.stderr
        cls.earlier = json.loads(done.stdout)
        for shape in cls.earlier["results"][0]["measured"]:
            for ratio in shape["speedups"].values():
                ratio.update(ratio=0.01 * ratio["ratio"], low=0.0098 * ratio["ratio"], high=0.0102 * ratio["ratio"])

    def baseline(self, **changes):
        """main.json: an earlier check in which every ratio was a hundredth, and what else is changed."""
        document = {"kept": True, "results": [{**self.earlier["results"][0], **changes}]}
        (self.folder / "main.json").write_text(json.dumps(document), encoding="utf-8")

    def test_its_ratios_count_and_not_the_reports(self):
        self.baseline()
        self.copy("boasting", self.promising(BEYOND_NOISE))
        done = self.check("boasting", "--baseline", "main.json", "--json", "--junit", "made/junit.xml", "--markdown",
                          "made/summary.md")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        [result] = json.loads(done.stdout)["results"]
        self.assertEqual((result["verdict"], result["held_to"]), ("ok", "main.json"))
        suite = ElementTree.parse(self.folder / "made" / "junit.xml").getroot().find("testsuite")
        self.assertEqual(suite.get("name"), "boasting")
        self.assertEqual([case.get("name") for case in suite.iter("testcase")],
                         ["answers", "speed at small", "speed at large"])
        self.assertIn("## Kernels: 1 of 1 as promised",
                      (self.folder / "made" / "summary.md").read_text(encoding="utf-8"))

    def test_one_that_says_nothing_of_the_result_is_named_and_the_report_counts(self):
        self.copy("modest", self.promising(1 / BEYOND_NOISE))
        for changes, why in (({"problem": "scaled"}, "has nothing of shifted"),
                             ({"problem_hash": "another"}, "is of the problem before it changed"),
                             ({"machine": {"cpu": "Z80", "cores": 9, "fingerprint": "another"}},
                              r"is of another machine \(Z80, 9 cores\)")):
            with self.subTest(why):
                self.baseline(**changes)
                done = self.check("modest", "--baseline", "main.json")
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertRegex(done.stdout, rf"(?m)^! main\.json {why}: held to its own report$")

    def test_what_is_no_baseline(self):
        self.copy("modest", self.promising(0.1))
        self.refused(["check", "modest", "--baseline", "modest/report.json"],
                     "modest/report.json: not what `strop check --json` printed",
                     "make one with `strop check RESULT --json > FILE`")
        self.refused(["check", "modest", "--fail-below", "1.5"], "--fail-below: '1.5' does not fit",
                     "give a number above 0, at most 1; 0.95: a shape fails that does less than 95% of before")
        self.refused(["check", "modest", "--fail-below", "0.9", "--tolerance", "0.1"],
                     "--fail-below and --tolerance say the same", "leave one of them out")
        self.refused(["check", "modest", "--junit", "modest"], "--junit modest: is a folder", "name a file")

    def test_without_a_result_there_must_be_some_in_strop_out(self):
        (self.folder / "elsewhere" / "strop-out" / "empty").mkdir(parents=True)
        done = strop("check", cwd=self.folder / "elsewhere")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "strop: strop-out: there is no result to check\n"
                             "hint: name a folder that `strop optimize` wrote\n"))

    def test_one_whose_function_is_gone_is_not_passed_over(self):
        place = self.copy("elsewhere/strop-out/gone")
        (place / "shifted.cpp").unlink()
        done = strop("check", cwd=self.folder / "elsewhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("strop-out/gone/shifted.cpp: there is no kernel", done.stderr)


def shell_steps(file):
    """(environment, script) of the YAML files of ci/: what stands under `env:` or `variables:`, and the script."""
    text = file.read_text(encoding="utf-8")
    block = re.search(r"(?m)^( +)(?:run: |- )\|\n((?:\1 .*\n|\n)+)", text)
    values = re.search(r"(?m)^( +)(?:env|variables):\n((?:\1  .*\n)+)", text)
    named = dict(re.match(r" +(\w+): *(.*?)(?: +#.*)?$", line).groups() for line in values[2].splitlines())
    inputs = dict(re.findall(r"(?m)^  ([\w-]+):\n    description:.*\n    default: (.*)$", text))
    given = {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], value).strip('"')
             for name, value in named.items()}
    return given, textwrap.dedent(block[2])


class ContinuousIntegration(OfOneResult):
    """The steps of ci/, run by the shells that run them there."""

    def step(self, file, shell, **changes):
        given, script = shell_steps(pathlib.Path(HOME) / "ci" / file)
        self.assertEqual(given.keys() - {"STROP", "RESULTS", "BASELINE", "FAIL_BELOW", "PER_SHAPE", "OUT"}, set())
        variables = {**given, "STROP": os.path.abspath(BINARY), "PER_SHAPE": "100ms", **changes,
                     "GITHUB_STEP_SUMMARY": "step.md", "GITHUB_OUTPUT": "step.txt"}
        for name in ("step.md", "step.txt"):
            (self.folder / name).unlink(missing_ok=True)
        return subprocess.run([*shell, script], capture_output=True, text=True, check=False, timeout=120,
                              cwd=self.folder, env=environment(**variables))

    STEPS = (("action.yml", ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c"]),
             ("gitlab.yml", ["sh", "-e", "-c"]))

    def test_a_slow_result_fails(self):
        self.copy("boasting", self.promising(BEYOND_NOISE))
        for file, shell in self.STEPS:
            with self.subTest(file):
                done = self.step(file, shell, RESULTS="boasting", BASELINE="not-there.json")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("### ✗ boasting: slower", done.stdout)
                document = json.loads((self.folder / "strop-check" / "check.json").read_text(encoding="utf-8"))
                self.assertFalse(document["kept"])
                junit = ElementTree.parse(self.folder / "strop-check" / "junit.xml").getroot()
                self.assertGreaterEqual(int(junit.find("testsuite").get("failures")), 1)
                if file == "action.yml":
                    self.assertEqual((self.folder / "step.txt").read_text(encoding="utf-8"), "kept=false\n")
                    self.assertIn("### ✗ boasting: slower", (self.folder / "step.md").read_text(encoding="utf-8"))

    def test_without_a_result_all_of_strop_out_are_checked_and_a_good_one_passes(self):
        done = self.step(*self.STEPS[0], FAIL_BELOW="0.0001")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("### ✓ strop-out/shifted: ok", done.stdout)
        self.assertEqual((self.folder / "step.txt").read_text(encoding="utf-8"), "kept=true\n")

    def test_the_words_that_strop_gets(self):
        """A stand-in shows them, and ends with an error of the environment."""
        stand_in = self.folder / "stand-in"
        stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > words\nexit 3\n', encoding="utf-8")
        stand_in.chmod(0o755)
        (self.folder / "a base.json").write_text("{}", encoding="utf-8")
        for file, shell in self.STEPS:
            with self.subTest(file):
                done = self.step(file, shell, STROP="./stand-in", RESULTS="a b", BASELINE="a base.json", OUT="o u t",
                                 PER_SHAPE="2s")
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertEqual((self.folder / "words").read_text(encoding="utf-8").splitlines(),
                                 ["check", "a", "b", "--fail-below", "0.95", "--per-shape", "2s", "--json", "--junit",
                                  "o u t/junit.xml", "--markdown", "o u t/summary.md", "--baseline", "a base.json"])


class Compare(OfOneResult):
    def test_who_is_faster_at_which_shape(self):
        self.copy("new", self.promising(2))
        self.copy("old", self.promising(1))
        done = strop("compare", "old", "new/report.json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^small +numpy +\S+× .* 2\.00× \(1\.94–2\.06\) +new$")
        document = json.loads(strop("compare", "new", "old", "--json", cwd=self.folder).stdout)
        self.assertEqual([(shape["label"], shape["faster"]) for shape in document["shapes"]],
                         [("small", "old"), ("large", "old")])
        self.assertAlmostEqual(document["change"]["ratio"], 0.5)

    def test_what_makes_it_doubtful_is_said(self):
        def other(report):
            report["machine"]["fingerprint"] = report["problem_hash"] = "another"
        self.copy("far", other)
        done = strop("compare", "far", "strop-out/shifted", cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertIn("! the problem has changed between the two\n! measured on two machines: ", done.stdout)

    def test_two_problems_are_not_compared(self):
        def renamed(report):
            report["problem"] = "softmax"
        self.copy("other", renamed)
        self.refused(["compare", "other", "strop-out/shifted"],
                     "other and strop-out/shifted are results of two problems: softmax and shifted",
                     "give two results of the same problem")

    def test_no_shape_in_common(self):
        def grown(report):
            for shape in report["shapes"]:
                shape["dims"]["M"] += 1
        self.copy("grown", grown)
        self.refused(["compare", "grown", "strop-out/shifted"], "grown and strop-out/shifted have no shape in common",
                     "shapes are the same when label and dimensions are")


if __name__ == "__main__":
    unittest.main()
