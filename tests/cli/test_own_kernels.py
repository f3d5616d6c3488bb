"""A person's kernels in the main job, winners of earlier runs, and what runs of relatives found."""

import json
import subprocess
import unittest

from tests.cli.strop_cli import BINARY, InFolder, environment, strop

KERNEL = """#include <stdint.h>
// strop:tune BLOCK = 1 | 16 | 64
extern "C" void shifted(const float* x, const float* b, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i)
        for (int64_t begin = 0; begin < N; begin += BLOCK)
            for (int64_t j = begin; j < begin + BLOCK && j < N; ++j) {
                const float sum = x[i * N + j] + b[j];
                y[i * N + j] = sum > 0 ? sum : 0;
            }
}
"""


class OwnKernels(InFolder):
    def setUp(self):
        super().setUp()
        self.problem("shifted")
        (self.folder / "mine.cpp").write_text(KERNEL, encoding="utf-8")

    def optimize(self, *words, store="runs.db", problem="shifted"):
        done = strop("optimize", problem, "--store", store, "--budget", "20s", "--seed", "3", "--quiet", "--json",
                     *words, cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def test_they_compete_and_are_compared_with(self):
        record = self.optimize("--kernel", "mine.cpp", "--evaluations", "20")
        self.assertTrue(record["verified"], record["verification"])
        mine = [entry["configuration"]["BLOCK"] for entry in record["history"] if entry["kernel"] == "mine"]
        self.assertEqual(mine[0], 1)            # as it is
        self.assertGreater(len(set(mine)), 1)   # and tuned
        self.assertGreater(len({entry["kernel"] for entry in record["history"]}), 1)
        for shape in record["shapes"]:
            self.assertIn("your kernel", shape["baselines"])
            self.assertIn("your kernel", shape["speedups"])
        self.assertIn("your kernel", record["verification"])

    def test_the_inputs_of_a_wrong_output_can_be_had_again(self):
        (self.folder / "wrong.cpp").write_text(KERNEL.replace("sum > 0", "sum > 2.5"), encoding="utf-8")
        judge = ["judge", "wrong.cpp", "--problem", "shifted"]
        first = strop(*judge, cwd=self.folder)
        self.assertEqual(first.returncode, 1, first.stderr)
        given = first.stdout.splitlines()[-1].rpartition("--seed ")[2]
        evidence = first.stdout.splitlines()[1]
        again, other = [strop(*judge, "--seed", seed, cwd=self.folder).stdout for seed in (given, "1")]
        self.assertEqual(again.splitlines()[1], evidence)
        self.assertNotEqual(other.splitlines()[1], evidence)
        self.assertNotIn("--seed", again)

    def test_whole_numbers_are_shown_as_such(self):
        self.problem("counted", "return (x > 0).sum(1) + 70_000_000_000", outputs="{y: {dtype: int64, shape: [M]}}")
        (self.folder / "counted.cpp").write_text(
            '#include <stdint.h>\nextern "C" void counted(const float* x, const float* b, int64_t* y, int64_t M, int64_t N) {'
            "\n    for (int64_t i = 0; i < M; ++i) y[i] = 70000000000 - 1;\n}\n", encoding="utf-8")
        done = strop("judge", "counted.cpp", "--problem", "counted", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"y\[0\] is 69999999999, expected 700000000\d\d; ")

    def test_a_file_of_another_editor(self):
        (self.folder / "mine.cpp").write_bytes(b"\xef\xbb\xbf" + KERNEL.replace("\n", "\r\n").encode())
        done = strop("tune", "mine.cpp", "--problem", "shifted", "--budget", "5s", "--evaluations", "2", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)    # 1: a loud machine cannot tell it from NumPy
        self.assertIn("held-out shapes correct", done.stdout)

    def test_nobody_reads_on(self):
        command = f"{BINARY} optimize shifted --budget 5s --evaluations 2 --store b.db 2>&1 | head -c 60"
        done = subprocess.run(["bash", "-c", command + "; exit ${PIPESTATUS[0]}"], cwd=self.folder, capture_output=True,
                              text=True, check=False, env=environment(), timeout=120)
        self.assertIn(done.returncode, (0, 1, 141), done.stderr)  # it may have said all before
        self.assertEqual(done.stderr, "")

    def test_a_second_run_begins_with_the_winner_of_the_first(self):
        first = self.optimize("--kernel", "mine.cpp", "--evaluations", "12", "--winners", "1")
        winner = first["regimes"][0]
        second = self.optimize("--evaluations", "4", "--record", "run.json")
        begun = second["history"][0]
        self.assertEqual((begun["kernel"], begun["configuration"]), (winner["kernel"], winner["configuration"]))
        replayed = self.optimize("--replay", "run.json", store="other.db")
        self.assertEqual([entry["kernel"] for entry in replayed["history"]],
                         [entry["kernel"] for entry in second["history"]])

    def test_a_relative_learns_from_it(self):
        first = self.optimize("--evaluations", "12", "--winners", "1")
        winner = first["regimes"][0]
        self.problem("capped", "return np.minimum(np.maximum(x + b, 0), 6)")
        known = json.loads(strop("query", "--store", "runs.db", "--similar", "capped", "--json", cwd=self.folder).stdout)["runs"]
        self.assertEqual([found["run"] for found in known], [first["run"]])
        self.assertTrue(0.5 <= known[0]["similarity"] < 1, known)
        self.assertEqual(known[0]["winners"][0]["configuration"], winner["configuration"])
        lost = [strategy["id"] for strategy in first["strategies"] if strategy["state"] == "pruned"]
        self.assertEqual([strategy["strategy"] for strategy in known[0]["lost"]], lost)
        self.assertIn(f"  won   {winner['strategy']}  ", strop("query", "--store", "runs.db", cwd=self.folder).stdout)
        begun = self.optimize("--evaluations", "4", "--record", "run.json", problem="capped")
        self.assertIn("began with 1 winner of shifted", begun["note"])
        entry = begun["history"][0]
        self.assertEqual(entry["strategy"], winner["strategy"].split("+")[0])
        for name, value in entry["configuration"].items():
            self.assertEqual(value, winner["configuration"].get(name, value))
        replayed = self.optimize("--replay", "run.json", store="other.db", problem="capped")
        self.assertEqual(replayed["note"], begun["note"])
        self.assertEqual([entry["kernel"] for entry in replayed["history"]],
                         [entry["kernel"] for entry in begun["history"]])
        self.assertNotIn("began", self.optimize("--evaluations", "4", "--no-knowledge", problem="capped")["note"])

    def test_a_file_that_is_not_there(self):
        self.fails(["optimize", "shifted", "--kernel", "nowhere.cpp"], 2, "nowhere.cpp: there is no such kernel",
                   'give a C++ file: extern "C" void NAME(inputs..., outputs..., dimensions...), or an OpenCL program (.cl)')


class NoKernels(InFolder):
    def test_a_folder_is_no_kernel(self):
        (self.folder / "task").mkdir()
        self.fails(("judge", "task", "submission.py"), 2, "task: is a folder, not a kernel",
                   "a problem is named by --problem task")


if __name__ == "__main__":
    unittest.main()
