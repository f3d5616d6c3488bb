"""strop tune from outside: replays, descriptions, exports, and a kernel with its tunables."""

import gzip
import json
import re
import unittest

from tests.cli.strop_cli import InFolder, strop

KERNEL = """#include <stdint.h>
// strop:tune UNROLL = 1 | 2 | 4
// strop:late CHUNK = 16 | 64
// strop:tune BRANCH = true | false
// strop:tune SHARE = 0.5 | 1.0
// strop:require UNROLL * CHUNK <= 128
// strop:require BRANCH or UNROLL == 1 and CHUNK == 16
// strop:require SHARE * 2 <= 1 or not BRANCH
static_assert(SHARE >= 0.5 && (BRANCH ? SHARE < 1.0 : true), "as required");
extern "C" void shifted(const float* x, const float* b, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i)
        for (int64_t begin = 0; begin < N; begin += CHUNK)
#pragma GCC unroll UNROLL
            for (int64_t j = begin; j < begin + CHUNK && j < N; ++j) {
                const float sum = x[i * N + j] + b[j];
#if BRANCH
                y[i * N + j] = sum > 0 ? sum : 0;
#else
                y[i * N + j] = sum < 0 ? 0 : sum;
#endif
            }
}
"""


def cache(failing=()):
    """A measured space of 64 configurations whose best is A=4, B=16 (time 1)."""
    keys = ["A", "B"]
    values = {"A": [1, 2, 4, 8, 16, 32, 64, 128], "B": [1, 2, 4, 8, 16, 32, 64, 128]}
    entries = {}
    for i, a in enumerate(values["A"]):
        for j, b in enumerate(values["B"]):
            time = 1.0 + abs(i - 2) + 0.5 * abs(j - 4)
            entry = {"A": a, "B": b, "time": "RuntimeFailedConfig" if (a, b) in failing else time, "times": [time]}
            entries[f"{a},{b}"] = entry
    return {"device_name": "a device", "kernel_name": "a kernel", "problem_size": [64], "tune_params_keys": keys,
            "tune_params": values, "objective": "time", "cache": entries}


