"""Several problems in one command: one after another, none lost, none twice."""

import json
import re
import signal
import unittest

from tests.cli.strop_cli import WithRuns, recorded, strop, wait_until

FEW = ["--budget", "4s", "--evaluations", "2", "--quiet", "--store", "runs.db"]
OF_RUN = "SELECT key FROM evaluations WHERE run = '{}' ORDER BY sequence"


class Batch(WithRuns):
    def test_one_failure_stops_nothing_and_what_is_done_is_skipped(self):
        self.problem("shifted")
        self.problem("scaled", "return np.maximum(x * b, 0)")
        words = ["optimize", "shifted", "problems/nothing", "scaled", *FEW]
        done = strop(*words, cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^PROBLEM +OUTCOME +SPEEDUP")
        self.assertRegex(done.stdout, r"(?m)^problems/nothing +failed +– +– +\S")
        for name in ("shifted", "scaled"):
            self.assertRegex(done.stdout, rf"(?m)^{name} +(improved|no_improvement) +\d")
            self.assertTrue((self.folder / "strop-out" / name / f"{name}.cpp").exists())
        self.assertRegex(done.stderr, r"\Astrop: .*nothing.*\nhint: .*\n\Z")
        runs = self.runs()
        self.assertEqual(len(runs), 2)
        again = json.loads(strop(*words, "--json", cwd=self.folder).stdout)
        self.assertEqual([(one["outcome"] == "failed", one["note"] == "done before") for one in again["problems"]],
                         [(False, True), (True, False), (False, True)])
        self.assertEqual(self.runs(), runs)

    def test_an_interrupted_one_is_resumed_by_the_same_command(self):
        self.problem("shifted")
        self.problem("scaled", "return np.maximum(x * b, 0)")
        words = ["optimize", "shifted", "scaled", "--budget", "6s", "--evaluations", "30"]
        process = self.start_and_wait(*words)
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assertRegex(str(shown), r"shifted +interrupted")
        self.assertRegex(str(shown), r"scaled +not begun")
        [run] = self.runs()
        kept = recorded(self.store)
        done = strop(*words, "--store", "runs.db", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1))
        self.assertIn(f"resuming {run['run']}\n", done.stderr)
        self.assertEqual(len(self.runs()), 2)
        keys = recorded(self.store, OF_RUN.format(run["run"]))
        self.assertEqual(keys[:len(kept)], kept)
        self.assertEqual(len(keys), len(set(keys)))

    def record(self, run):
        return json.loads(strop("show", run["run"], "--store", "runs.db", "--json", cwd=self.folder).stdout)

    def test_searches_that_the_time_ended_go_on_with_what_others_left(self):
        self.problem("shifted")
        self.problem("scaled", "return np.maximum(x * b, 0)")
        self.problem("product", "return x * b + np.exp(x)")
        words = ["optimize", "shifted", "scaled", "product", "--jobs", "auto", "--budget", "24s", "--store", "runs.db"]
        done = strop(*words, cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        waited = re.findall(r"(?m)^(\w+): waits for its share$", done.stderr)
        went_on = re.findall(r"(?m)^\[\d+ more s of search\] (\w+)$", done.stderr)
        self.assertEqual(sorted(waited), sorted(went_on), done.stderr)
        for run in self.runs():
            self.assertIn(run["outcome"], ("improved", "no_improvement"))
            record = self.record(run)
            keys = recorded(self.store, OF_RUN.format(run["run"]))
            self.assertEqual(len(keys), len(set(keys)))
            seconds = [entry["seconds"] for entry in record["history"]]
            self.assertEqual(seconds, sorted(seconds))

    def test_a_budget_for_all_is_shared_and_survives_a_kill(self):
        self.problem("shifted")
        self.problem("scaled", "return np.maximum(x * b, 0)")
        words = ["optimize", "shifted", "scaled", "--jobs", "auto", "--budget", "24s"]
        process = self.start_and_wait(*words)
        process.kill()
        process.wait()
        begun = {run["problem"]: run["run"] for run in self.runs()}    # where this machine is slow, both of them
        kept = recorded(self.store, OF_RUN.format(begun["shifted"]))
        done = strop(*words, "--store", "runs.db", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        waits = "[1/2] shifted\nshifted: waits for its share\n"    # it was killed after its own share
        self.assertTrue(f"resuming {begun['shifted']}\n" in done.stderr or waits in done.stderr, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^shifted: (improved|no_improvement), \S+")   # a line as each ends
        keys = recorded(self.store, OF_RUN.format(begun["shifted"]))
        self.assertEqual(keys[:len(kept)], kept)
        self.assertEqual(len(keys), len(set(keys)))
        runs = self.runs()
        self.assertEqual(sorted(run["problem"] for run in runs), ["scaled", "shifted"])    # one each
        for run in runs:
            settings = self.record(run)["settings"]
            self.assertEqual(settings["budget_seconds"], 12)
            waited = f"{run['problem']}: waits for its share\n" in done.stderr
            if run["problem"] == "shifted" or run["problem"] not in begun:
                self.assertEqual(settings["shared_seconds"] != 0, waited, done.stderr)
        again = strop(*words, "--store", "runs.db", "--json", cwd=self.folder)
        self.assertEqual([one["note"] for one in json.loads(again.stdout)["problems"]], ["done before"] * 2)
        self.assertEqual(self.runs(), runs)

    def test_what_is_for_one_problem_only(self):
        self.fails(["optimize", "shifted", "scaled", "--point", "small"], 2, "--point is for one problem, not for 2",
                   "run the problems one by one")


if __name__ == "__main__":
    unittest.main()
