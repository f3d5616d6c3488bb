#!/usr/bin/env python3
"""What knowledge of one problem is worth for another: evaluations to within 3 % of the best known.

    benchmarks/experience.py [--pair softmax:log_softmax] [--budget 60s] [--evaluations 200] [--json FILE]

For each pair FIRST:SECOND the first problem is optimized into a store of its own. Then the second is, with the same
seeds: without knowledge, with that store, and with the same store whose winners and losers changed places. The best
known of a shape is the least time of all these runs; a run is there when one of its configurations is within 3 % of it
in the geometric mean over the shapes. Times are those of the search's own screenings, so a quiet machine is needed.
"""

import argparse
import json
import math
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HOME = pathlib.Path(__file__).resolve().parents[1]
PAIRS = ["softmax:softmax", "layernorm:layernorm", "matmul:matmul", "softmax:log_softmax", "softmax:logsumexp",
         "layernorm:rmsnorm", "rmsnorm:layernorm", "matmul:linear_relu", "linear_relu:matmul", "row_sum:row_max",
         "column_sum:column_mean", "bias_gelu_residual:bias_relu_residual"]
# Problems that are not shipped: made of one that is, with another reference (and other outputs).
RELATIVES = {
    "log_softmax": ("softmax", "    z = x - x.max(axis=1, keepdims=True)\n"
                               "    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))\n", None),
    "logsumexp": ("softmax", "    m = x.max(axis=1)\n    return m + np.log(np.exp(x - m[:, None]).sum(axis=1))\n", "[M]"),
    "row_max": ("row_sum", "    return x.max(axis=1)\n", None),
    "column_mean": ("column_sum", "    return x.mean(axis=0)\n", None),
    "bias_relu_residual": ("bias_gelu_residual", "    return np.maximum(x + bias, 0) * scale + residual\n", None)}
NEAR = 1.03


def problem_in(name, folder):
    """The name of a shipped problem, or the folder of a relative that is written there."""
    if name not in RELATIVES:
        return name
    origin, body, shape = RELATIVES[name]
    place = folder / name
    if place.exists():
        return str(place)
    place.mkdir(parents=True)
    head = next(line for line in (HOME / "problems" / origin / "reference.py").read_text(encoding="utf-8").splitlines()
                if line.startswith("def "))
    text = f"import numpy as np\n\n\n{head.replace(f'def {origin}(', f'def {name}(')}\n{body}"
    (place / "reference.py").write_text(text, encoding="utf-8")
    lines, outputs = [], False
    for line in (HOME / "problems" / origin / "problem.yaml").read_text(encoding="utf-8").splitlines():
        outputs = line.startswith("outputs:") or outputs and line.startswith(" ")
        if line.startswith(("baselines:", "work:", "#")):
            continue
        if outputs and shape:
            line = re.sub(r"shape: \[[^]]*\]", f"shape: {shape}", line)
        lines.append(f"name: {name}" if line.startswith("name:") else line)
    (place / "problem.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(place)


def optimize(given, problem, store, seed, *words):
    with tempfile.TemporaryDirectory(prefix="strop-experience-") as folder:
        done = subprocess.run([given.strop, "optimize", problem, "--store", str(store), "--budget", given.budget,
                               "--evaluations", str(given.evaluations), "--seed", str(seed), "--quiet", "--json",
                               "--out", folder, *words], capture_output=True, text=True, check=False, cwd=HOME)
    if done.returncode not in (0, 1):
        sys.exit(f"{problem}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def costs(record):
    """Of each evaluation in order: the geometric mean over all shapes; infinite where one is missing."""
    labels = [shape["label"] for shape in record["shapes"]]
    for entry in record["history"]:
        times = [entry["nanoseconds"].get(label) for label in labels]
        whole = entry["verdict"] == "ok" and all(times)
        yield math.exp(statistics.fmean(map(math.log, times))) if whole else math.inf


def reverse(store):
    """Winners and losers change places, and winners' configurations become the worst that were measured."""
    connection = sqlite3.connect(store)
    for run, text in connection.execute("SELECT run, record FROM runs").fetchall():
        record = json.loads(text)
        worst = max((entry for entry in record["history"] if entry["verdict"] == "ok"),
                    key=lambda entry: sum(entry["nanoseconds"].values()), default=None)
        for strategy in record["strategies"]:
            strategy["state"] = {"winner": "pruned", "pruned": "winner"}.get(strategy["state"], strategy["state"])
        for regime in record["regimes"]:
            if worst:
                regime.update(strategy=worst["strategy"], kernel=worst["kernel"], configuration=worst["configuration"])
        for entry in record["history"]:
            entry["nanoseconds"] = {label: 1e12 / time for label, time in entry["nanoseconds"].items()}
        connection.execute("UPDATE runs SET record = ? WHERE run = ?", (json.dumps(record), run))  # all that a run reads
    connection.commit()
    connection.close()


def needed(found, best):
    """Evaluations until one is near the best; None: it never was."""
    return next((count for count, cost in enumerate(found, 1) if cost <= NEAR * best), None)


def measure(given, first, second, folder):
    store, wrong = folder / "first.db", folder / "wrong.db"
    names = f"{first}:{second}"
    first, second = problem_in(first, folder / "problems"), problem_in(second, folder / "problems")
    optimize(given, first, store, given.seed)
    connection = sqlite3.connect(store)
    connection.execute("VACUUM INTO ?", (str(wrong),))
    connection.close()
    reverse(wrong)
    ways = {"without": ["--no-knowledge"], "with": ["--knowledge", str(store)], "wrong": ["--knowledge", str(wrong)]}
    found = {way: [list(costs(optimize(given, second, folder / "second.db", given.seed + i, *words)))
                   for i in range(given.repeats)] for way, words in ways.items()}
    best = min(cost for runs in found.values() for run in runs for cost in run)
    result = {"pair": names, "best_ns": best if math.isfinite(best) else None}
    for way, runs in found.items():
        counts = [needed(run, best) for run in runs]
        result[way] = {"evaluations": counts, "reached": sum(count is not None for count in counts),
                       "final": statistics.median(min(run, default=math.inf) / best for run in runs)}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", action="append", help="FIRST:SECOND, problems as `strop optimize` takes them")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strop", default=str(HOME / "build/release/strop"))
    parser.add_argument("--json", help="write all results there")
    given = parser.parse_args()
    given.strop = str(pathlib.Path(given.strop).resolve())
    results = []
    for pair in given.pair or PAIRS:
        first, second = pair.split(":")
        with tempfile.TemporaryDirectory(prefix="strop-experience-") as folder:
            results.append(measure(given, first, second, pathlib.Path(folder)))
        last = results[-1]
        print(f"{pair}: " + "; ".join(f"{way} {last[way]['evaluations']} (final {last[way]['final']:.2f})"
                                      for way in ("without", "with", "wrong")), flush=True)
        if given.json:
            pathlib.Path(given.json).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
