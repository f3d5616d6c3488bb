#!/usr/bin/env python3
"""Results in processes that are not a benchmark's: right there, never hanging, and no slower than with one thread?

    benchmarks/hosts.py [--results FOLDER] [--seconds 2] [--json FILE] [PROBLEM...]

Each situation is a process of its own, with PyTorch and without:

  usual           as many threads as cores
  four callers    four threads of Python call at once
  forked          a child of multiprocessing's fork, after the parent has called
  one thread      torch.set_num_threads(1)
  one core        an affinity mask of one core, set before the result is loaded
  masked later    the same, set after the first call
  half a core     a control group with half a core (root and a writable control group only; else left out, which is said)

A figure is the time of a call over the time of the same call with one thread (torch.set_num_threads, or a second copy of
the result that was loaded under OMP_NUM_THREADS=1), in turns in one process. Bound: 1.2. Exit code 1: one is missed, wrong, or did not end.
"""

import argparse
import importlib.util
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HOME = pathlib.Path(__file__).resolve().parent.parent
SITUATIONS = ["usual", "four callers", "forked", "one thread", "one core", "masked later", "half a core"]
SHAPES = [(64, 128), (77, 1003), (1024, 1024)]
BOUND = 1.2
GROUP = pathlib.Path("/sys/fs/cgroup")


