"""Batches as Jobs of Kubernetes, a fake one (tests/fakes/kubectl.py): nothing is lost, nothing is done twice."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from tests.cli.scheduled_batch import ONE_SHAPE, ScheduledBatch
from tests.cli.strop_cli import BINARY, HOME, wait_until

FAKE = pathlib.Path(HOME) / "tests/fakes/kubectl.py"
ON = ["--on", "k8s", "--k8s", "pod.yaml", "--evaluations", "2"]
INDEX = "batch.kubernetes.io/job-completion-index"
POD = """apiVersion: v1
kind: Pod
metadata:
  namespace: team
  labels: {queue: "7"}
spec:
  securityContext: {runAsUser: 0x3e8}
  containers:
  - name: main
    image: example/strop:1
    resources: {}
    env: [{name: WORDS, value: "yes"}]
    volumeMounts: [{name: work, mountPath: /work, readOnly: no}]
  volumes:
  - {name: work, persistentVolumeClaim: {claimName: work}}
  - {name: keys, secret: {secretName: keys, defaultMode: 0400}}
"""


class Kubernetes(ScheduledBatch):
    def setUp(self):
        super().setUp()
        self.fakes("FAKE_KUBERNETES", kubectl=f'exec {sys.executable} -S -E {FAKE} "$@"',
                   strop=f'exec {os.path.abspath(BINARY)} "$@"')      # the image's
        (self.folder / "pod.yaml").write_text(POD, encoding="utf-8")
        self.addCleanup(self.end_jobs)

    def end_jobs(self):
        for job in self.jobs():
            (job / "delete").touch()
        self.assertTrue(wait_until(lambda: all((job / "over").exists() for job in self.jobs())))

    def jobs(self):
        return list(self.cluster.glob("strop-*"))

    def phases(self):
        return [json.loads(pod.read_text(encoding="utf-8"))["status"]["phase"]
                for pod in sorted(self.cluster.glob("strop-*/pod_*.json"))]

    def test_dry_run_needs_no_kubectl(self):
        self.problem("shifted")
        self.problem("scaled", "return np.maximum(x * b, 0)")
        self.variables = {"PATH": str(self.folder)}
        words = ["shifted", "scaled", *ON, "--seed", "7", "--out", "my results", "--dry-run"]
        done = self.strop(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse((self.folder / "my results").exists())
        script, manifest, command = re.fullmatch(r"(?s)# /.*?\n(.*)\n# /.*?\n(.*)\n\n# (.*)", done.stdout).groups()
        self.assertIn('case "$1" in', script)
        self.assertIn('\nstrop optimize "$problem" --continue', script)
        self.assertRegex(script, "--evaluations 2 --seed 7 &\n")
        self.assertNotIn("STROP_HOME", script)     # the image has its own
        self.assertRegex(command,
                         r"\Akubectl create '--filename=.*/my results/strop-batch-job.json' --namespace=team\n")
        self.assertEqual(subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode, 0)
        job = json.loads(manifest)
        self.assertEqual(job["metadata"], {"name": "strop-NAME", "namespace": "team",
                                           "labels": {"queue": "7", "strop-batch": "strop-NAME"}})
        said = job["spec"]
        self.assertEqual((said["completionMode"], said["completions"], said["backoffLimitPerIndex"]), ("Indexed", 2, 0))
        pod = job["spec"]["template"]["spec"]
        self.assertEqual(pod["containers"][0]["command"], ["/bin/bash", f"{self.folder}/my results/strop-batch.sh"])
        self.assertEqual(pod["containers"][0]["args"], ["0", "1"])
        self.assertEqual((pod["restartPolicy"], pod["securityContext"]["runAsUser"]), ("Never", 1000))
        self.assertEqual(pod["containers"][0]["env"][0]["value"], "yes")
        self.assertIs(pod["containers"][0]["volumeMounts"][0]["readOnly"], False)
        self.assertEqual(pod["volumes"][1]["secret"]["defaultMode"], 0o400)
        self.assertIn("podAntiAffinity", pod["affinity"])
        (self.folder / "pod.yaml").write_text(POD + "  affinity: {}\n", encoding="utf-8")
        self.assertNotIn("podAntiAffinity", self.strop(*words).stdout)      # how pods share nodes is said

    def refused(self, pod, phrase, hint):
        (self.folder / "pod.yaml").write_text(pod, encoding="utf-8")
        self.fails(["optimize", "shifted", *ON], 2, phrase, hint)

    def test_what_is_refused(self):
        self.problem("shifted")
        form = "a pod as kubectl takes it: apiVersion: v1, kind: Pod, spec: {containers: [{name: strop, image: IMAGE}]}"
        self.fails(["optimize", "shifted", "--k8s", "pod.yaml"], 2, "--k8s without --on k8s", "add --on k8s")
        self.fails(["optimize", "shifted", "--on", "slurm", "--k8s", "pod.yaml"], 2, "--k8s without --on k8s",
                   "add --on k8s")
        self.fails(["optimize", "shifted", "--on", "k8s"], 2, "--on k8s needs the pod that runs a problem",
                   "--k8s pod.yaml: its image has Strop, its volumes this folder (docs/workers.md)")
        self.refused("kind: Deployment\n", "pod.yaml:1: it is a Deployment, not a Pod", form)
        self.refused("spec: {}\n", "pod.yaml:1: it does not say 'kind: Pod'", form)
        self.refused("kind: Pod\nspec:\n  containers: []\n", "pod.yaml:3: 'containers' is empty", form)
        self.refused(POD + "  restartPolicy: Always\n", "pod.yaml:17: 'restartPolicy: Always' does not fit",
                     "leave it out; the job starts a pod that was evicted again")
        self.refused(POD.replace("    image:", "    command: [sleep]\n    image:"),
                     "pod.yaml:10: 'command' is for Strop to say",
                     "leave it out; the container runs `strop` from its PATH")
        self.refused(POD.replace("image: example/strop:1", ""), "pod.yaml:9: the first container has no image",
                     "name one that has Strop in it")
        self.refused(POD.replace("team", "My_Team"), "pod.yaml:4: Kubernetes has no namespace of the name 'My_Team'",
                     "small letters, digits and dashes, 63 at most")
        self.refused("kind: Pod\nspec: &a\n  containers: [{image: x, env: *a}]\n",
                     "pod.yaml:3: 'containers' is nested too deep", "does an alias (*) hold itself?")
        (self.folder / "pod.yaml").write_text(POD, encoding="utf-8")
        shared = self.strop("shifted", *ON, "--store", "postgresql://ann:secret@db/strop")
        self.assertEqual(shared.returncode, 2)
        self.assertIn("would be written into the script", shared.stderr)
        (self.cluster / "refuse").write_text('Error from server (Forbidden): jobs.batch is forbidden: User "ann" '
                                             "cannot create resource", "utf-8")
        done = self.strop("shifted", *ON)
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.startswith("strop: kubectl does not create the job: Error from server (Forbidden): "
                                               'jobs.batch is forbidden: User "ann" cannot create resource\nhint: '))
        self.variables["PATH"] = str(self.folder)
        done = self.strop("shifted", *ON)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "strop: there is no kubectl here\n"
                                      "hint: run it where kubectl reaches the cluster; --dry-run needs none\n")

    def test_a_killed_leader_follows_its_job_and_nothing_is_done_twice(self):
        self.problem("shifted", **ONE_SHAPE)
        self.problem("scaled", "return np.maximum(x * b, 0)", **ONE_SHAPE)
        self.problem("broken", "return x / undefined_name")
        (self.cluster / "context").write_text("mine\ndefault", encoding="utf-8")
        words = ["shifted", "scaled", "broken", *ON, "--budget", "2s"]
        leader = self.start(*words)
        self.assertTrue(wait_until(lambda: "Running" in self.phases()))
        self.assertEqual(self.strop(*words).returncode, 2)
        leader.kill()
        leader.wait()
        name = self.jobs()[0].name
        file = self.folder / "strop-out/strop-batch.json"
        kept = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual((kept["name"], kept["place"]), (name, "k8s, context mine, namespace team"))
        file.write_text(json.dumps({**kept, "job": ""}), encoding="utf-8")     # killed before it could write the id
        other = self.strop("shifted", *ON, "--budget", "3s")
        self.assertEqual(other.returncode, 2)
        self.assertIn(f"(`kubectl delete job {name} --namespace=team`)", other.stderr)
        (self.cluster / "context").write_text("other\ndefault", encoding="utf-8")
        other = self.strop(*words)
        self.assertEqual(other.returncode, 2)
        self.assertIn("its batch was submitted elsewhere (k8s, context mine, namespace team)\nhint: go back there",
                      other.stderr)
        (self.cluster / "context").write_text("mine\ndefault", encoding="utf-8")
        done = self.strop(*words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"following job {name}\n", done.stderr)
        for problem in ("shifted", "scaled"):
            self.assertRegex(done.stdout,
                             rf"(?m)^{problem} +(improved|no_improvement) +\d\S+ \S+ +\S*strop-out/{problem}")
            self.assertEqual(len(self.run_names(problem)), 1)
        self.assertRegex(done.stdout, r"(?m)^broken +failed +– +– +.*undefined_name")
        self.assertEqual(len(self.calls("create")), 1)
        shutil.rmtree(self.folder / "strop-out/scaled")      # a result that is gone is made again
        (self.cluster / "refuse").write_text("no more", encoding="utf-8")
        self.strop(*words)
        job = json.loads((self.folder / "strop-out/strop-batch-job.json").read_text(encoding="utf-8"))
        self.assertEqual(job["spec"]["template"]["spec"]["containers"][0]["args"], ["1", "2"])

    def test_what_kubernetes_says_is_in_the_table(self):
        def pod(index, created="2026-01-01T00:00:01Z", phase="Failed", **ended):
            state = {"state": {"terminated": {"exitCode": 128, **ended}}}
            return {"kind": "Pod", "metadata": {"annotations": {INDEX: str(index)}, "creationTimestamp": created},
                    "status": {"phase": phase, "containerStatuses": [state]}}

        names = ["large", "lacking", "late", "unmounted", "left"]
        for name in names:
            self.problem(name)
        late = pod(2)
        late["status"]["reason"] = "DeadlineExceeded"
        ended = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active too long"}
        spec = {"containers": [{"args": ["0", "1", "2", "3", "4"]}]}
        job = {"kind": "Job", "spec": {"template": {"spec": spec}},
               "status": {"failedIndexes": "0-2,3", "conditions": [ended]}}
        pods = [pod(0, reason="OOMKilled"), pod(1, reason="StartError", message="one\nno /bin/bash\n"), late,
                pod(3, message="no such file"), pod(3, "2025-01-01T00:00:00Z", message="evicted")]
        (self.folder / "answer").write_text(json.dumps({"items": [job, *pods]}), encoding="utf-8")
        self.program("kubectl", f"[ $1 != get ] || cat {self.folder}/answer")
        done = self.strop(*names, *ON)
        self.assertEqual(done.returncode, 1)
        for name, says in (("large", "it took more memory than its container has"), ("lacking", "no /bin/bash"),
                           ("late", "the pod's deadline ended it"), ("unmounted", "no such file"),
                           ("left", "DeadlineExceeded: Job was active too long")):
            self.assertRegex(done.stdout, rf"(?m)^{name} +failed +– +– +{says}$")
        (self.folder / "answer").write_text("[]", encoding="utf-8")
        self.assertIn("is not known: kubectl: its answer is no list of jobs and pods\n", self.strop(*names, *ON).stderr)

    def test_interrupt_deletes_the_job_and_an_evicted_pod_goes_on(self):
        self.problem("shifted", **ONE_SHAPE)
        words = ["shifted", *ON[:4], "--budget", "6s", "--evaluations", "20"]
        (self.cluster / "waits").touch()
        leader = self.start(*words)
        self.assertTrue(wait_until(lambda: len(self.calls("get")) > 1))
        (self.cluster / "waits").unlink()
        self.assertTrue(wait_until(lambda: self.evaluated("shifted") or leader.poll() is not None))
        said, kept = self.interrupted(leader, "shifted")
        self.assertIn("\nwaiting: ImagePullBackOff: Back-off pulling image\n", said)
        self.assertEqual(self.phases(), ["Failed"])
        (self.cluster / "down").touch()
        lost = self.strop(*words)
        self.assertEqual(lost.returncode, 3)
        self.assertRegex(lost.stderr, "strop: what became of job strop-.* is not known: kubectl: The connection to the "
                                      "server 10.0.0.1:6443 was refused\nhint: .* once kubectl answers\n")
        (self.cluster / "down").unlink()
        def evict():
            next(job for job in self.jobs() if not (job / "delete").exists()).joinpath("evict").touch()

        said, log = self.goes_on(words, "shifted", kept, "get", evict)
        self.assertRegex(said, "(?m)^! kubectl: The connection .*; the job goes on, and kubectl is asked again$")
        self.assertRegex(log, r"(?s)task 0\n.*resuming shifted.*stopped by a signal.*task 0\n.*resuming shifted")


if __name__ == "__main__":
    unittest.main()
