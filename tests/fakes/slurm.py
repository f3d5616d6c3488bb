"""A Slurm of one node: `slurm.py sbatch|squeue|scancel|sacct ...` keeps jobs as files in $FAKE_SLURM.

A job is a folder ID with a file a task that holds its state; its tasks run one after another. Files of these names
change what happens: `refuse` (what sbatch says before it fails), `down` (squeue fails), `forgets` (squeue shows no task
that has ended), ID/requeue (the running task gets SIGTERM and is started again). `calls` has all command lines.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

from fake_commands import fail, replace, value

ROOT = pathlib.Path(os.environ["FAKE_SLURM"])
ENDED = ("COMPLETED", "FAILED", "CANCELLED")


def run_task(job, task, words, restarts=0):
    """The state in which it ends."""
    replace(task, "RUNNING")
    variables = {"SLURM_ARRAY_JOB_ID": job.name, "SLURM_ARRAY_TASK_ID": task.name.removeprefix("task_"),
                 **({"SLURM_RESTART_COUNT": str(restarts)} if restarts else {})}
    with open(value(words, "--output").replace("%%", "%"), "ab") as log:
        process = subprocess.Popen(["/bin/bash", str(job / "script")], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env={**os.environ, **variables}, start_new_session=True)
    again = False
    while process.poll() is None:
        if (job / "requeue").exists():
            (job / "requeue").unlink()
            again = True
            process.send_signal(signal.SIGTERM)      # as --signal=B:TERM: to the shell alone
        if (job / "cancel").exists():
            os.killpg(process.pid, signal.SIGTERM)   # to all of its processes
            process.wait()
            return "CANCELLED"
        time.sleep(0.02)
    if again:
        replace(task, "PENDING")
        return run_task(job, task, words, restarts + 1)
    return "FAILED" if process.returncode else "COMPLETED"


def run_job(job, words):
    (job / "pid").write_text(str(os.getpid()), encoding="utf-8")
    for task in sorted(job.glob("task_*")):
        replace(task, "CANCELLED" if (job / "cancel").exists() else run_task(job, task, words))


def sbatch(words):
    if (ROOT / "refuse").exists():
        fail((ROOT / "refuse").read_text(encoding="utf-8"))
    job = ROOT / str(1000 + len(list(ROOT.glob("1*"))))
    job.mkdir()
    for index in value(words, "--array").split(","):
        (job / f"task_{index}").write_text("PENDING", encoding="utf-8")
    (job / "script").write_bytes(pathlib.Path(words[-1]).read_bytes())
    (job / "name").write_text(value(words, "--job-name"), encoding="utf-8")
    if os.fork() == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        run_job(job, words)
        os._exit(0)
    print(job.name)


def tasks_of(job):
    for task in sorted(job.glob("task_*")):
        yield f"{job.name}_{task.name.removeprefix('task_')}", task.read_text(encoding="utf-8")


def squeue(words):
    if (ROOT / "down").exists():
        fail("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
    for job in sorted(ROOT.glob("1*")):
        if (job / "name").read_text(encoding="utf-8") == value(words, "--name"):
            for task, state in tasks_of(job):
                if not (state in ENDED and (ROOT / "forgets").exists()):
                    print(f"{task}|{state}|None")


def sacct(words):
    job, _, _ = value(words, "--jobs").partition("_")
    for task, state in tasks_of(ROOT / job):
        print(f"{task}|{state} by 1000" if state == "CANCELLED" else f"{task}|{state}")


def scancel(words):
    (ROOT / words[0] / "cancel").touch()


if __name__ == "__main__":
    with open(ROOT / "calls", "a", encoding="utf-8") as calls:
        calls.write(" ".join(sys.argv[1:]) + "\n")
    {"sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scancel": scancel}[sys.argv[1]](sys.argv[2:])