class Replay(InFolder):
    def write(self, name, document):
        (self.folder / name).write_text(json.dumps(document), encoding="utf-8")

    def replay(self, *words):
        done = strop("tune", "--replay", *words, "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_finds_the_optimum_and_says_how(self):
        self.write("cache.json", cache(failing=[(1, 1), (2, 2)]))
        document = self.replay("cache.json", "--evaluations", "40", "--seed", "3")
        self.assertEqual((document["optimum"], document["best"]), (1.0, 1.0))
        self.assertEqual(document["configuration"], {"A": 4, "B": 16})
        self.assertEqual(document["evaluations"], 40)
        seen = [best for best in document["trajectory"] if best is not None]
        self.assertEqual(len(document["trajectory"]), 40)
        self.assertEqual(seen, sorted(seen, reverse=True))
        self.assert_best_after_each(document, cache(failing=[(1, 1), (2, 2)])["cache"])
        self.assertEqual(document, {**self.replay("cache.json", "--evaluations", "40", "--seed", "3"),
                                    "deciding_seconds": document["deciding_seconds"]})

    def assert_best_after_each(self, document, entries):
        """The trajectory follows from what was evaluated."""
        times, best = [entries[key]["time"] for key in document["evaluated"]], []
        for number in range(1, len(times) + 1):
            best.append(min((time for time in times[:number] if not isinstance(time, str)), default=None))
        self.assertEqual(document["trajectory"], best)
        self.assertEqual(len(set(document["evaluated"])), document["evaluations"])

    def test_names_what_it_evaluated_as_the_file_does(self):
        document = cache(failing=[(1, 1)])
        document["cache"] = {f"entry {number}": {**entry, "A": entry["A"] > 8, "B": entry["B"] / 2}
                             for number, entry in enumerate(document["cache"].values()) if entry["A"] in (1, 16)}
        document["tune_params"] = {"A": [False, True], "B": [value / 2 for value in document["tune_params"]["B"]]}
        self.write("cache.json", document)
        told = self.replay("cache.json", "--export", "t4.json", "--format", "t4")
        self.assert_best_after_each(told, document["cache"])
        self.assertEqual(set(told["evaluated"]), set(document["cache"]))
        keys = {f"{entry['A']},{entry['B']}" for entry in document["cache"].values()}
        self.assertEqual(set(self.replay("t4.json")["evaluated"]), keys)

    def test_reads_gzip_and_a_file_that_a_crash_left_open(self):
        text = json.dumps(cache(), indent=0)
        with gzip.open(self.folder / "cache.json.gz", "wt", encoding="utf-8") as file:
            file.write(text)
        self.assertEqual(self.replay("cache.json.gz", "--evaluations", "70")["evaluations"], 64)
        (self.folder / "open.json").write_text(text.rstrip()[:-len("}\n}")].rstrip() + ",\n", encoding="utf-8")
        self.assertEqual(self.replay("open.json", "--evaluations", "70")["evaluations"], 64)

    def test_what_is_no_time_is_a_failure(self):
        document = cache()
        for key, value in (("1,1", 0), ("1,2", -3.5), ("1,4", 1e20)):
            document["cache"][key]["time"] = value
        self.write("cache.json", document)
        found = self.replay("cache.json", "--evaluations", "64")
        self.assertEqual((found["optimum"], found["best"]), (1.0, 1.0))

    def test_rates_are_better_where_they_are_higher(self):
        for name in ("GFLOP/s", "GFLOPs", "tflops", "GB/s"):
            document = cache()
            document["objective"] = name
            for entry in document["cache"].values():
                entry[name] = 100 / entry.pop("time")
            self.write("cache.json", document)
            with self.subTest(name):
                self.assertEqual(self.replay("cache.json", "--evaluations", "64")["best"], 100)

    def test_earlier_runs_are_tried_first(self):
        self.write("cache.json", cache())
        document = self.replay("cache.json", "--earlier", "cache.json", "--evaluations", "3")
        self.assertEqual(document["trajectory"][0], 1.0)

    def test_exports_what_it_saw_in_both_formats(self):
        self.write("cache.json", cache(failing=[(1, 1)]))
        for form in ("kernel-tuner", "t4"):
            done = strop("tune", "--replay", "cache.json", "--export", "out.json", "--format", form, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.replay("out.json")["evaluations"], 64)

    def test_explains_what_matters(self):
        self.write("cache.json", cache())
        done = strop("tune", "--replay", "cache.json", "--explain", cwd=self.folder)
        self.assertIn("what matters", done.stdout)
        impacts = self.replay("cache.json", "--explain")["explanation"]["impacts"]
        self.assertEqual(impacts[0]["tunables"], ["A"])

    def test_says_what_is_wrong(self):
        self.fails(["tune"], 2, "give one of a kernel, --replay FILE and --space FILE",
                   "for instance `strop tune kernel.cpp --problem softmax`")
        broken = cache()
        del broken["cache"]["1,1"]["B"]
        self.write("broken.json", broken)
        done = strop("tune", "--replay", "broken.json", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^strop: broken\.json: key 'cache\.1,1")
        self.write("failed.json", cache(failing=[(a, b) for a in cache()["tune_params"]["A"]
                                                 for b in cache()["tune_params"]["B"]]))
        self.write("empty.json", {**cache(), "cache": {}})
        self.fails(["tune", "--replay", "empty.json"], 2, "empty.json: holds no measured configuration",
                   "`strop tune --space FILE` shows a description")
        self.fails(["tune", "--replay", "failed.json"], 2, "a kernel: every configuration of the space failed",
                   "nothing can be tuned")

    def test_counts_a_description(self):
        self.write("t1.json", {"General": {"BenchmarkName": "b"}, "ConfigurationSpace": {
            "TuningParameters": [{"Name": "A", "Type": "int", "Values": "[1, 2, 4]", "Default": 1},
                                 {"Name": "B", "Type": "int", "Values": "[1, 2, 4]", "Default": 1}],
            "Conditions": [{"Expression": "A % B == 0", "Parameters": ["A", "B"]}]},
            "KernelSpecification": {"KernelName": "k"}})
        done = strop("tune", "--space", "t1.json", "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual((document["configurations"], document["combinations"]), (6, 9))


class Scripts(InFolder):
    SCRIPT = ("import numpy\nimport cupy\nfrom kernel_tuner import tune_kernel\n\ncupy.asarray(numpy.zeros(3))\n"
              "tune_kernel('add', '', 1000, [], {'x': [32, 64, 128], 'y': [1, 2]}, restrictions=['x * y > 32'])\n")

    def test_of_kernel_tuner(self):
        (self.folder / "script.py").write_text(self.SCRIPT, encoding="utf-8")
        done = strop("tune", "--space", "script.py", "--export", "t1.json", "--format", "t1", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "add: 5 configurations of 6 combinations\n  x = 32 | 64 | 128\n  y = 1 | 2\n  require x*y > 32\n")
        self.assertEqual(strop("tune", "--space", "t1.json", cwd=self.folder).stdout, done.stdout)

    def test_that_do_not_run(self):
        (self.folder / "script.py").write_text(self.SCRIPT.replace("zeros", "zero"), encoding="utf-8")
        done = strop("tune", "--space", "script.py", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Astrop: \S*script\.py:5: AttributeError: [^\n]+\nhint: [^\n]+\n\Z")
        self.fails(("tune", "--space", "nowhere.py"), 2, "nowhere.py: cannot be read: No such file or directory",
                   "check the path and its permissions")


class OwnKernel(InFolder):
    def test_tunes_it_and_exports_what_was_measured(self):
        self.problem("shifted")
        (self.folder / "mine.cpp").write_text(KERNEL, encoding="utf-8")
        done = strop("tune", "mine.cpp", "--problem", "shifted", "--budget", "20s", "--seed", "1", "--json", "--export",
                     "cache.json", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        document = json.loads(done.stdout)
        self.assertTrue(document["verified"], document["verification"])
        self.assertEqual([s["id"] for s in document["strategies"]], ["mine"])
        self.assertEqual(document["evaluations"]["total"], 7)    # all that are valid
        self.assertEqual(document["stopped_by"], "exhausted")
        exported = json.loads((self.folder / "cache.json").read_text(encoding="utf-8"))
        self.assertEqual(exported["tune_params_keys"], ["UNROLL", "CHUNK", "BRANCH", "SHARE"])
        self.assertEqual(len(exported["cache"]), 7)
        self.assertIn("1,16,0,1.0", exported["cache"])
        for entry in exported["cache"].values():
            self.assertGreater(entry["verification_time"], 0)
            self.assertGreater(entry["benchmark_time"], 0)
        self.assertTrue(any(entry["compile_time"] > 0 for entry in exported["cache"].values()))
        self.assertTrue((self.folder / "strop-out" / "mine" / "shifted.cpp").is_file())

    def test_goes_on_to_the_end_where_that_is_asked(self):
        self.problem("shifted")
        chunks = " | ".join(str(chunk) for chunk in range(1, 121))
        source = KERNEL.replace("16 | 64", chunks).replace("<= 128", "<= 1000")
        (self.folder / "mine.cpp").write_text(re.sub("(?m)^// strop:(tune [BS]|require BRANCH|require SHARE).*\n", "", source)
                                              .replace("UNROLL = 1 | 2 | 4", "UNROLL = 1")
                                              .replace("#if BRANCH", "#if 1").replace("static_assert", "// "),
                                              encoding="utf-8")
        done = strop("tune", "mine.cpp", "--problem", "shifted", "--point", "small", "--budget", "120s", "--seed", "1",
                     "--exhaustive", "--json", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual((document["evaluations"]["total"], document["stopped_by"]), (120, "exhausted"))

    def test_one_configuration_for_all_shapes_where_that_is_asked(self):
        self.problem("shifted")
        # Each way is forty times as much work as it has to be at one of two shapes, or four times at both.
        (self.folder / "mine.cpp").write_text(
            "#include <stdint.h>\n// strop:tune WAY = 0 | 1 | 2\n"
            'extern "C" void shifted(const float* x, const float* b, float* y, int64_t M, int64_t N) {\n'
            "    const bool large = M * N > 1000;\n"
            "    const int times = WAY == 2 ? 4 : large == (WAY == 1) ? 40 : 1;\n"
            "    for (volatile int time = 0; time < times; time = time + 1)\n"
            "        for (int64_t i = 0; i < M * N; ++i) y[i] = x[i] + b[i % N] > 0 ? x[i] + b[i % N] : 0;\n"
            "}\n", encoding="utf-8")
        for winners, values in (("2", {0, 1}), ("1", {2})):
            done = strop("tune", "mine.cpp", "--problem", "shifted", "--budget", "20s", "--seed", "1", "--winners", winners,
                         "--json", cwd=self.folder)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            document = json.loads(done.stdout)
            self.assertTrue(document["verified"], document["verification"])
            self.assertEqual({regime["configuration"]["WAY"] for regime in document["regimes"]}, values)
            self.assertEqual(document["regimes"][-1]["condition"], "all shapes" if winners == "1" else "otherwise")

    def test_one_for_some_shapes_is_tuned_at_these_and_its_result_refuses_others(self):
        self.problem("shifted")
        (self.folder / "mine.cpp").write_text("// strop:when M * N > 1000\n" + KERNEL, encoding="utf-8")
        done = strop("tune", "mine.cpp", "--problem", "shifted", "--budget", "20s", "--json", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("! mine.cpp is for M*N > 1000: not called at small\n", done.stderr)
        document = json.loads(done.stdout)
        self.assertTrue(document["verified"], document["verification"])
        self.assertEqual([shape["label"] for shape in document["shapes"]], ["large"])
        self.assertIn("where M*N > 1000", (self.folder / "strop-out" / "mine" / "shifted.h").read_text(encoding="utf-8"))
        (self.folder / "none.cpp").write_text("// strop:when M > 99999\n" + KERNEL, encoding="utf-8")
        done = strop("tune", "none.cpp", "--problem", "shifted", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("strop: none.cpp: it is for none of the shapes of shifted\nhint: ", done.stderr)

    def test_what_cannot_be_meant_is_refused(self):
        self.problem("shifted")
        for text, words, phrase in (
            (KERNEL.replace("CHUNK", "M"), [], "kernel.cpp: tunable 'M' has the name of an argument"),
            ("// strop:when N % 0 == 0\n" + KERNEL, [], "kernel.cpp: it is for none of the shapes of shifted"),
            (KERNEL, ["--earlier", "cache.json"], "--earlier is for --replay"),
        ):
            with self.subTest(phrase):
                (self.folder / "kernel.cpp").write_text(text, encoding="utf-8")
                done = strop("tune", "kernel.cpp", "--problem", "shifted", *words, cwd=self.folder)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"strop: {phrase}\n", done.stderr)

    def test_a_kernel_without_tunables_is_refused(self):
        self.problem("shifted")
        (self.folder / "plain.cpp").write_text("// nothing\n", encoding="utf-8")
        self.fails(["tune", "plain.cpp", "--problem", "shifted"], 2, "plain.cpp: it has no tunables",
                   "declare some: `// strop:tune UNROLL = 1 | 2 | 4`, or use `strop judge`")

    def test_a_space_that_nothing_is_in_is_refused_before_anything_is_measured(self):
        self.problem("shifted")
        for constraint, phrase in (("A > 1 and B", "no configuration meets the constraints"),
                                   ("A + W > 2", "constraint 'A + W > 2': 'x' is a text where a number is needed"),
                                   ("4 % B == 0", "constraint '4%B == 0': division by zero")):
            (self.folder / "mine.cpp").write_text(
                "// strop:tune A = 0.5 | 1\n// strop:tune B = false | true\n// strop:tune W = x | y\n"
                f"// strop:require {constraint}\n", encoding="utf-8")
            done = strop("tune", "mine.cpp", "--problem", "shifted", cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (2, f"strop: mine.cpp: {phrase}"))


if __name__ == "__main__":
    unittest.main()
