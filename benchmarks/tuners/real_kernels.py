#!/usr/bin/env python3
"""How near to the best of everything a short search of a real kernel ends.

    benchmarks/tuners/real_kernels.py REPORT --kernel ID --point LABEL [--table FILE] [--evaluations 100] [--seeds 10]

REPORT is the report.json of a run on a shipped problem, ID one of its winners. All valid configurations of that kernel
are judged once at one shape (`strop tune --exhaustive`), and kept in FILE, a cache of Kernel Tuner's; a FILE that is
there, also compressed, is used as it is. Then searches are replayed on it, without the author's first guess. Asked is
that nine of ten end within 3% of the best. Exit 1: fewer do. Nothing else should run while the table is made.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measured import Space  # noqa: E402
from screening import configurations, read_kernel  # noqa: E402
from worker import HOME, STROP  # noqa: E402

NEAR, SHARE = 1.03, 0.9


def make_table(problem, kernel, point, table):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / f"{kernel['id']}.cpp"
        source.write_text(kernel["source"], encoding="utf-8")
        done = subprocess.run([STROP, "tune", str(source), "--problem", str(HOME / "problems" / problem), "--point",
                               point["label"], "--exhaustive", "--budget", "2h", "--export", str(table), "--out", folder,
                               "--store", f"{folder}/runs.db", "--quiet"], stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"the table could not be made: exit code {done.returncode}")


def replay(table, evaluations, seed):
    done = subprocess.run([STROP, "tune", "--replay", str(table), "--evaluations", str(evaluations), "--seed", str(seed),
                           "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", metavar="REPORT")
    parser.add_argument("--kernel", required=True, metavar="ID")
    parser.add_argument("--point", required=True, metavar="LABEL")
    parser.add_argument("--table", metavar="FILE")
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    problem, kernel, point = read_kernel(given.report, given.kernel, given.point)
    table = pathlib.Path(given.table or f"{problem}_{point['label']}.json")
    if not table.exists():
        make_table(problem, kernel, point, table)
    measured = Space(str(table))
    print(f"{kernel['id']} of {problem} at {point['label']} on {measured.device}: {len(measured.configurations)} of "
          f"{len(list(configurations(kernel)))} configurations")
    ratios = []
    for seed in range(1, given.seeds + 1):
        answer = replay(table, given.evaluations, seed)
        ratios.append(answer["best"] / answer["optimum"])
        print(f"seed {seed:2}: {answer['best']:.6g}, {ratios[-1]:.3f} times the best of all; "
              f"{json.dumps(answer['configuration'])}")
    near = sum(ratio <= NEAR for ratio in ratios)
    print(f"{near} of {len(ratios)} searches of {given.evaluations} evaluations end within {100 * (NEAR - 1):.0f}%")
    return 0 if near >= SHARE * len(ratios) else 1


if __name__ == "__main__":
    sys.exit(main())
