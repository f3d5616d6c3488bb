"""Results later: judged again beside their reports, and compared with one another."""

import json
import pathlib
import shutil
import tempfile
import unittest

from tests.cli.strop_cli import strop, write_problem

SHORT = ["--per-shape", "100ms"]


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
    def promising(factor):
        """A change of a report: every ratio is so many times what was measured, to two percent."""
        def change(report):
            for shape in report["shapes"]:
                for ratio in (shape["speedup"], *shape["speedups"].values()):
                    middle = factor * ratio["ratio"]
                    ratio.update(ratio=middle, low=0.98 * middle, high=1.02 * middle)
        return change

    def check(self, *words):
        return strop("check", *words, *SHORT, cwd=self.folder)

    def refused(self, words, phrase, hint):
        done = strop(*words, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, f"strop: {phrase}\nhint: {hint}\n")


class Check(OfOneResult):
    def test_one_that_does_what_it_promised(self):
        self.copy("modest", self.promising(0.1))
        done = self.check("modest")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"^modest: ok\nSHAPE +VERDICT .*\nsmall +faster +numpy .*\nlarge +faster +numpy ")

    def test_one_that_is_slower_than_it_promised(self):
        self.copy("boasting", self.promising(1000))   # no load of the machine makes up for it
        self.copy("modest", self.promising(0.1))
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
