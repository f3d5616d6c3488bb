#!/usr/bin/env python3
"""How fast configurations of a real kernel are screened, and what leaving slow ones early saves.

    benchmarks/tuners/screening.py REPORT --kernel ID --point LABEL [--configurations 64] [--seed 1]

REPORT is the report.json of a run on a shipped problem, ID one of its winners. Random configurations of that kernel are
judged twice, batch after batch in random order: as the search asks, four at a time or up to eight where their
compilations fill the cores better, by a worker that has all cores, and one after the other by one that is bound to one.
Both know their best time so far. The ratio of the two is what compiling in parallel brings; asked is 1.6 with two cores.
Then every one that works is screened with and without knowing the best time, again in random order, from a
library that is compiled already: the share of the time for timing that early abandonment saves; asked is a half, on a
kernel whose configurations lie far apart. Nothing else should run meanwhile.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from worker import HOME, Worker  # noqa: E402

BATCH, LONGEST_BATCH = 4, 8    # as the search asks


def read_kernel(report, name, label):
    document = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))
    found = [kernel for kernel in document["kernels"] if kernel["id"] == name]
    if not found:
        sys.exit(f"{report}: no kernel '{name}'\nhint: they are {', '.join(k['id'] for k in document['kernels'])}")
    dims = {shape["label"]: shape["dims"] for shape in document["shapes"]}
    if label not in dims:
        sys.exit(f"{report}: no shape '{label}'\nhint: they are {', '.join(dims)}")
    return document["problem"], {**found[0], "initial": {}, "condition": None}, {"label": label, "dims": dims[label]}


def configurations(kernel):
    """All valid ones. Constraints are written as in Python, with one function more."""
    functions = {"min": min, "max": max, "ceildiv": lambda a, b: -(-a // b)}
    tunables = kernel["space"]["tunables"]
    for values in itertools.product(*(tunable["values"] for tunable in tunables)):
        chosen = {tunable["name"]: value for tunable, value in zip(tunables, values)}
        if all(eval(text, functions, chosen) for text in kernel["space"]["constraints"]):
            yield chosen


def ask(worker, kernel, point, chosen, best_ns=None):
    requests = [{"kernel": kernel, "configuration": configuration, "points": [point], "effort": "screen",
                 "best_ns": {point["label"]: best_ns} if best_ns else {}} for configuration in chosen]
    return worker.ask(op="evaluate", requests=requests)["evaluations"]


def open_worker(problem, point, *before):
    worker = Worker(*before)
    worker.open(HOME / "problems" / problem, [point["label"]])
    return worker


def interval(values):
    """Median with the interval from order statistics (95%)."""
    ordered, n = sorted(values), len(values)
    below = max(0, int(n / 2 - 0.98 * math.sqrt(n)))
    return f"{statistics.median(ordered):.2f} ({ordered[below]:.2f} to {ordered[n - 1 - below]:.2f})"


def library(kernel, configuration):
    """What is compiled: late tunables are set afterwards."""
    return tuple(configuration[tunable["name"]] for tunable in kernel["space"]["tunables"] if tunable["kind"] != "late")


def in_batches(kernel, chosen, cores):
    batches, compiled, known = [[]], 0, set()
    for configuration in chosen:
        size = len(batches[-1])
        if size >= LONGEST_BATCH or (size >= BATCH and compiled % cores == 0):
            batches.append([])
            compiled = 0
        batches[-1].append(configuration)
        compiled += library(kernel, configuration) not in known
        known.add(library(kernel, configuration))
    return batches


def nanoseconds(evaluation):
    return evaluation["points"][0]["time"]["median_ns"] if evaluation["verdict"] == "ok" else math.inf


class Asker:
    """Asks a worker for batches as the search does, which knows the best time so far."""

    def __init__(self, worker, kernel, point, one_by_one):
        self.worker, self.kernel, self.point, self.one_by_one = worker, kernel, point, one_by_one
        self.best, self.seconds, self.evaluations = math.inf, [], []

    def measure(self, batch):
        began = time.monotonic()
        for part in [[configuration] for configuration in batch] if self.one_by_one else [batch]:
            answers = ask(self.worker, self.kernel, self.point, part, self.best if self.best < math.inf else None)
            self.best = min(self.best, *map(nanoseconds, answers))
            self.evaluations += answers
        self.seconds.append(time.monotonic() - began)


def throughput(together, alone, start, batches, order):
    for batch in [[start], *batches]:
        for asker in order.sample([together, alone], 2):
            asker.measure(batch)
    pairs = list(zip(alone.seconds[1:], together.seconds[1:]))
    rate = [60 * sum(map(len, batches)) / sum(column) for column in zip(*pairs)]
    print(f"{rate[1]:.0f} evaluations a minute, {rate[0]:.0f} one after the other on one core: "
          f"{rate[1] / rate[0]:.2f} times as many; batch by batch {interval([a / b for a, b in pairs])}")


def abandonment(worker, kernel, point, evaluations, order):
    times = [(e["configuration"], nanoseconds(e)) for e in evaluations if e["verdict"] == "ok"]
    best = min(time for _, time in times)
    spent, pairs = {False: 0.0, True: 0.0}, []
    for configuration, _ in times:
        both = {}
        for known in order.sample([False, True], 2):
            both[known] = ask(worker, kernel, point, [configuration], best if known else None)[0]["time_seconds"]
            spent[known] += both[known]
        pairs.append(1 - both[True] / both[False])
    slow = sum(time > 1.6 * best for _, time in times)
    print(f"{len(times)} work, the slowest {max(time for _, time in times) / best:.1f} times as slow as the best, {slow} "
          f"more than 1.6 times\ntiming takes {1e3 * spent[False] / len(times):.1f} ms each, knowing the best "
          f"{1e3 * spent[True] / len(times):.1f} ms: {100 * (1 - spent[True] / spent[False]):.0f}% saved; one by one "
          f"{interval(pairs)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", metavar="REPORT")
    parser.add_argument("--kernel", required=True, metavar="ID")
    parser.add_argument("--point", required=True, metavar="LABEL")
    parser.add_argument("--configurations", type=int, default=64, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    order = random.Random(given.seed)
    problem, kernel, point = read_kernel(given.report, given.kernel, given.point)
    every = list(configurations(kernel))
    start, *chosen = order.sample(every, min(1 + given.configurations, len(every)))
    batches = in_batches(kernel, chosen, len(os.sched_getaffinity(0)))
    core = min(os.sched_getaffinity(0))
    together = Asker(open_worker(problem, point), kernel, point, one_by_one=False)
    alone = Asker(open_worker(problem, point, "taskset", "-c", str(core)), kernel, point, one_by_one=True)
    print(f"{kernel['id']} of {problem} at {point['label']}: {len(chosen)} of {len(every)} configurations")
    throughput(together, alone, start, batches, order)
    alone.worker.close()
    abandonment(together.worker, kernel, point, together.evaluations[1:], order)
    together.worker.close()


if __name__ == "__main__":
    main()
