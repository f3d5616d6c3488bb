#!/usr/bin/env python3
"""How certain are a run's figures beside a loud neighbour?

    benchmarks/noisy_runs.py [--runs 10] [--budget 60s] [--quiet] [--json FILE] [PROBLEM]

Optimizes PROBLEM (softmax) several times, each time with a store of its own, while scripts/noise loads one core half of
the time (not with --quiet). A line for each run: its end, evaluations, seconds, the speedup over the best baselines and
its interval, and those of each shape. Exit 1: a run did not improve, or an interval reaches further than 15 % of its
value. Nothing else should run meanwhile.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HOME = pathlib.Path(__file__).resolve().parent.parent
WIDEST = 0.15


def interval(ratio, low, high):
    return {"ratio": round(ratio, 3), "reach": round(max(high / ratio - 1, 1 - low / ratio), 3)}


def run(problem, budget, folder):
    environment = {**os.environ, "STROP_STORE": str(folder / "strop.db")}
    program = os.environ.get("STROP_BINARY", str(HOME / "strop"))
    command = [program, "optimize", str(HOME / "problems" / problem), "--budget", budget]
    start = time.monotonic()
    ended = subprocess.run(command + ["--out", str(folder / problem)], env=environment, capture_output=True, text=True)
    seconds = time.monotonic() - start
    report = folder / problem / "report.json"
    if not report.exists():
        return {"exit": ended.returncode, "seconds": round(seconds), "said": ended.stderr[-400:]}
    document = json.loads(report.read_text())
    headline = document["headline"]
    intervals = {shape["label"]: interval(*(shape["speedup"][key] for key in ("ratio", "low", "high")))
                 for shape in document["shapes"]}
    intervals["all"] = interval(headline["speedup"], headline["low"], headline["high"])
    return {"exit": ended.returncode, "seconds": round(seconds), "outcome": document["outcome"],
            "evaluations": document["evaluations"]["total"], "intervals": intervals}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", nargs="?", default="softmax")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    neighbour = None
    if not arguments.quiet:
        neighbour = subprocess.Popen([str(HOME / "scripts/noise"), "--seconds", str(600 * arguments.runs)])
    results = []
    try:
        for number in range(arguments.runs):
            with tempfile.TemporaryDirectory(prefix="strop-noisy-") as folder:
                results.append(run(arguments.problem, arguments.budget, pathlib.Path(folder)))
            print(f"{number + 1:2}", json.dumps(results[-1]), flush=True)
    finally:
        if neighbour:
            neighbour.terminate()
            neighbour.wait()
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    missed = [r for r in results if r["exit"] != 0 or max(i["reach"] for i in r["intervals"].values()) > WIDEST]
    print(f"{len(results) - len(missed)} of {len(results)} as they should be")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
