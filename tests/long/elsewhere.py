"""scripts/fleet hosts and scripts/fleet screening: what workers on other hosts find, and how fast several screen."""

import importlib.util
import json
import os
import random
import statistics
from types import SimpleNamespace

from tests.cli.strop_cli import HOME, environment
from tests.long.hosts import Leader
from tests.long.scene import STROP, require, run, show, tell

NAMES = ("b", "c")
MOST_OFF = 0.15    # what the simulation says of what was measured
BATCH = 4    # configurations of each worker in a batch (docs/scale.md)


def record_of(done, what):
    require(done.returncode in (0, 1), f"{what}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    record = json.loads(done.stdout)
    require(record["verified"], f"{what} is not verified: {record['verification']}")
    return record


def hosts(scene, arguments):
    """The same problem here and there: the same winners, or winners that cannot be told apart."""
    leader = Leader(scene, NAMES)
    copied = leader.install()
    words = ["optimize", arguments.problem, "--budget", arguments.budget, "--seed", "1", "--store", "runs.db", "--json"]
    workers = [word for name in NAMES for word in ("--worker", leader.worker(name))]
    here = record_of(run(STROP, *words, "--quiet", "--out", "here", cwd=scene.folder, env=environment(), seconds=1800), "here")
    tell("here: done")
    away = record_of(run(*leader.words(STROP, *words, "--quiet", "--out", "away", *workers), cwd=scene.folder,
                         env=environment(), seconds=1800), "away")
    rows = []
    for where, record in (("here", here), ("hosts " + ", ".join(NAMES), away)):
        strategies = sorted({regime["strategy"] for regime in record["regimes"]})
        rows.append({"where": where, "winners": ", ".join(strategies) or "none", "speedup": record["headline"]["speedup"],
                     "low": record["headline"]["low"], "high": record["headline"]["high"],
                     "evaluations": record["evaluations"]["total"], "seconds": record["seconds"]["total"], "wrong": ""})
    same = rows[0]["winners"] == rows[1]["winners"]
    overlap = rows[0]["low"] <= rows[1]["high"] * 1.05 and rows[1]["low"] <= rows[0]["high"] * 1.05
    if not same and not overlap:
        rows[1]["wrong"] = "another winner, and not within the noise"
    shares = [use["evaluations"] for use in away["workers"]]
    if not all(shares) or any(use["dropped"] for use in away["workers"]):
        rows[1]["wrong"] = f"who took part: {away['workers']}"
    return show("hosts", rows, arguments.json, copied_to=", ".join(copied) or "nobody", same_winners=same,
                evaluations_of_each=", ".join(map(str, shares)))


# Enough constants that each configuration is a compilation of its own.
KERNEL = """// strop:tune A = {values}
// strop:tune B = 1 | 2 | 4 | 8
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <regex>
#include <string>
#include <vector>
extern "C" void softmax(const float* x, float* y, long M, long N) {{
    for (long i = 0; i < M; ++i) {{
        const float* row = x + i * N;
        float top = *std::max_element(row, row + N), sum = 0;
        for (long j = 0; j < N; ++j) sum += y[i * N + j] = std::exp(row[j] - top);
        for (long j = 0; j < N; ++j) y[i * N + j] /= sum + 0.0f * A * B;
    }}
}}
"""


def screening_seconds(scene, workers, arguments, number):
    """Seconds of an evaluation, over all batches after the first, as the run's history says it."""
    kernel = scene.folder / "kernel.cpp"
    values = " | ".join(str(value) for value in range(1, arguments.evaluations // 4 + 1))
    kernel.write_text(KERNEL.format(values=values), "utf-8")
    words = [word for worker in workers for word in ("--worker", worker)]
    done = run(STROP, "tune", kernel, "--problem", arguments.problem, "--point", "small", "--exhaustive", "--budget", "30m",
               "--seed", str(number), "--store", f"screening{len(workers)}-{number}.db", "--out", f"out{len(workers)}-{number}",
               "--json", *words, cwd=scene.folder, env=environment(), seconds=3000)
    record = record_of(done, f"{len(workers)} workers")
    moments = sorted(entry["seconds"] for entry in record["history"])
    first = BATCH * len(workers)    # of the first batch only its end is kept
    return (moments[-1] - moments[first - 1]) / (len(moments) - first), record


def simulation():
    spec = importlib.util.spec_from_file_location("fleet", os.path.join(HOME, "benchmarks/fleet.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predicted_seconds(scene, workers, arguments, number):
    """Of an evaluation, as benchmarks/fleet.py says it of so many workers, from the costs of the run with one."""
    fleet = simulation()
    name, costs = fleet.recorded(scene.folder / f"screening1-{number}.db", "")
    given = SimpleNamespace(evaluations=arguments.evaluations - BATCH * workers, cores=1, round_trip=0.01, deciding=0.001,
                            loss=0)
    walls = [fleet.simulate(workers, costs, given, random.Random(seed))[0] for seed in range(20)]
    return statistics.median(walls) / given.evaluations


def screening(scene, arguments):
    """Kernels that mostly take compiling, by two workers of one core each against one of them; and the simulation's word."""
    cores = sorted(os.sched_getaffinity(0))
    require(len(cores) >= 2, "this needs two cores")
    one, two = (f"taskset -c {core} {STROP} worker" for core in cores[:2])
    rows = []
    for number in range(1, arguments.rounds + 1):
        seconds = {}
        for workers in ([one], [one, two]) if number % 2 else ([one, two], [one]):
            seconds[len(workers)], record = screening_seconds(scene, workers, arguments, number)
            tell(f"round {number}, {len(workers)}: {seconds[len(workers)]:.3f} s an evaluation")
        compile_share = sum(entry["compile_seconds"] for entry in record["history"]) / sum(
            entry["compile_seconds"] + entry["check_seconds"] + entry["time_seconds"] for entry in record["history"])
        of_predicted = {workers: predicted_seconds(scene, workers, arguments, number) / seconds[workers] for workers in (1, 2)}
        rows.append({"round": number, "one_s": seconds[1], "two_s": seconds[2], "ratio": seconds[1] / seconds[2],
                     "compiling": compile_share, "one_predicted": of_predicted[1], "two_predicted": of_predicted[2]})
    median, *predicted = (statistics.median(row[key] for row in rows) for key in ("ratio", "one_predicted", "two_predicted"))
    if median < 1.8:
        rows[-1]["wrong"] = f"the median ratio is {median:.2f}, the bar is 1.8"
    elif any(abs(one - 1) > MOST_OFF for one in predicted):
        rows[-1]["wrong"] = f"the simulation is off by more than {MOST_OFF:.0%}"
    return show("screening", rows, arguments.json, median_ratio=median, predicted_of_one=predicted[0],
                predicted_of_two=predicted[1])
