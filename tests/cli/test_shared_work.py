"""Two runs on one problem, on one store and at once: what one has screened the other does not screen again."""

import json
import signal
import unittest

from tests.cli.strop_cli import WithRuns, recorded, strop, wait_until

RUN = ["optimize", "shifted", "--budget", "3s", "--evaluations", "8", "--point", "small", "--seed", "5", "--json", "--quiet"]


class SharedWork(WithRuns):
    def setUp(self):
        super().setUp()
        self.problem("shifted")

    def optimize(self, *words):
        return self.start(*RUN, *words)

    def finished(self, process):
        out, said = process.communicate(timeout=120)
        self.assertIn(process.returncode, (0, 1), said)
        record = json.loads(out)
        self.assertTrue(record["verified"], record["verification"])
        return record

    def judged(self):
        """{run: [what it has by itself, what it has of others]}, by key."""
        judged = {}
        for text in recorded(self.store, "SELECT run || '|' || evaluation FROM evaluations"):
            run, evaluation = text.split("|", 1)
            evaluation = json.loads(evaluation)
            judged.setdefault(run, ([], []))[bool(evaluation["judged_by"])].append(evaluation["key"])
        return judged

    def test_two_at_once(self):
        self.check_shared(self.optimize("--share", "yes", "--out", "one"), self.optimize("--share", "yes", "--out", "two"))

    def check_shared(self, *processes):
        records = [self.finished(process) for process in processes]
        (own, others), (own_of_second, others_of_second) = (self.judged()[record["run"]] for record in records)
        self.assertEqual(set(own) & set(own_of_second), set(), "judged twice")
        self.assertTrue(others or others_of_second)
        for record, taken, other in zip(records, (others, others_of_second), reversed(records)):
            self.assertEqual(record["evaluations"]["by_others"], {other["run"]: len(taken)} if taken else {})
            self.assertEqual(record["evaluations"]["total"], sum(record["evaluations"]["by_verdict"].values()))
        taken = next(record for record in records if record["evaluations"]["by_others"])
        [other] = taken["evaluations"]["by_others"]
        said = strop("report", taken["run"], "--store", "runs.db", cwd=self.folder).stdout
        self.assertIn(f"judged by {other}", " ".join(said.split()))    # lines end anywhere

    def test_a_run_that_was_killed_is_taken_over_and_resumed(self):
        first = self.optimize("--share", "yes", "--out", "one")
        self.assertTrue(wait_until(lambda: self.store.exists() and recorded(self.store)))
        [name] = recorded(self.store, "SELECT run FROM runs")
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=60)
        kept = self.judged()[name][0]
        second = self.finished(self.optimize("--share", "yes", "--out", "two"))
        self.assertLessEqual(set(kept), set(self.judged()[second["run"]][1]))
        done = strop("resume", name, "--json", "--quiet", "--store", "runs.db", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        own, others = self.judged()[name]
        self.assertEqual(own[:len(kept)], kept)
        self.assertEqual(set(own) & set(self.judged()[second["run"]][0]), set())

    def test_runs_of_a_file_are_alone_unless_asked(self):
        for out in ("one", "two"):
            self.assertEqual(self.finished(self.optimize("--out", out))["evaluations"]["by_others"], {})
        for own, others in self.judged().values():
            self.assertTrue(own)
            self.assertEqual(others, [])


if __name__ == "__main__":
    unittest.main()
