"""A run that is killed at any moment goes on with nothing lost and nothing done twice."""

import json
import random
import signal
import sqlite3
import unittest

from tests.cli.strop_cli import WithRuns, descendants, lives, recorded, strop, wait_until

KILLS = 6
DOCUMENTS = "SELECT run || key FROM documents ORDER BY run, key"


class Killed(WithRuns):
    def kill_after(self, process, seconds):
        """Kills it unless it ends before; nothing that it started outlives it."""
        wait_until(lambda: process.poll() is not None, seconds)
        below = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertTrue(wait_until(lambda: not any(lives(*one) for one in below), 10))

    def test_at_random_moments(self):
        self.problem("shifted")
        moments = random.Random(20)
        words = ["optimize", "shifted", "--budget", "4s", "--evaluations", "12", "--seed", "5", "--quiet"]
        kept, documents = [], set()
        for _ in range(KILLS):
            process = self.start(*words)
            wait_until(lambda: self.store.exists() and recorded(self.store, "SELECT run FROM runs"))
            self.kill_after(process, moments.uniform(0, 2.5))
            now, now_documents = recorded(self.store), set(recorded(self.store, DOCUMENTS))
            self.assertEqual(now[:len(kept)], kept)
            self.assertLessEqual(documents, now_documents)
            kept, documents = now, now_documents
            [run] = self.runs()
            words = ["resume", run["run"], "--quiet"]
        done = strop(*words, "--store", "runs.db", "--json", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.complete(json.loads(done.stdout), kept, documents)

    def complete(self, record, kept, documents):
        keys = recorded(self.store)
        self.assertEqual(keys[:len(kept)], kept)
        self.assertEqual(len(keys), len(set(keys)))
        self.assertLessEqual(documents, set(recorded(self.store, DOCUMENTS)))
        self.assertIn(record["outcome"], ("improved", "no_improvement"))
        self.assertTrue(record["verified"], record["verification"])
        # Everything that was ever judged is in the final history, and nothing else.
        judged = [json.loads(text) for text in recorded(self.store, "SELECT evaluation FROM evaluations")]
        self.assertEqual(sorted((entry["kernel"], json.dumps(entry["configuration"], sort_keys=True))
                                for entry in judged),
                         sorted((entry["kernel"], json.dumps(entry["configuration"], sort_keys=True))
                                for entry in record["history"]))
        self.assertLessEqual(len(keys), 12)
        out = self.folder / "strop-out" / "shifted"
        self.assertEqual(json.loads((out / "report.json").read_text(encoding="utf-8")), record)
        self.assertGreater((out / "shifted.cpp").stat().st_size, 0)

    def test_while_it_writes_the_result(self):
        """Only a run whose result is complete counts as finished."""
        self.problem("shifted")
        process = self.start("optimize", "shifted", "--budget", "2s", "--evaluations", "3", "--seed", "5", "--quiet")
        out = self.folder / "strop-out" / "shifted"
        self.assertTrue(wait_until(lambda: out.exists() and any(out.iterdir()) and recorded(self.store)))
        self.kill_after(process, 0)
        [run] = self.runs()
        keys = recorded(self.store)
        done = strop("resume", run["run"], "--json", "--quiet", "--store", "runs.db", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(recorded(self.store), keys)
        self.assertEqual(json.loads((out / "report.json").read_text(encoding="utf-8")), json.loads(done.stdout))

    def test_between_its_verdict_and_its_result(self):
        self.problem("shifted")
        log = self.folder / "worker.log"
        # A long verification: what was saved before it is old.
        slow = self.fake_worker("--log", str(log), "--seconds", "compare=2.5", "--seconds", "vectors=60")
        process = self.start("optimize", "shifted", "--budget", "6s", "--evaluations", "3", "--quiet", "--worker", slow)
        self.assertTrue(wait_until(lambda: log.exists() and '"vectors"' in log.read_text(encoding="utf-8")))
        self.kill_after(process, 0)
        [run] = self.runs()
        self.assertEqual(run["outcome"], "running")
        out = self.folder / "strop-out" / "shifted"
        self.assertFalse(out.exists())
        done = strop("resume", run["run"], "--json", "--quiet", "--store", "runs.db", "--worker", self.fake_worker(),
                     cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(json.loads((out / "report.json").read_text(encoding="utf-8")), json.loads(done.stdout))

    def test_a_budget_of_the_users_is_not_cut_by_what_a_batch_took(self):
        self.problem("shifted")
        process = self.start_and_wait("optimize", "shifted", "--budget", "8s", "--evaluations", "8", "--quiet")
        self.kill_after(process, 0)
        [run] = self.runs()
        with sqlite3.connect(self.store) as connection:
            connection.execute("UPDATE runs SET record = json_set(record, '$.settings.shared_seconds', -6)")
        done = strop("resume", run["run"], "--budget", "5s", "--json", "--quiet", "--store", "runs.db", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        settings = json.loads(done.stdout)["settings"]
        self.assertEqual(settings["shared_seconds"], 0)
        self.assertGreater(settings["budget_seconds"], 5)


if __name__ == "__main__":
    unittest.main()
