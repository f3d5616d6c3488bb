#!/usr/bin/env python3
"""Simulates a search that is shared by 1 to 1,000 workers: how long it takes, how busy they are, where it ends.

    benchmarks/fleet.py [--store FILE [--run RUN]] [--evaluations N] [--budget 10m] [--deciding SECONDS] ...

Compile, check and time seconds of evaluations are drawn from a run's history in a store, or given as medians. A batch
is split as WorkerPool splits it: as many configurations as there are workers times four, an equal share for each, each
worker compiling on its cores and timing one after the other; the batch ends with its slowest share. What the leader
needs for each configuration (deciding, messages, the store) and what is done by one worker only (baselines, finals,
verification) is given: `strop tune --replay` prints deciding_seconds, a report the rest. Nothing is measured here, and
the seed makes it repeatable.
"""

import argparse
import json
import math
import random
import sqlite3
import statistics
import sys

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
BATCH = 4


def recorded(store, run):
    """[(compile, check + time)] of all evaluations of a run, the newest with any unless it is named."""
    try:
        rows = sqlite3.connect(f"file:{store}?mode=ro", uri=True).execute("SELECT run, record FROM runs").fetchall()
    except sqlite3.Error as error:
        sys.exit(f"{store}: {error}")
    histories = [(name, json.loads(text).get("history", [])) for name, text in rows if not run or name.startswith(run)]
    histories = [entry for entry in histories if entry[1]]
    if not histories:
        sys.exit(f"{store}: no run with a history{' named ' + run if run else ''}")
    name, history = max(histories)
    return name, [(entry["compile_seconds"], entry["check_seconds"] + entry["time_seconds"]) for entry in history]


def given(arguments, random_):
    """Log-normal around the medians, as compilations and kernels are."""
    return [(arguments.compile * math.exp(random_.gauss(0, 0.5)), arguments.judge * math.exp(random_.gauss(0, 0.7)))
            for _ in range(1000)]


def share_seconds(costs, cores):
    """Compilations fill the cores, the longest first; then one is judged after the other."""
    busy = [0.0] * max(1, cores)
    for seconds in sorted((cost[0] for cost in costs), reverse=True):
        first = busy.index(min(busy))
        busy[first] += seconds
    return max(busy) + sum(cost[1] for cost in costs)


def simulate(workers, costs, arguments, random_):
    """Seconds of the search, the share of it that workers are busy, the leader's share, evaluations in the budget."""
    wall = busy = leader = 0.0
    done = 0
    while done < arguments.evaluations:
        size = min(BATCH * workers, arguments.evaluations - done)
        batch = [random_.choice(costs) for _ in range(size)]
        shares = [batch[i::workers] for i in range(workers) if batch[i::workers]]
        times = []
        for share in shares:
            seconds = share_seconds(share, arguments.cores) + arguments.round_trip
            if random_.random() < arguments.loss * seconds / 3600:     # another does it again
                seconds = random_.random() * seconds + share_seconds(share, arguments.cores) + arguments.round_trip
            times.append(seconds)
        deciding = arguments.deciding * size
        wall += max(times) + deciding
        busy += sum(times)
        leader += deciding
        done += size
    return wall, busy / (wall * workers), leader / wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", help="take seconds from a run in it")
    parser.add_argument("--run", help="its name, or its first letters")
    parser.add_argument("--compile", type=float, default=1.2, help="median seconds of a compilation")
    parser.add_argument("--judge", type=float, default=0.5, help="median seconds of checks and samples")
    parser.add_argument("--evaluations", type=int, default=4000)
    parser.add_argument("--cores", type=int, default=8, help="of each worker")
    parser.add_argument("--deciding", type=float, default=0.0007, help="leader's seconds for a configuration")
    parser.add_argument("--round-trip", type=float, default=0.01, help="seconds")
    parser.add_argument("--alone", type=float, default=60, help="seconds that one worker is busy alone, whatever their number")
    parser.add_argument("--loss", type=float, default=0.05, help="losses of a worker in an hour")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    random_ = random.Random(arguments.seed)
    name, costs = recorded(arguments.store, arguments.run) if arguments.store else ("given medians", given(arguments, random_))
    rows = []
    for workers in WORKERS:
        wall, utilization, leader = simulate(workers, costs, arguments, random_)
        rows.append({"workers": workers, "search_seconds": wall, "run_seconds": wall + arguments.alone,
                     "utilization": utilization, "leader_share": leader,
                     "batches": math.ceil(arguments.evaluations / (BATCH * workers))})
    for row in rows:
        row["speedup"] = rows[0]["run_seconds"] / row["run_seconds"]
    if arguments.json:
        print(json.dumps({"costs": name, "rows": rows}, indent=2))
        return
    print(f"{arguments.evaluations} evaluations, costs of {name}: compile {statistics.median(c[0] for c in costs):.2f} s, "
          f"judge {statistics.median(c[1] for c in costs):.2f} s; {arguments.alone:g} s of the run on one worker alone")
    print(f"{'WORKERS':>8}{'BATCHES':>9}{'SEARCH':>11}{'RUN':>11}{'SPEEDUP':>9}{'BUSY':>7}{'LEADER':>8}")
    for row in rows:
        print(f"{row['workers']:>8}{row['batches']:>9}{row['search_seconds']:>9.0f} s{row['run_seconds']:>9.0f} s"
              f"{row['speedup']:>8.1f}×{row['utilization']:>7.0%}{row['leader_share']:>8.0%}")


if __name__ == "__main__":
    main()
