"""scripts/fleet faults: short runs with two workers on two hosts, one fault each at a random moment."""

import contextlib
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

from tests.cli.strop_cli import environment, recorded, write_problem
from tests.long.hosts import DISK_MB, Leader
from tests.long.scene import STROP, Failure, end, require, run, show, tell, wait_until

RUN = ["--budget", "3s", "--evaluations", "12", "--store", "runs.db", "--json"]
LONGEST = 240    # seconds, of any run
NAMES = ("b", "c")
MACHINE_GOES_ON = {"delayed", "lossy"}    # faults that no run may end of, on how many hosts ever


class Fault:
    """What goes wrong on a host, and how it is made good again."""

    def __init__(self, leader, random_):
        self.leader, self.random, self.stopped, self.left_files = leader, random_, [], False

    def workers(self, name):
        found = self.leader.hosts[name].processes("strop/bin/strop worker")
        return [pid for pid, words in found.items() if words.startswith("strop/bin/strop")]

    def mode(self, name, mode):
        self.leader.hosts[name].path("/srv/core").write_text(str(min(os.sched_getaffinity(0))), "utf-8")
        self.leader.hosts[name].path("/srv/mode").write_text(mode, "utf-8")

    def killed(self, name):
        """The worker, and perhaps who watches it, too: then nobody is left to remove its folder."""
        watched = self.random.random() < 0.5
        self.left_files |= not watched
        for pid in sorted(self.workers(name))[1 if watched else 0:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stopped_(self, name):
        for pid in self.workers(name)[-1 if self.random.random() < 0.5 else 0:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                self.stopped.append(pid)

    def cut(self, name):
        self.leader.wires[name].cut()

    def delayed(self, name):
        self.leader.wires[name].delay = 0.2

    def lossy(self, name):
        self.leader.wires[name].loss = 0.05

    def full_disk(self, name):
        """With a few KiB left at most."""
        subprocess.run(["dd", "if=/dev/zero", f"of={self.leader.hosts[name].path('/tmp')}/full", "bs=64k",
                        f"count={DISK_MB * 16}"], check=False, capture_output=True)

    def behind(self, name):
        self.mode(name, "behind")
        self.killed(name)

    def swapped(self, name):
        self.mode(name, "swapped")
        self.killed(name)

    def heal(self):
        for pid in self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.stopped = []
        for name, host in self.leader.hosts.items():
            self.leader.wires[name].heal()
            for file in ("/srv/mode", "/srv/swapped.log", "/tmp/full"):
                host.path(file).unlink(missing_ok=True)


FAULTS = {"killed": Fault.killed, "stopped": Fault.stopped_, "cut": Fault.cut, "delayed": Fault.delayed,
          "lossy": Fault.lossy, "disk full": Fault.full_disk, "behind": Fault.behind, "swapped": Fault.swapped}


class Trial:
    """One run, its fault, and what became of it."""

    def __init__(self, leader, folder, seed, fault):
        self.leader, self.folder, self.seed, self.fault = leader, folder, seed, fault
        self.workers = [word for name in NAMES for word in ("--worker", name)]
        folder.mkdir()
        write_problem(folder, "shifted")
        file = folder / "workers.yaml"
        file.write_text("".join(f'{name}: {{start: "{leader.worker(name)}", silence: 10s, wait: 20s}}\n' for name in NAMES),
                        "utf-8")
        self.variables = environment(STROP_WORKERS=str(file))

    def strop(self, *words):
        return self.leader.words(STROP, *words)

    def begin(self):
        self.out, self.err = (self.folder / "out").open("wb"), (self.folder / "err").open("wb")
        return subprocess.Popen(self.strop("optimize", "shifted", *RUN, "--seed", str(self.seed), *self.workers),
                                cwd=self.folder, env=self.variables, stdout=self.out, stderr=self.err,
                                stdin=subprocess.DEVNULL, start_new_session=True)

    def said(self):
        return (self.folder / "err").read_text("utf-8", "replace")

    def keys(self):
        return recorded(self.folder / "runs.db")

    def go(self, lines, pause, hosts):
        """The exit code; the fault meets these hosts so many seconds after the run has said so many lines."""
        begun, process, hit = time.monotonic(), self.begin(), False
        reached, kept = None, []
        try:
            while process.poll() is None:
                spent = time.monotonic() - begun
                if reached is None and len(self.said().splitlines()) >= lines:
                    reached = spent
                if not hit and reached is not None and spent >= reached + pause:
                    hit = True
                    for name in hosts:
                        FAULTS[self.fault.name](self.fault, name)
                keys = self.keys()
                require(keys[:len(kept)] == kept, "an evaluation that was recorded is gone")
                kept = keys
                require(spent < LONGEST, f"does not end within {LONGEST} s")
                time.sleep(0.05)
        finally:
            end(process)
            self.out.close()
            self.err.close()
        require(self.keys()[:len(kept)] == kept, "an evaluation that was recorded is gone")
        return process.returncode, hit

    def resumed(self):
        """Once all is well again; the exit code."""
        kept = self.keys()
        listed = run(*self.strop("runs", "--store", "runs.db", "--json"), cwd=self.folder, env=self.variables)
        names = [one["run"] for one in json.loads(listed.stdout)] if listed.returncode == 0 else []
        if names:
            require([one["outcome"] for one in json.loads(listed.stdout)] == ["interrupted"], "it is not kept as interrupted")
            words = ["resume", names[0], "--store", "runs.db", "--json", "--budget", "3s", *self.workers]
        else:
            words = ["optimize", "shifted", *RUN, "--seed", str(self.seed), *self.workers]
        done = run(*self.strop(*words), cwd=self.folder, env=self.variables, seconds=LONGEST)
        (self.folder / "out").write_text(done.stdout, "utf-8")
        require(done.returncode in (0, 1), f"cannot be resumed: exit {done.returncode}: {last(done.stderr)}")
        require(self.keys()[:len(kept)] == kept, "resuming lost an evaluation")

    def check_result(self, fingerprint):
        record = json.loads((self.folder / "out").read_text("utf-8"))
        keys = self.keys()
        require(record["verified"], f"not verified: {record['verification']}")
        require(len(keys) == len(set(keys)), "an evaluation was done twice")
        require(len(keys) == record["evaluations"]["total"], f"{record['evaluations']['total']} reported, {len(keys)} kept")
        bad = set(record["evaluations"]["by_verdict"]) - {"ok"}
        require(not bad, f"kernels that are right are called {', '.join(sorted(bad))}")
        require(record["machine"]["fingerprint"] == fingerprint, "the report's machine is another one")
        if not record["result"]:
            return record
        import numpy as np
        x, b = (np.random.default_rng(1).standard_normal(shape, dtype=np.float32) for shape in ((7, 100), (100,)))
        spec = importlib.util.spec_from_file_location("shifted", self.folder / "strop-out/shifted/shifted.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        require(np.allclose(module.shifted(x, b), np.maximum(x + b, 0)), "its result computes something else")
        return record

    def check_swapped(self):
        """The other machine was greeted, and never asked to measure."""
        for name in NAMES:
            log = self.leader.hosts[name].path("/srv/swapped.log")
            asked = log.read_text("utf-8") if log.exists() else ""
            require(not re.search(r'"op":"(evaluate|compare|probe)"', asked), f"the machine swapped under {name} was measured")


def last(text):
    lines = [line for line in text.strip().splitlines() if line.startswith("strop: ")] or text.strip().splitlines()[-1:]
    return lines[0] if lines else "nothing was said"


def nothing_is_left(leader, but_files):
    def left():
        return [words for name in NAMES for words in leader.hosts[name].processes("strop/bin/strop").values()]
    require(wait_until(lambda: not left(), 45), f"still runs there: {left()[:1]}")
    if but_files:
        abandoned_folders_go(leader)
    files = [entry.name for name in NAMES for entry in leader.hosts[name].path("/tmp").iterdir()]
    require(not files, f"still lies there: {', '.join(files[:3])}")


def abandoned_folders_go(leader):
    """The next worker there removes what is a minute old and nobody's."""
    for name in NAMES:
        for lock in leader.hosts[name].path("/tmp").glob("strop-worker-*/.lock"):
            os.utime(lock, (time.time() - 100,) * 2)
        run(*leader.words(*leader.to(name, "/srv/worker")), input='{"op": "ping"}\n')


def trial(leader, folder, number, kind, phases, arguments, fingerprint):
    random_ = random.Random(f"{arguments.seed}-{number}")
    fault = Fault(leader, random_)
    fault.name = kind
    hosts = list(NAMES) if random_.random() < 0.3 else [random_.choice(NAMES)]
    lines, pause = random_.randrange(len(phases)), random_.choice([0, random_.uniform(0, 2)])
    row = {"run": number, "fault": kind, "on": "+".join(hosts), "after": phases[lines - 1][:24] if lines else "start",
           "and_s": round(pause, 1), "end": "", "wrong": ""}
    one = Trial(leader, folder, 100 + number, fault)
    begun = time.monotonic()
    try:
        code, hit = one.go(lines, pause, hosts)
        row["end"] = {0: "verified", 1: "verified"}.get(code, f"exit {code}") + ("" if hit else ", before it")
        one.check_swapped()
        fault.heal()
        if code == 3:
            may_end = len(hosts) == 2 and kind not in MACHINE_GOES_ON or not one.keys() and "run " not in one.said()
            require(may_end, f"one of two was lost, and the run ended: {last(one.said())}")
            one.resumed()
            row["end"] = f"exit 3, resumed: {last(one.said())[:60]}"
        else:
            require(code in (0, 1), f"exit {code}: {last(one.said())}")
        record = one.check_result(fingerprint)
        row["lost"] = sum(bool(use["dropped"]) for use in record["workers"])
        nothing_is_left(leader, fault.left_files)
    except Failure as failure:
        row["wrong"] = str(failure)
    finally:
        fault.heal()
    row["seconds"] = round(time.monotonic() - begun, 1)
    return row


def faults(scene, arguments):
    leader = Leader(scene, NAMES)
    leader.install()
    healthy = Fault(leader, random)
    healthy.name = ""
    first = Trial(leader, scene.folder / "usual", 1, healthy)
    begun = time.monotonic()
    code, _ = first.go(0, 0, [])
    require(code in (0, 1), f"a run without a fault: exit {code}: {last(first.said())}")
    usual = time.monotonic() - begun
    fingerprint = json.loads((first.folder / "out").read_text("utf-8"))["machine"]["fingerprint"]
    first.check_result(fingerprint)
    phases = [line.strip() for line in first.said().splitlines()]
    tell(f"without a fault a run takes {usual:.1f} s")
    kinds = [kind for kind in FAULTS if not arguments.only or kind in arguments.only]
    rows = []
    for number in range(arguments.first, arguments.first + arguments.runs):
        folder = scene.folder / f"run{number}"
        row = trial(leader, folder, number, kinds[number % len(kinds)], phases, arguments, fingerprint)
        rows.append(row)
        tell(f"{number}: {row['fault']} on {row['on']} after '{row['after']}' and {row['and_s']} s: {row['wrong'] or row['end']} ({row['seconds']} s)")
        if row["wrong"] and arguments.keep:
            shutil.copytree(folder, os.path.join(arguments.keep, folder.name), dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        for host in leader.hosts.values():    # what one left behind is not the next one's
            for pid in host.processes("strop/bin/strop"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for entry in host.path("/tmp").iterdir():
                shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink()
    return show("faults", rows, arguments.json, usual_seconds=usual,
                packets_lost=sum(wire.lost for wire in leader.wires.values()))
