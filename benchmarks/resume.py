#!/usr/bin/env python3
"""Kills an optimization again and again at random moments, resumes it each time, and counts what that cost.

    STROP_BINARY=build/release/strop python3 benchmarks/resume.py [--kills 20] [--problem softmax] [--budget 40]

Prints one line a kill and a JSON document at the end; exit code 1 if anything was lost or done twice.
"""

import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tests.cli.strop_cli import BINARY, descendants, environment, lives, recorded, wait_until  # noqa: E402

DOCUMENTS = "SELECT run || key FROM documents"


class Series:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.store = folder / "runs.db"
        self.words = ["optimize", options.problem, "--budget", f"{options.budget}s", "--seed", str(options.seed)]
        self.kept, self.documents = [], set()
        self.lost = self.survivors = self.finished = 0

    def start(self):
        return subprocess.Popen([str(pathlib.Path(BINARY).resolve()), *self.words, "--quiet", "--store",
                                 str(self.store), "--json"], cwd=self.folder, env=environment(), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def look(self):
        """Counts what is no longer there."""
        keys, documents = recorded(self.store), set(recorded(self.store, DOCUMENTS))
        self.lost += len(set(self.kept) - set(keys)) + len(self.documents - documents)
        self.kept, self.documents = keys, documents

    def kill_once(self, number, seconds):
        process = self.start()
        if not wait_until(lambda: recorded(self.store, "SELECT run FROM runs") or process.poll() is not None):
            raise SystemExit("no run appeared in the store")
        ended = wait_until(lambda: process.poll() is not None, seconds)
        below = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.survivors += not wait_until(lambda: not any(lives(*one) for one in below), 10)
        self.finished += ended
        self.look()
        print(f"kill {number:2}: {'had ended' if ended else f'after {seconds:5.2f} s'}, {len(self.kept)} evaluations and "
              f"{len(self.documents)} comparisons kept", flush=True)
        runs = recorded(self.store, "SELECT run FROM runs")
        self.words = ["resume", runs[0]]

    def finish(self):
        process = self.start()
        out, err = process.communicate()
        self.look()
        if process.returncode not in (0, 1):
            raise SystemExit(f"the run does not end: {err}")
        return json.loads(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--problem", default="softmax")
    parser.add_argument("--budget", type=int, default=40, help="seconds of the run")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="strop-resume-") as folder:
        series = Series(pathlib.Path(folder), options)
        moments = random.Random(options.seed)
        for number in range(1, options.kills + 1):
            series.kill_once(number, moments.uniform(0, 0.75 * options.budget))
        record = series.finish()
    result = {
        "problem": options.problem, "kills": options.kills, "had_ended": series.finished, "lost": series.lost,
        "done_twice": len(series.kept) - len(set(series.kept)), "surviving_processes": series.survivors,
        "evaluations": len(series.kept), "in_the_history": record["evaluations"]["total"],
        "outcome": record["outcome"], "verified": record["verified"], "speedup": record["headline"]["speedup"],
        "seconds": record["seconds"]["total"],
    }
    print(json.dumps(result, indent=2))
    return 1 if series.lost or result["done_twice"] or series.survivors else 0


if __name__ == "__main__":
    sys.exit(main())
