#!/usr/bin/env python3
"""Records a run with a model in every role on softmax and on linear_relu, replays it twice, compares the records.

    benchmarks/replay.py [--budget 60s]

The model is a script (tests/fakes/scripted_model.py): a kernel that does not compile, its repair, a changed one after a
diagnosis. Two replays must agree in every byte but clocks, names of runs and the result's place. The exit code says so.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HOME = pathlib.Path(__file__).resolve().parent.parent

SOFTMAX = """#include <math.h>
#include <stdint.h>
// strop:tune BLOCK = 1 | 4 | 16
// strop:late PARALLEL_MIN = 65536 | 16384 | 1048576
extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for schedule(dynamic, BLOCK) if (M * N > PARALLEL_MIN)
    for (int64_t i = 0; i < M; ++i) {
        const float* row = x + i * N;
        float highest = row[0], sum = 0;
        for (int64_t j = 1; j < N; ++j) highest = row[j] > highest ? row[j] : highest;
        for (int64_t j = 0; j < N; ++j) sum += y[i * N + j] = expf(row[j] - highest);
        for (int64_t j = 0; j < N; ++j) y[i * N + j] /= sum;
    }
}
"""

LINEAR_RELU = """#include <stdint.h>
// strop:tune BLOCK = 8 | 16 | 32
// strop:late PARALLEL_MIN = 65536 | 16384 | 1048576
extern "C" void linear_relu(const float* x, const float* w, const float* b, float* y, int64_t M, int64_t I,
                            int64_t O) {
#pragma omp parallel for if (M * I * O > PARALLEL_MIN)
    for (int64_t i = 0; i < M; ++i)
        for (int64_t begin = 0; begin < O; begin += BLOCK)
            for (int64_t j = begin; j < begin + BLOCK && j < O; ++j) {
                float sum = b[j];
                for (int64_t k = 0; k < I; ++k) sum += x[i * I + k] * w[j * I + k];
                y[i * O + j] = sum > 0 ? sum : 0;
            }
}
"""


def script(source):
    def code(text):
        return {"source": text, "condition": "", "note": "as asked"}
    plan = {"id": "plain_loops", "family": "loops", "hypothesis": "Plain loops that the compiler vectorises.",
            "bottleneck": "compute", "excludes": [], "regimes": "small", "confidence": 0.4}
    diagnosis = {"bottleneck": "compute", "evidence": "far from the roofline", "method": "other blocks",
                 "plan": "walk in other blocks", "expected": "large"}
    lesson = {"when": "always", "what": "plain loops lose", "why": "nothing is kept in registers", "evidence": ["plain_loops"]}
    return {"planner": [{"reply": {"strategies": [plan]}}],
            "coder": [{"when": "Write the kernel", "reply": code(source.replace("int64_t i = 0;", "int64_t i = 0", 1))},
                      {"reply": code("// after a diagnosis\n" + source), "times": 99}],
            "fixer": [{"reply": code(source), "times": 99}],
            "analyst": [{"reply": diagnosis, "times": 99}],
            "scorer": [{"reply": {"scores": [{"id": "plain_loops", "confidence": 0.2, "reason": "slow"}]}, "times": 99}],
            "reflector": [{"reply": {"lessons": [lesson]}}]}


def without_clocks(record):
    """All but names of runs, clocks and the result's place."""
    def strip(value):
        if isinstance(value, dict):
            return {key: strip(entry) for key, entry in value.items() if key != "seconds"}
        return [strip(entry) for entry in value] if isinstance(value, list) else value
    kept = strip({key: value for key, value in record.items() if key not in ("run", "started", "result")})
    kept["settings"].pop("out")
    return json.dumps(kept, sort_keys=True)


def optimize(folder, problem, *words):
    done = subprocess.run([HOME / "strop", "optimize", HOME / "problems" / problem, "--store", folder / "runs.db",
                           "--json", "--quiet", *words], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def compare(problem, source, budget):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "script.json").write_text(json.dumps(script(source)), encoding="utf-8")
        model = f"exec:{sys.executable} {HOME}/tests/fakes/scripted_model.py {folder}/script.json {folder}/calls.log"
        first = optimize(folder, problem, "--budget", budget, "--model", model, "--record", folder / "run.json",
                         "--out", folder / "out")
        calls = (folder / "calls.log").read_bytes()
        replays = [optimize(folder, problem, "--replay", folder / "run.json", "--out", folder / f"out{i}")
                   for i in range(2)]
        asked_again = (folder / "calls.log").read_bytes() != calls
        same = without_clocks(replays[0]) == without_clocks(replays[1])
        as_first = replays[0]["headline"] == first["headline"] and len(first["history"]) == len(replays[0]["history"])
        roles = ", ".join(f"{use['role']} {use['calls']}" for use in first["models"])
        print(f"{problem}: {len(first['history'])} evaluations, calls: {roles}; the replays are "
              f"{'the same' if same else 'DIFFERENT'}, {'like' if as_first else 'UNLIKE'} the recorded run; "
              f"{'a model was ASKED' if asked_again else 'no model was asked'}; seconds "
              f"{first['seconds']['total']:.1f} and {replays[0]['seconds']['total']:.1f}")
        if not same:
            for i, replay in enumerate(replays):
                pathlib.Path(f"replay-{problem}-{i}.json").write_text(json.dumps(replay, indent=1), encoding="utf-8")
        return same and as_first and not asked_again


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--budget", default="60s")
    budget = parser.parse_args().budget
    return 0 if all([compare("softmax", SOFTMAX, budget), compare("linear_relu", LINEAR_RELU, budget)]) else 1


if __name__ == "__main__":
    sys.exit(main())
