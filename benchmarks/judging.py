#!/usr/bin/env python3
"""What a judgement costs: the seconds that the worker needs for one evaluation of a kernel that is compiled already.

    benchmarks/judging.py [--repeats 30]

On the small shape of softmax: a correct kernel at most 150 ms in all, one whose result is wrong at most 60 ms. Each is
asked for again and again, in turn, as a screening and as a full judgement; compiling is left out. Medians, with the
smallest and the largest. Exit 1: a median is above its bound. Nothing else should run meanwhile.
"""

import argparse
import statistics
import sys
import time

from worker import HOME, Worker

PROBLEM = HOME / "problems" / "softmax"

CORRECT = """#include <math.h>
#include <stdint.h>
extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i, x += N, y += N) {
        float highest = x[0], sum = 0;
        for (int64_t j = 1; j < N; ++j) highest = x[j] > highest ? x[j] : highest;
        for (int64_t j = 0; j < N; ++j) sum += y[j] = expf(x[j] - highest);
        for (int64_t j = 0; j < N; ++j) y[j] /= sum;
    }
}
"""
WRONG = CORRECT.replace("y[j] /= sum", "y[j] /= sum + 0.01f * y[0]")
SMALL = {"M": 64, "N": 128}    # as problem.yaml says
BOUNDS = {"correct": 0.150, "wrong": 0.060}


def request(source, effort):
    return {"kernel": {"id": "kernel", "strategy": "kernel", "source": source}, "configuration": {},
            "points": [{"label": "small", "dims": SMALL}], "effort": effort, "best_ns": {}}


def main(repeats):
    worker = Worker()
    worker.open(PROBLEM, ["small"])
    kernels = {(name, effort): request(source, effort) for effort in ("screen", "full")
               for name, source in (("correct", CORRECT), ("wrong", WRONG))}
    seconds = {name: [] for name in kernels}
    for repeat in range(repeats + 1):
        for name, asked in kernels.items():
            start = time.monotonic()
            evaluation = worker.ask(op="evaluate", requests=[asked])["evaluations"][0]
            spent = time.monotonic() - start
            expected = "ok" if name[0] == "correct" else "wrong_output"
            if evaluation["verdict"] != expected:
                sys.exit(f"the {name[0]} kernel is {evaluation['verdict']}: {evaluation['evidence']}")
            if repeat > 0:    # the first one compiles
                seconds[name].append(spent - evaluation["compile_seconds"])
    worker.close()
    good = True
    for (name, effort), values in seconds.items():
        median = statistics.median(values)
        good = good and median <= BOUNDS[name]
        print(f"{effort:7} {name:8} {1e3 * median:6.1f} ms ({1e3 * min(values):.1f} to {1e3 * max(values):.1f}), "
              f"at most {1e3 * BOUNDS[name]:.0f} ms")
    return 0 if good else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=30)
    sys.exit(main(parser.parse_args().repeats))
