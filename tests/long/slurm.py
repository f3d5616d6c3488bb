"""scripts/fleet slurm: a real Slurm with two nodes on this machine; workers by srun, a batch by --on slurm, preemption."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time

from tests.cli.postgres_server import free_port
from tests.cli.strop_cli import environment, recorded, write_problem
from tests.long.scene import STROP, Failure, checked, end, need, require, run, show, tell, wait_until

ONE_SHAPE = {"shapes": "{small: {M: 4, N: 32}}"}
ON = ["--on", "slurm", "--slurm", "-n1 --mem=0", "--seed", "1"]

CONFIG = """ClusterName=strop
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=1,bf_interval=1,requeue_delay=1
SelectType=select/cons_tres
JobRequeue=1
KillWait=20
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs={cores} State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    def __init__(self, scene):
        need(["munged", "slurmctld", "slurmd", "srun", "sbatch", "squeue", "scontrol", "scancel"],
             "apt-get install munge slurmctld slurmd slurm-client")
        self.scene, self.folder = scene, scene.folder / "slurm"
        for name in ("state", "spool-n1", "spool-n2"):
            (self.folder / name).mkdir(parents=True, mode=0o755)
        os.chmod(scene.folder, 0o755)
        self.config = self.folder / "slurm.conf"
        self.config.write_text(CONFIG.format(host=socket.gethostname().split(".")[0], folder=self.folder, port=free_port(),
                                             first=free_port(), second=free_port(), cores=os.cpu_count()), "utf-8")
        os.environ["SLURM_CONF"] = str(self.config)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                    f"--pid-file={self.folder}/munge.pid", f"--log-file={self.folder}/munge.log",
                    f"--seed-file={self.folder}/munge.seed")
        require(wait_until(lambda: (self.folder / "munge.socket").exists(), 10), "munged does not start")
        self.daemon("slurmctld", "-D", "-f", self.config)
        for node in ("n1", "n2"):
            self.daemon("slurmd", "-D", "-N", node, "-f", self.config)
        scene.callback(self.end_jobs)
        require(wait_until(lambda: self.states() == ["idle", "idle"], 60), f"the nodes are {self.states()}: {self.log()}")

    def daemon(self, *words):
        with (self.folder / "said").open("ab") as said:
            self.scene.start(*words, stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def log(self):
        return (self.folder / "said").read_text("utf-8", "replace").strip()[-300:]

    def states(self):
        done = run("sinfo", "--noheader", "--Node", "--format=%T")
        return done.stdout.split()

    def end_jobs(self):
        """Steps live in sessions of their own: they go before their daemons."""
        with contextlib.suppress(Failure):
            run("scancel", "--full", "--signal=KILL", "--user=root", seconds=30)
            wait_until(lambda: not run("squeue", "--noheader").stdout.strip(), 20)

    def running(self):
        """The tasks of the array that run: 1234_0."""
        done = run("squeue", "--noheader", "--array", "--states=RUNNING", "--format=%i")
        return [task for task in done.stdout.split() if "_" in task]


def keys_of(folder, name):
    return recorded(folder / f"strop-out/{name}.db")


def check_batch(folder, names, row):
    for name in names:
        keys = keys_of(folder, name)
        runs = recorded(folder / f"strop-out/{name}.db", "SELECT run FROM runs")
        record = json.loads((folder / f"strop-out/{name}/report.json").read_text("utf-8"))
        require(len(runs) == 1, f"{name} has {len(runs)} runs")
        require(len(keys) == len(set(keys)) == record["evaluations"]["total"], f"{name}: something was done twice or lost")
        require(record["verified"], f"{name} is not verified: {record['verification']}")
    row["evaluations"] = sum(len(keys_of(folder, name)) for name in names)


def workers_by_srun(slurm, folder, row):
    write_problem(folder, "shifted")
    worker = f"srun --quiet -n1 -N1 --exclusive --mem=0 {STROP} worker"
    done = run(STROP, "optimize", "shifted", "--budget", "4s", "--evaluations", "12", "--seed", "1", "--store", "runs.db",
               "--json", "--worker", worker, "--worker", worker, "--worker-wait", "60s", cwd=folder, env=environment())
    require(done.returncode in (0, 1), f"exit {done.returncode}: {done.stderr.strip()[-300:]}")
    record = json.loads(done.stdout)
    require(record["verified"], f"not verified: {record['verification']}")
    shares = [use["evaluations"] for use in record["workers"]]
    require(len(shares) == 2 and all(shares), f"who took part: {record['workers']}")
    require(wait_until(lambda: not run("squeue", "--noheader").stdout.strip(), 30), "a step is still in the queue")
    row["evaluations"] = record["evaluations"]["total"]


def begin_batch(folder, names):
    for name in names:
        write_problem(folder, name, **ONE_SHAPE)
    return subprocess.Popen([STROP, "optimize", *names, *ON, "--budget", "6s", "--evaluations", "30"], cwd=folder, text=True,
                            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)


def batch(slurm, folder, row, meanwhile=None):
    names = ["shifted", "added"]
    process = begin_batch(folder, names)
    try:
        if meanwhile:
            require(wait_until(lambda: keys_of(folder, names[0]) or process.poll() is not None, 120) and process.poll() is None,
                    "nothing was evaluated")
            meanwhile(slurm)
        out, err = process.communicate(timeout=600)    # Slurm lets a requeued job wait two minutes
    finally:
        end(process)
    require(process.returncode in (0, 1), f"exit {process.returncode}: {err.strip()[-300:]} {out.strip()[-200:]}")
    check_batch(folder, names, row)
    log = (folder / f"strop-out/{names[0]}.log").read_text("utf-8")
    row["starts"] = len(re.findall(r"(?m)^== ", log))


def requeue(slurm):
    tasks = slurm.running()
    require(tasks, "no task runs")
    for task in tasks:
        checked("scontrol", "requeue", task)


def terminated(slurm):
    """As a preemption with a time of grace: SIGTERM to the script, which has its run saved, then back into the queue."""
    tasks = slurm.running()
    require(tasks, "no task runs")
    for task in tasks:
        checked("scancel", "--batch", "--signal=TERM", task)
        run("scontrol", "requeue", task)    # unless it has ended meanwhile


def leader_killed(slurm, folder, row):
    names = ["shifted"]
    process = begin_batch(folder, names)
    require(wait_until(lambda: keys_of(folder, "shifted") or process.poll() is not None, 120), "nothing was evaluated")
    end(process)
    done = run(STROP, "optimize", *names, *ON, "--budget", "6s", "--evaluations", "30", cwd=folder, env=environment())
    require(done.returncode in (0, 1), f"exit {done.returncode}: {done.stderr.strip()[-300:]}")
    require("following job" in done.stderr or "done before" in done.stdout, "the job was not followed")
    check_batch(folder, names, row)


def interrupted(slurm, folder, row):
    names = ["shifted"]
    process = begin_batch(folder, names)
    require(wait_until(lambda: keys_of(folder, "shifted") or process.poll() is not None, 120), "nothing was evaluated")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=180)
    end(process)
    require(process.returncode == 130, f"exit {process.returncode}: {err.strip()[-300:]}")
    require(not slurm.running(), "a task still runs")
    kept = keys_of(folder, "shifted")
    done = run(STROP, "optimize", *names, *ON, "--budget", "6s", "--evaluations", "30", cwd=folder, env=environment())
    require(done.returncode in (0, 1), f"exit {done.returncode}: {done.stderr.strip()[-300:]}")
    require(keys_of(folder, "shifted")[:len(kept)] == kept, "resuming lost an evaluation")
    check_batch(folder, names, row)


def slurm(scene, arguments):
    cluster = Slurm(scene)
    tell(f"two nodes: {' '.join(cluster.states())}")
    cases = {
        "workers by srun": workers_by_srun,
        "a batch": batch,
        "requeued in the middle": lambda *given: batch(*given, requeue),
        "SIGTERM, then requeued": lambda *given: batch(*given, terminated),
        "the leader killed": leader_killed,
        "the leader interrupted": interrupted,
    }
    rows = []
    for name, case in cases.items():
        folder = scene.folder / name.replace(" ", "-").replace(",", "")
        folder.mkdir()
        row, begun = {"case": name, "evaluations": None, "starts": None, "wrong": ""}, time.monotonic()
        try:
            case(cluster, folder, row)
        except Failure as failure:
            row["wrong"] = str(failure)
            cluster.end_jobs()
        row["seconds"] = round(time.monotonic() - begun, 1)
        rows.append(row)
        tell(f"{name}: {row['wrong'] or 'right'}")
    return show("slurm", rows, arguments.json, accounting="none: sacct answers with an error")
