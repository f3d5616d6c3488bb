"""Batches as array jobs of Slurm, a fake one (tests/fakes/slurm.py): nothing is lost, nothing is done twice."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

from tests.cli.scheduled_batch import ONE_SHAPE, ScheduledBatch
from tests.cli.strop_cli import HOME, strop, wait_until

FAKE = pathlib.Path(HOME) / "tests/fakes/slurm.py"
ON = ["--on", "slurm", "--evaluations", "2"]


class Scheduler(ScheduledBatch):
    def setUp(self):
        super().setUp()
        self.fakes("FAKE_SLURM", **{name: f'exec {sys.executable} -S -E {FAKE} {name} "$@"'
                                    for name in ("sbatch", "squeue", "sacct", "scancel")})
        self.addCleanup(self.end_jobs)

    def end_jobs(self):
        for job in self.cluster.glob("1*"):
            (job / "cancel").touch()
        self.assertTrue(wait_until(lambda: not any(self.states().count(one) for one in ("RUNNING", "PENDING"))))

    def states(self):
        return [task.read_text(encoding="utf-8") for task in sorted(self.cluster.glob("1*/task_*"))]

    def test_dry_run_needs_no_slurm(self):
        self.problem("shifted")
        self.problem("scaled", "return np.maximum(x * b, 0)")
        self.variables = {"PATH": str(self.folder)}
        done = self.strop("shifted", "scaled", *ON, "--budget", "10m", "--seed", "7", "--slurm", "--partition=cpu -c4",
                          "--out", "my results", "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\n#SBATCH --time=60\n", done.stdout)
        self.assertNotIn("--exclusive", done.stdout)      # -c4 says how much of the node
        self.assertRegex(done.stdout, r"(?m)^    1\) name=scaled problem=\S+/problems/scaled ;;$")
        self.assertRegex(done.stdout, r"--budget 10m --evaluations 2 --seed 7 &\n")
        self.assertRegex(done.stdout, r"\n# sbatch --parsable .*--array=0,1 .*--partition=cpu -c4 '.*strop-batch.sh'\n")
        self.assertFalse((self.folder / "my results").exists())
        script = done.stdout.split("\n", 1)[1].rsplit("\n#", 1)[0]
        self.assertEqual(subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode, 0)

    def test_what_is_refused(self):
        self.problem("shifted")
        self.fails(["optimize", "shifted", "--on", "lsf"], 2, "--on: 'lsf' does not fit", "choose from slurm, k8s")
        self.fails(["optimize", "shifted", "--slurm", "-c4"], 2, "--slurm without --on slurm", "add --on slurm")
        self.fails(["optimize", "shifted", "--on", "slurm", "--slurm", "--array=7"], 2,
                   "--slurm: --array is for Strop to say", "leave it out")
        self.fails(["optimize", "shifted", "--on", "slurm", "--store", "runs.db"], 2,
                   "--store runs.db: the tasks of a job cannot share a file",
                   "leave it out (each task has its own beside its result), or name a PostgreSQL server")
        self.fails(["optimize", "shifted", "--on", "slurm", "--out", "/proc/x"], 3,
                   "/proc/x: cannot be written: No such file or directory",
                   "choose a place that you may write to")
        shared = self.strop("shifted", *ON, "--store", "postgresql://ann:secret@db/strop")
        self.assertEqual(shared.returncode, 2)
        self.assertIn("would be written into the script", shared.stderr)
        self.assertNotIn("secret", shared.stderr)
        (self.cluster / "refuse").write_text("sbatch: error: Batch job submission failed: Invalid partition", "utf-8")
        done = self.strop("shifted", *ON)
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.startswith("strop: sbatch refuses the job: sbatch: error: Batch job submission "
                                               "failed: Invalid partition\nhint: "), done.stderr)
        self.variables["PATH"] = str(self.folder)
        done = self.strop("shifted", *ON)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"\Astrop: there is no (sbatch|squeue) here\nhint: .*--dry-run.*\n\Z")

    def test_a_killed_leader_follows_its_job_and_nothing_is_done_twice(self):
        self.problem("shifted", **ONE_SHAPE)
        self.problem("scaled", "return np.maximum(x * b, 0)", **ONE_SHAPE)
        words = ["shifted", "scaled", *ON, "--budget", "2s"]
        leader = self.start(*words)
        self.assertTrue(wait_until(lambda: "RUNNING" in self.states()))
        second = self.strop(*words)
        self.assertEqual(second.returncode, 2)
        self.assertIn("another command follows this batch", second.stderr)
        leader.kill()
        leader.wait()
        kept = json.loads((self.folder / "strop-out/strop-batch.json").read_text(encoding="utf-8"))
        kept["job"] = ""              # as if it had been killed before it could write the id
        (self.folder / "strop-out/strop-batch.json").write_text(json.dumps(kept), encoding="utf-8")
        other = self.strop("shifted", *ON, "--budget", "3s")
        self.assertEqual(other.returncode, 2)
        self.assertRegex(other.stderr, "strop-out: job 1000 of another command still runs there\nhint: .*scancel 1000")
        done = self.strop(*words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("following job 1000\n", done.stderr)
        for name in ("shifted", "scaled"):
            self.assertRegex(done.stdout, rf"(?m)^{name} +(improved|no_improvement) +\d\S+ \S+ +\S*strop-out/{name}")
            self.assertTrue((self.folder / f"strop-out/{name}/report.json").exists())
            self.assertEqual(len(self.run_names(name)), 1)
        again = json.loads(self.strop(*words, "--json").stdout)
        self.assertEqual([one["note"] for one in again["problems"]], ["done before"] * 2)
        self.assertEqual(len(self.calls("sbatch")), 1)
        shutil.rmtree(self.folder / "strop-out/scaled")      # a result that is gone is made again, it alone
        (self.cluster / "refuse").write_text("no more", encoding="utf-8")
        self.strop(*words)
        self.assertIn("--array=1 ", self.calls("sbatch")[-1])

    def test_a_task_that_fails_or_is_forgotten_is_named(self):
        self.problem("broken", "return x / undefined_name")
        (self.cluster / "forgets").touch()
        done = self.strop("broken", "problems/nothing", *ON, "--budget", "2s")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^broken +failed +– +– +.*undefined_name")
        self.assertRegex(done.stdout, r"(?m)^problems/nothing +failed +– +– +\S")
        self.assertEqual(len(self.calls("sacct")), 1)
        (self.folder / "strop-out/strop-batch.json").write_text("{", encoding="utf-8")
        self.fails(["optimize", "broken", *ON], 2,
                   f"{self.folder}/strop-out/strop-batch.json: this is not what a batch writes",
                   "remove it once no job of the batch is left (`squeue --me`, `kubectl get jobs`)")

    def test_interrupt_cancels_the_job_and_the_same_command_goes_on(self):
        self.problem("shifted", **ONE_SHAPE)
        words = ["shifted", "--on", "slurm", "--budget", "6s", "--evaluations", "20"]
        leader = self.start(*words)
        self.assertTrue(wait_until(lambda: self.evaluated("shifted") or leader.poll() is not None))
        _, kept = self.interrupted(leader, "shifted")
        self.assertEqual(self.states(), ["CANCELLED"])
        (self.cluster / "down").touch()
        lost = self.strop(*words)
        self.assertEqual(lost.returncode, 3)
        self.assertIn("strop: what became of job 1000 is not known: squeue: slurm_load_jobs error", lost.stderr)
        (self.cluster / "down").unlink()
        said, log = self.goes_on(words, "shifted", kept, "squeue",
                                 (self.cluster / "1001/requeue").touch)     # Slurm wants the node
        self.assertRegex(said, "(?m)^! squeue: slurm_load_jobs error.*; the job goes on, and squeue is asked again$")
        self.assertRegex(log, r"(?s)restart 0\n.*resuming shifted.*interrupted.*restart 1\n.*resuming shifted")


if __name__ == "__main__":
    unittest.main()