def loaded(folder):
    spec = importlib.util.spec_from_file_location(folder.name, folder / f"{folder.name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, folder.name)


# ---- inside of a situation's process


def expected(name, x):
    """The reference of a shipped problem, over its first input and default values for the others."""
    spec = importlib.util.spec_from_file_location("reference", HOME / "problems" / name / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)(x)


class Subject:
    """One result over one input, as arrays or tensors; `limit` makes its calls use one thread, or the host's again."""

    def __init__(self, folder, shape, torch):
        import numpy as np

        array = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
        self.want = expected(folder.name, array)
        self.torch, self.x = torch, torch.from_numpy(array) if torch else array
        self.usual = self.function = loaded(folder)
        self.out = self.function(self.x)
        self.threads = torch.get_num_threads() if torch else 0
        self.single = None if torch else self.with_one_thread(folder)

    def with_one_thread(self, folder):
        """The result once more: its own team counts its threads at its first large call."""
        with tempfile.TemporaryDirectory() as copies:
            copy = pathlib.Path(copies) / folder.name
            shutil.copytree(folder, copy)
            function, before = loaded(copy), os.environ.get("OMP_NUM_THREADS")
            os.environ["OMP_NUM_THREADS"] = "1"
            function(self.x)
            if before is None:
                del os.environ["OMP_NUM_THREADS"]
            else:
                os.environ["OMP_NUM_THREADS"] = before
        return function

    def call(self):
        self.function(self.x, out=self.out)

    def is_right(self):
        import numpy as np

        return np.allclose(np.asarray(self.function(self.x)), self.want, rtol=1e-4, atol=1e-5)

    def limit(self, one):
        if self.torch:
            self.torch.set_num_threads(1 if one else self.threads)
        else:
            self.function = self.single if one else self.usual


def seconds_of(call, least=0.002):
    count, start = 0, time.perf_counter()
    while True:
        call()
        count += 1
        spent = time.perf_counter() - start
        if spent >= least:
            return spent / count


def ratio(subject, seconds):
    """The median over rounds of as it is / with one thread, in random order within a round."""
    ratios, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(ratios) < 15:
        took = {}
        for one in random.sample([False, True], 2):
            subject.limit(one)
            subject.call()
            took[one] = seconds_of(subject.call)
        ratios.append(took[False] / took[True])
    subject.limit(False)
    return statistics.median(ratios)


def four_callers(subject):
    """Four threads at once, each with an output of its own: all right?"""
    import numpy as np

    wrong = []

    def work():
        for _ in range(200):
            if not np.allclose(np.asarray(subject.function(subject.x)), subject.want, rtol=1e-4, atol=1e-5):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return not wrong


def together(subject, seconds):
    """As `ratio`, for four threads that call at the same time: the time until all have done their calls."""

    def batch():
        def work():
            out = subject.out.clone() if subject.torch else subject.out.copy()
            for _ in range(20):
                subject.function(subject.x, out=out)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    class Batch:
        limit, call = subject.limit, staticmethod(batch)

    return ratio(Batch, seconds)


def forked(subject, seconds, queue):
    queue.put((subject.is_right(), ratio(subject, seconds)))


def figures(situation, folder, seconds, with_torch):
    torch = None
    if with_torch:
        import torch
    if situation == "one core":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if situation == "half a core":
        enter_group()
    rows = []
    for shape in SHAPES:
        subject = Subject(folder, shape, torch)
        if situation == "masked later":
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        if situation == "one thread" and torch:
            torch.set_num_threads(1)
            subject.threads = 1
        if situation == "forked":
            context = multiprocessing.get_context("fork")
            queue = context.SimpleQueue()
            child = context.Process(target=forked, args=(subject, seconds, queue))
            child.start()
            right, value = queue.get()
            child.join()
        elif situation == "four callers":
            right, value = four_callers(subject), together(subject, seconds)
        else:
            right, value = subject.is_right(), ratio(subject, seconds)
        rows.append({"shape": list(shape), "right": right, "ratio": value})
    return rows


# ---- outside


def group_folder():
    """A control group of half a core for this process's children, or None where there cannot be one."""
    base = GROUP / "cpu" if (GROUP / "cpu").is_dir() else GROUP
    folder = base / f"strop-hosts-{os.getpid()}"
    try:
        folder.mkdir()
        if base == GROUP:
            (folder / "cpu.max").write_text("50000 100000")
        else:
            (folder / "cpu.cfs_period_us").write_text("100000")
            (folder / "cpu.cfs_quota_us").write_text("50000")
    except OSError:
        return None
    return folder


def enter_group():
    pathlib.Path(os.environ["STROP_HOSTS_GROUP"], "cgroup.procs").write_text(str(os.getpid()))


def measured(situation, folder, seconds, with_torch, group):
    command = [sys.executable, __file__, "--inside", json.dumps([situation, str(folder), seconds, with_torch])]
    environment = dict(os.environ, STROP_HOSTS_GROUP=str(group))
    try:
        finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60 + 40 * seconds)
    except subprocess.TimeoutExpired:
        return "did not end"
    return json.loads(finished.stdout) if finished.returncode == 0 else finished.stderr.strip().splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=["softmax", "row_sum", "column_sum"])
    parser.add_argument("--results", type=pathlib.Path, default=HOME / "strop-out")
    parser.add_argument("--seconds", type=float, default=2, help="of sampling a shape")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--inside", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        situation, folder, seconds, with_torch = arguments.inside
        print(json.dumps(figures(situation, pathlib.Path(folder), seconds, with_torch)))
        return 0
    has_torch = importlib.util.find_spec("torch") is not None
    group, misses, report = group_folder(), [], []
    try:
        for name in arguments.problems:
            for with_torch in [False, True] if has_torch else [False]:
                for situation in SITUATIONS:
                    if situation == "half a core" and not group or situation == "one thread" and not with_torch:
                        continue
                    found = measured(situation, (arguments.results / name).resolve(), arguments.seconds, with_torch, group)
                    host = "PyTorch" if with_torch else "NumPy"
                    where = f"{name}, {host}, {situation}"
                    if isinstance(found, str):
                        misses.append(f"{where}: {found}")
                        continue
                    for row in found:
                        report.append({"problem": name, "host": host, "situation": situation, **row})
                        if not row["right"]:
                            misses.append(f"{where}: wrong at {row['shape']}")
                        elif row["ratio"] > BOUND:
                            misses.append(f"{where}: {row['ratio']:.2f} of one thread's time at {row['shape']}")
                    print(f"{where:40}", "  ".join(f"{row['ratio']:5.2f}" for row in found), flush=True)
    finally:
        if group:
            group.rmdir()
        else:
            print("half a core: left out, a control group could not be made")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    for miss in misses:
        print("missed: " + miss)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
