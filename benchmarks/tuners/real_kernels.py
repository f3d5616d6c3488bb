#!/usr/bin/env python3
"""How near a hundred evaluations of a real kernel come to the best of very many.

    benchmarks/tuners/real_kernels.py [--evaluations 2000] [--minutes 20] [--tables FOLDER] [PROBLEM...]

For each problem (matmul and softmax unless others are named) the playbook's winner of a short run is tuned at its medium
shape until its space is exhausted or 2000 configurations are measured. That table is kept (FOLDER/PROBLEM.json, Kernel
Tuner's format; one that is there is used again). Then the same searcher gets 100 evaluations on it, with ten seeds.
Exit 1: fewer than nine of the ten end within 3 % of the table's best. Nothing else should run while a table is made.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HOME = pathlib.Path(__file__).resolve().parents[2]
STROP = os.environ.get("STROP_BINARY", str(HOME / "build/release/strop"))
POINT, EVALUATIONS, SEEDS, NEAR = "medium", 100, range(1, 11), 1.03


def strop(*words, codes=(0,)):
    done = subprocess.run([STROP, *map(str, words)], env={**os.environ, "STROP_HOME": str(HOME)}, text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode not in codes:
        sys.exit(f"strop {words[0]} failed: exit {done.returncode}")
    return done.stdout


def winner(problem, folder):
    """The source of the kernel that serves the medium shape."""
    record = json.loads(strop("optimize", HOME / "problems" / problem, "--budget", "40s", "--point", POINT, "--quiet",
                              "--json", "--store", folder / "runs.db", "--out", folder / "won", codes=(0, 1)))
    name = next(regime["kernel"] for regime in record["regimes"] if POINT in regime["points"])
    source = next(kernel["source"] for kernel in record["kernels"] if kernel["id"] == name)
    file = folder / f"{problem}.cpp"
    file.write_text(source, encoding="utf-8")
    print(f"{problem}: {name}", flush=True)
    return file


def measure(problem, table, given):
    with tempfile.TemporaryDirectory(prefix="strop-tables-") as name:
        folder = pathlib.Path(name)
        strop("tune", winner(problem, folder), "--problem", HOME / "problems" / problem, "--point", POINT, "--budget",
              f"{given.minutes}m", "--evaluations", given.evaluations, "--export", table, "--quiet", "--store",
              folder / "runs.db", "--out", folder / "tuned", codes=(0, 1))


def main(given):
    tables = pathlib.Path(given.tables)
    tables.mkdir(parents=True, exist_ok=True)
    good = True
    for problem in given.problems or ["matmul", "softmax"]:
        table = tables / f"{problem}.json"
        if not table.exists():
            measure(problem, table, given)
        runs = [json.loads(strop("tune", "--replay", table, "--evaluations", EVALUATIONS, "--seed", seed, "--json"))
                for seed in SEEDS]
        ratios = sorted(run["best"] / run["optimum"] for run in runs)
        near = sum(ratio <= NEAR for ratio in ratios)
        size = len(json.loads(table.read_text(encoding="utf-8"))["cache"])
        good = good and near >= len(SEEDS) - 1
        print(f"{problem}: {size} configurations measured; after {EVALUATIONS} evaluations {near} of {len(SEEDS)} seeds "
              f"within 3 %, at worst {100 * (ratios[-1] - 1):.1f} % above the best", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--evaluations", type=int, default=2000, help="of the table, at most")
    parser.add_argument("--minutes", type=int, default=20, help="for one table, at most")
    parser.add_argument("--tables", default=str(HOME / "build" / "tables"))
    sys.exit(main(parser.parse_args()))
