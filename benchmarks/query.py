#!/usr/bin/env python3
"""How long `strop query` takes on a store of many evaluations.

    benchmarks/query.py --evaluations 1000000 --store /tmp/million.db [--strop build/release/strop]
                        [--server postgresql://USER@HOST/DATABASE]

Makes a store (unless it is there) of runs on several machines and problems, every evaluation with its own row, and
prints for each question the median and the slowest of several calls, and the program's greatest memory. With --server
the store is copied into that empty database (unless it holds one) and asked there.
"""

import argparse
import json
import pathlib
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HARDWARE = [("AMD EPYC 7B13", "avx2"), ("AMD EPYC 9R14", "avx512"), ("Neoverse-V2", "neon"), ("Xeon 8481C", "avx512")]
FAMILIES = ["row_reduction", "contraction", "pointwise", "window", "scan"]
EVALUATIONS_OF_A_RUN = 200


def record_of(number, chance, evaluations=EVALUATIONS_OF_A_RUN):
    cpu, isa = HARDWARE[number % len(HARDWARE)]
    family = FAMILIES[number // len(HARDWARE) % len(FAMILIES)]
    problem = f"{family}_{number // 20 % 12}"
    strategies = [{"id": f"strategy_{i}", "family": family, "proposer": "playbook",
                   "state": "winner" if i == 0 else "pruned", "reason": "behind the others at every shape, by 1.2 times"}
                  for i in range(8)]
    history = [{"strategy": f"strategy_{i % 8}", "kernel": f"strategy_{i % 8}", "verdict": "ok", "seconds": i * 0.3,
                "configuration": {name: chance.choice([1, 2, 4, 8]) for name in ("UNROLL", "TILE", "VL", "THREADS")},
                "nanoseconds": {shape: chance.uniform(1e6, 5e6) for shape in ("small", "large")}}
               for i in range(evaluations)]
    shapes = [{"label": label, "nanoseconds": 1e6, "bytes": 1e7, "bound": bound, "roofline_share": 0.7}
              for label, bound in (("small", "cache"), ("large", "memory"))]
    return {"schema": 1, "run": f"{problem}-{number:06}", "problem": problem, "problem_hash": f"{problem:0>32}"[:32],
            "started": f"2026-01-{1 + number % 28:02}T{number // 28 % 24:02}:00:00Z", "outcome": "improved",
            "verified": True, "tags": [family, "generated"], "headline_baseline": "numpy", "shapes": shapes,
            "headline": {"ratio": 2, "low": 2, "high": 2}, "evaluations": evaluations,
            "machine": {"cpu": cpu, "isa": isa, "architecture": "any", "cores": 8, "fingerprint": f"{cpu} {isa}"},
            "regimes": [{"kernel": "strategy_0", "strategy": "strategy_0", "points": ["small", "large"],
                         "condition": "otherwise", "configuration": {"UNROLL": 8, "TILE": 4}}],
            "strategies": strategies, "history": history}


def fill(store, program, evaluations_of_runs):
    """As a store of version 2, which the program then brings up to date: so the migration is timed too."""
    chance = random.Random(1)
    connection = sqlite3.connect(store)
    connection.executescript("""
        CREATE TABLE runs (run TEXT PRIMARY KEY, problem TEXT NOT NULL, started TEXT NOT NULL, outcome TEXT NOT NULL,
            speedup REAL NOT NULL, baseline TEXT NOT NULL, seconds REAL NOT NULL, evaluations INTEGER NOT NULL,
            result TEXT NOT NULL, record TEXT NOT NULL);
        CREATE TABLE evaluations (run TEXT NOT NULL, sequence INTEGER NOT NULL, key TEXT NOT NULL,
            evaluation TEXT NOT NULL, PRIMARY KEY (run, sequence));
        CREATE INDEX evaluations_by_key ON evaluations (run, key);
        CREATE TABLE documents (run TEXT NOT NULL, key TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (run, key));
        CREATE TABLE signatures (run TEXT PRIMARY KEY, signature TEXT NOT NULL, isa TEXT NOT NULL,
            cores INTEGER NOT NULL, operations TEXT NOT NULL);
        CREATE INDEX signatures_by_isa ON signatures (isa);
        PRAGMA user_version = 2;""")
    for number, evaluations in enumerate(evaluations_of_runs):
        record = record_of(number, chance, evaluations)
        connection.execute("INSERT INTO runs VALUES (?, ?, ?, 'improved', 2, 'numpy', 60, ?, '', ?)",
                           (record["run"], record["problem"], record["started"], evaluations,
                            json.dumps(record)))
        connection.executemany("INSERT INTO evaluations VALUES (?, ?, ?, ?)",
                               [(record["run"], i, f"{number:026}{i:06}", json.dumps(entry))
                                for i, entry in enumerate(record["history"])])
        family = record["tags"][0]
        connection.execute("INSERT INTO signatures VALUES (?, ?, ?, 8, ?)",
                           (record["run"], record["problem"], record["machine"]["isa"],
                            json.dumps({f"reduction {family} [-1]": 1, f"pointwise {record['problem']}": 1})))
    connection.commit()
    connection.close()
    start = time.monotonic()
    subprocess.run([program, "runs", "nothing", "--store", store], check=True, stdout=subprocess.DEVNULL)
    print(f"brought up to date in {time.monotonic() - start:.1f} s")


COPIED = {"runs": "run, problem, started, outcome, speedup, baseline, seconds, evaluations, result, record",
          "evaluations": "run, sequence, key, evaluation",
          "signatures": "run, signature, isa, cores, operations",
          "digests": "run, started, origin, problem_hash, fingerprint, language, hardware, tags, digest, effects"}
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy(store, server, program):
    """From the file into the server, by psql."""
    if subprocess.run([program, "runs", "nothing", "--store", server], check=False, capture_output=True).returncode == 0:
        return
    with tempfile.TemporaryDirectory() as empty:
        (pathlib.Path(empty) / "runs").mkdir()
        subprocess.run([program, "knowledge", "import", empty, "--store", server], check=True, capture_output=True)
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    for table, columns in COPIED.items():
        with subprocess.Popen(["psql", server, "-q", "-c", f"COPY {table} ({columns}) FROM STDIN"],
                              stdin=subprocess.PIPE, text=True, encoding="utf-8") as into:
            for row in connection.execute(f"SELECT {columns} FROM {table} ORDER BY rowid"):
                into.stdin.write("\t".join(str(value).translate(ESCAPES) for value in row) + "\n")
        if into.returncode != 0:
            sys.exit(f"{table} was not copied")
    subprocess.run(["psql", server, "-q", "-c", "ANALYZE"], check=True)
    connection.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=1_000_000)
    parser.add_argument("--store", default="/tmp/strop-query.db")
    parser.add_argument("--strop", default="build/release/strop")
    parser.add_argument("--server")
    parser.add_argument("--repeats", type=int, default=15)
    given = parser.parse_args()
    if not pathlib.Path(given.store).exists():
        fill(given.store, given.strop, [EVALUATIONS_OF_A_RUN] * (given.evaluations // EVALUATIONS_OF_A_RUN))
    print(f"{given.store}: {pathlib.Path(given.store).stat().st_size / 2**20:.0f} MiB")
    if given.server:
        copy(given.store, given.server, given.strop)
        given.store = given.server
    problem = pathlib.Path(__file__).resolve().parents[1] / "problems" / "softmax"
    questions = {"all": [], "hardware": ["avx512"], "hardware and tags": ["epyc", "--tags", "contraction"],
                 "nothing fits": ["sparc", "--tags", "none"], "a language": ["--language", "opencl"]}
    known = json.loads(subprocess.run([given.strop, "query", "--similar", str(problem), "--store", given.store, "--json"],
                                      check=True, capture_output=True, text=True).stdout)
    print(f"--similar softmax: traced, {len(known['runs'])} runs")
    for name, words in questions.items():
        seconds = []
        for _ in range(given.repeats):
            start = time.monotonic()
            subprocess.run([given.strop, "query", *words, "--store", given.store, "--json"], check=True,
                           stdout=subprocess.DEVNULL)
            seconds.append(time.monotonic() - start)
        print(f"{name}: {1e3 * statistics.median(seconds):.0f} ms, at worst {1e3 * max(seconds):.0f} ms")
    print(f"memory {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB at most, the tracer's among it")


if __name__ == "__main__":
    sys.exit(main())
