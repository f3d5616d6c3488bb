#!/usr/bin/env python3
"""Records a run with a model in every role on softmax and on linear_relu, replays it twice, compares the records.

    benchmarks/replay.py [--budget 60s]

The model is a script (tests/fakes/scripted_model.py): a kernel that does not compile, its repair, a doubtful diagnosis,
an experiment that decides, a changed kernel, opinions and lessons. Two replays must agree in every byte but clocks,
names of runs and the result's place, and every role must have taken part. The exit code says so.
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


ROLES = ("planner", "coder", "fixer", "analyst", "experimenter", "scorer", "reflector")


def script(source):
    def code(text):
        return {"source": text, "condition": "", "note": "as asked"}

    def diagnosis(evidence, alternative):
        return {"bottleneck": "compute", "evidence": evidence, "method": "other blocks", "plan": "walk in other blocks",
                "expected": "large", "alternative": alternative}
    plan = {"id": "plain_loops", "family": "loops", "hypothesis": "Plain loops that the compiler vectorises.",
            "bottleneck": "compute", "excludes": [], "regimes": "small", "confidence": 0.4}
    probes = [{"name": "one_thread", "source": source.replace("#pragma omp", "// #pragma omp"),
               "tells": "as fast as the kernel: threads gain nothing"}]
    lesson = {"when": "always", "what": "plain loops lose", "why": "nothing is kept in registers", "evidence": ["plain_loops"]}
    return {"planner": [{"reply": {"strategies": [plan]}}],
            "coder": [{"when": "Write the kernel", "reply": code(source.replace("int64_t i = 0;", "int64_t i = 0", 1))},
                      {"reply": code("// after a diagnosis\n" + source), "times": 99}],
            "fixer": [{"reply": code(source), "times": 99}],
            "analyst": [{"when": "The judge has measured probes", "times": 99,
                         "reply": diagnosis("one_thread is slower", "")},
                        {"reply": diagnosis("far from the roofline", "threads that wait"), "times": 99}],
            "experimenter": [{"reply": {"hypothesis": "Threads gain something.", "probes": probes}, "times": 99}],
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


def compare(problem, source, budget, taken):
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
        for use in first["models"]:
            taken[use["role"]] = taken.get(use["role"], 0) + use["calls"] - use["failed"]
        print(f"{problem}: {len(first['history'])} evaluations, {len(first['experiments'])} experiments; the replays are "
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
    taken = {}
    same = all([compare("softmax", SOFTMAX, budget, taken), compare("linear_relu", LINEAR_RELU, budget, taken)])
    for role in ROLES:
        print(f"{role}: {taken.get(role, 0)} calls" + ("" if taken.get(role) else ", it took NO part"))
    return 0 if same and all(taken.get(role) for role in ROLES) else 1


if __name__ == "__main__":
    sys.exit(main())
