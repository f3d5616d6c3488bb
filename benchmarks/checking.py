#!/usr/bin/env python3
"""How often `strop check` claims that a result got slower: of the result itself, and of one that was slowed on purpose.

    benchmarks/checking.py strop-out/softmax --same 100 --planted 20 --slower 0.05 --tolerance 0.01 --per-shape 2s

First the result is checked once, which gives the figures that all trials are held to (`--baseline`). A planted one has the
result's own function behind another, which waits after each call for the given share of the call's time. Trials are
shuffled. Prints claims, with the seconds of a check; the exit code is 1 where more than 1% of the same are claimed, or fewer
than 95% of the planted ones.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HOME = pathlib.Path(__file__).resolve().parent.parent
STROP = os.environ.get("STROP_BINARY", str(HOME / "build/release/strop"))

WAITING = """
#include <time.h>

static long long strop_bench_now() {{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}}

static const long long strop_bench_clock = [] {{  // that three looks at the clock take
    const long long start = strop_bench_now();
    for (int i = 0; i < 2998; ++i) strop_bench_now();
    return (strop_bench_now() - start) / 1000;
}}();

{signature} {{
    const long long start = strop_bench_now();
    {name}_as_it_was({arguments});
    const long long end = strop_bench_now();
    const long long until = end + (long long)((end - start) * {slower}) - strop_bench_clock;
    if (until > end)
        while (strop_bench_now() < until) {{
        }}
}}
"""


def slowed(source, name, slower):
    """The source with its function `name` behind one that takes longer."""
    head = re.search(r'extern "C" void ' + name + r"\(([^)]*)\)(?=\s*\{)", source)
    if not head:
        sys.exit(f"{name}: its function was not found in the source")
    arguments = ", ".join(re.search(r"(\w+)\s*$", one).group(1) for one in head[1].split(","))
    renamed = source[: head.start()] + f"static void {name}_as_it_was({head[1]})" + source[head.end() :]
    return renamed + WAITING.format(signature=head[0], name=name, arguments=arguments, slower=slower)


def check(folder, options, *words):
    start = time.monotonic()
    done = subprocess.run([STROP, "check", str(folder), "--json", "--per-shape", options.per_shape, *words],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{folder}: {done.stderr}")
    return done.stdout, json.loads(done.stdout), time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--same", type=int, default=100)
    parser.add_argument("--planted", type=int, default=20)
    parser.add_argument("--slower", type=float, default=0.05)
    parser.add_argument("--tolerance", default="0.01")
    parser.add_argument("--per-shape", default="2s")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    report = json.loads((options.result / "report.json").read_text(encoding="utf-8"))
    name = report["problem"]
    trials = ["same"] * options.same + ["planted"] * options.planted
    random.Random(options.seed).shuffle(trials)
    claimed, seconds = {"same": 0, "planted": 0}, []
    with tempfile.TemporaryDirectory() as folder:
        slow, baseline = pathlib.Path(folder, name), pathlib.Path(folder, "baseline.json")
        shutil.copytree(options.result, slow)
        source = slow / f"{name}.cpp"
        source.write_text(slowed(source.read_text(encoding="utf-8"), name, options.slower), encoding="utf-8")
        baseline.write_text(check(options.result, options)[0], encoding="utf-8")
        for number, kind in enumerate(trials):
            _, said, took = check(slow if kind == "planted" else options.result, options, "--baseline", str(baseline),
                                  "--tolerance", options.tolerance)
            verdict = said["results"][0]["verdict"]
            if verdict not in ("ok", "slower"):
                sys.exit(f"{kind}: {verdict}: {said['results'][0]['evidence']}")
            claimed[kind] += verdict == "slower"
            seconds.append(took)
            if verdict == "slower" or kind == "planted":
                changes = {c["label"]: [round(c["change"][k], 3) for k in ("low", "ratio", "high")] for c in said["results"][0]["shapes"]}
                print(f"{number}: {kind}: {verdict} {changes}", flush=True)
    print(f"same: {claimed['same']} of {options.same} claimed; planted {options.slower:.0%}: {claimed['planted']} of "
          f"{options.planted} found; {statistics.median(seconds):.1f} s a check")
    return claimed["same"] > 0.01 * options.same or claimed["planted"] < 0.95 * options.planted


if __name__ == "__main__":
    sys.exit(main())
