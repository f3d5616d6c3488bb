#!/usr/bin/env python3
"""One budget that a batch shares by promise, beside equal parts of it; and a batch that is killed.

    benchmarks/batch.py [PROBLEM...] --budget 5m [--kills 2] [--only shared] [--seeds 3]

Without problems: the twelve of twelve_problems.py, or with --kernels those of twelve_kernels.py. Runs
`strop optimize PROBLEM... --jobs auto --budget B --seed S`, killed at random moments and begun again as often as --kills
says, and the same problems with the same seed and equal parts of the budget: searches of one seed propose alike, so that
their luck is not taken for what sharing gained. Then the two results of each problem take turns in one judge. Prints for
each problem what sharing gained, the geometric mean over problems and seeds, how much of the budget the batch took, and
evaluations that are in the store twice. The exit code is 1 where the mean is below --least, the budget missed by more than
5%, or something is there twice.
"""

import argparse
import json
import math
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import twelve_kernels
import twelve_problems

HOME = pathlib.Path(__file__).resolve().parent.parent
STROP = os.environ.get("STROP_BINARY", str(HOME / "build/release/strop"))


def in_seconds(text):
    return float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def batch(folder, problems, words, kills, draw, expected):
    """Runs until it ends by itself; seconds that its processes lived."""
    lived = 0.0
    for life in range(kills + 1):
        start = time.monotonic()
        process = subprocess.Popen([STROP, "optimize", *problems, "--store", "runs.db", "--quiet", *words], cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=open(folder / "said", "ab"))
        try:
            process.wait(timeout=None if life == kills else draw.uniform(0.1, 0.9) * (expected - lived) / (kills - life))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            print(f"killed after {time.monotonic() - start:.0f} s", flush=True)
        lived += time.monotonic() - start
        if process.returncode != -signal.SIGKILL:
            break
    return lived


def twice(store):
    with sqlite3.connect(store) as connection:
        return connection.execute("SELECT count(*) FROM (SELECT run, key FROM evaluations GROUP BY run, key HAVING count(*) > 1)"
                                  ).fetchone()[0]


def unfinished(store):
    with sqlite3.connect(store) as connection:
        return [row[0] for row in connection.execute("SELECT run FROM runs WHERE outcome IN ('running', 'interrupted')")]


def gain(problem, before, after):
    """The second result over the first, in turns; 1 where neither has a kernel."""
    name = pathlib.Path(problem).stem
    files = [folder / "strop-out" / name / f"{name}.cpp" for folder in (before, after)]
    there = [file.exists() for file in files]
    if there != [True, True]:
        return [1.0, 1.0, 1.0] if there == [False, False] else None
    done = subprocess.run([STROP, "judge", *map(str, files), "--problem", problem, "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{problem}: {done.stdout}{done.stderr}")
    [ratio] = json.loads(done.stdout.splitlines()[-1])["speedups"].values()
    return [ratio[key] for key in ("low", "ratio", "high")]


def one_seed(place, problems, seed, options):
    """Whether the batch failed, and what sharing gained for each problem."""
    budget, draw = in_seconds(options.budget), random.Random(seed)
    shared, equal = place / "shared", place / "equal"
    for folder in (shared, equal):
        folder.mkdir(parents=True)
    same = ["--seed", str(seed)]
    took = batch(shared, problems, ["--jobs", "auto", "--budget", options.budget, *same], options.kills, draw, budget)
    double, open_ = twice(shared / "runs.db"), unfinished(shared / "runs.db")
    print(f"seed {seed}, shared: {took:.0f} s of {budget:.0f} ({took / budget:.3f}), {double} evaluations twice, "
          f"{len(open_)} runs unfinished", flush=True)
    failed = abs(took / budget - 1) > 0.05 or double > 0 or bool(open_)
    if options.only:
        return failed, []
    took = batch(equal, problems, ["--budget", f"{budget / len(problems):.1f}s", *same], 0, draw, budget)
    print(f"equal parts: {took:.0f} s")
    gains = []
    for problem in problems:
        one = gain(problem, equal, shared)
        print(f"  {pathlib.Path(problem).name}: " + ("only one has a kernel" if one is None else
                                                     f"{one[1]:.3f} ({one[0]:.3f} to {one[2]:.3f})"), flush=True)
        if one:
            gains.append(one[1])
    return failed, gains


def mean_of(gains):
    return math.exp(sum(map(math.log, gains)) / len(gains))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--kernels", action="store_true", help="kernels in C++ that have much to tune, beside simple ones")
    parser.add_argument("--budget", default="4m")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--only", choices=["shared"])
    parser.add_argument("--least", type=float, default=1.1)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--keep", metavar="DIR", help="leave stores and results there")
    options = parser.parse_args()
    failed, gains = False, []
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(options.keep or place).absolute()
        problems = ([str(pathlib.Path(problem).absolute()) for problem in options.problems]
                    or (twelve_kernels if options.kernels else twelve_problems).write_problems(place / "problems"))
        for seed in range(options.seed, options.seed + options.seeds):
            bad, more = one_seed(place / str(seed), problems, seed, options)
            failed |= bad
            gains += more
            if more:
                print(f"geometric mean: {mean_of(more):.3f}, so far {mean_of(gains):.3f}", flush=True)
    return failed or bool(gains) and mean_of(gains) < options.least


if __name__ == "__main__":
    sys.exit(main())
