#!/usr/bin/env python3
"""Replays the searches of several tuners on fully measured spaces and compares what they find.

    benchmarks/tuners/setup     # once: the peers, in an environment of their own
    python3 benchmarks/tuners/compare.py SPACE... [--repeats 20] [--methods strop,random] [--keep FILE]

A SPACE is a Kernel Tuner cache file (.json or .json.gz) that holds every valid configuration. A configuration that
fails costs an evaluation; a repeated one or one that violates a constraint does not. Prints optimum / best found at
each budget (geometric mean over spaces and repeats, bootstrap 95% interval) and the methodology's score (0: random
search as expected, 1: the optimum at once; time is what the space says that compiling and running took).
Exit codes: 1 a search failed, 2 wrong usage, 130 interrupted (what was kept goes on with the same --keep).
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import random
import signal
import sys
import time
from typing import NoReturn

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
from measured import Ended, Ledger, Space, load, steps  # noqa: E402
from methods import SLOW, STROP, Job, finder, missing_package, names, strop_search  # noqa: E402
from figures import report  # noqa: E402


def run(job: Job) -> dict:
    """One search in a worker: what it found, or why it failed."""
    space = load(job.space)
    line = {"method": job.method, "space": space.label, "digest": space.digest, "seed": job.seed,
            "evaluations": job.evaluations, "earlier": [load(path).digest for path in job.earlier]}
    ledger, began = Ledger(space, job.evaluations), time.perf_counter()
    try:
        if job.method in STROP:
            line["steps"] = strop_search(job, space)
        else:
            line.update(replay(job, ledger))
    except Exception as error:    # of a peer, whatever it is: the others go on
        line["error"] = f"{type(error).__name__}: {error}"
    line["seconds"] = round(time.perf_counter() - began, 3)
    return line


def replay(job: Job, ledger: Ledger) -> dict:
    def out_of_time(*_):
        ledger.end("out of time")

    random.seed(job.seed)
    if ":" in job.method:    # a peer: some draw from here
        import numpy
        numpy.random.seed(job.seed)
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(job.limit)
    try:
        finder(job.method)(ledger, job.seed)
    except Ended:
        pass
    finally:
        signal.alarm(0)
    if ledger.full:
        ledger.reason = "budget"
    return {"steps": steps(ledger.space, ledger.order), "used": len(ledger.order), "free": ledger.free,
            "ended": ledger.reason}


def prepare_worker() -> None:
    """An interruption is the parent's to handle; what peers print is nobody's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")
    import warnings
    warnings.simplefilter("ignore")


def earlier_runs(method: str, space: Space, spaces: list[Space]) -> list[str] | None:
    """The spaces that count as earlier runs, None where the given ones hold none of the kind."""
    if method == "strop+earlier":
        chosen = [other.path for other in spaces if other.kernel == space.kernel and other.device != space.device]
    elif method == "strop+unrelated":
        at = spaces.index(space)
        chosen = [other.path for other in spaces[at:] + spaces[:at] if other.kernel != space.kernel][:1]
    else:
        return []
    return chosen or None


def jobs_of(options: argparse.Namespace, spaces: list[Space]) -> list[Job]:
    """Seed after seed, so that an interrupted comparison has as many repeats of every method."""
    jobs = []
    for seed in range(1, options.repeats + 1):
        for space in spaces:
            for method in options.methods:
                earlier = earlier_runs(method, space, spaces)
                if earlier is not None:
                    jobs.append(Job(method, space.path, seed, options.evaluations, options.strop, earlier,
                                    options.limit))
    return jobs


def kept(path: str | None) -> dict[tuple, dict]:
    lines = {}
    if path and os.path.exists(path):
        for text in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
            except json.JSONDecodeError:    # the writer was stopped in the middle of it
                continue
            lines[key_of(line)] = line
    return lines


def key_of(line: dict) -> tuple:
    return line["method"], line["digest"], line["seed"], line["evaluations"], tuple(line.get("earlier", []))


def search_all(options: argparse.Namespace, spaces: list[Space]) -> tuple[list[dict], bool]:
    """The lines of all searches, and whether all were made."""
    found, lines, todo = kept(options.keep), [], []
    for job in jobs_of(options, spaces):
        line = found.get(key_of({**vars(job), "digest": load(job.space).digest,
                                 "earlier": [load(path).digest for path in job.earlier]}))
        if line and "error" not in line and job.method not in options.again:
            lines.append(line)
        else:
            todo.append(job)
    print(f"{len(lines)} searches kept, {len(todo)} to make", file=sys.stderr)
    out = open(options.keep or os.devnull, "a", encoding="utf-8")
    if options.keep and out.tell() and not pathlib.Path(options.keep).read_bytes().endswith(b"\n"):
        out.write("\n")
    with out, multiprocessing.Pool(options.jobs, prepare_worker) as pool:
        try:
            for number, line in enumerate(pool.imap_unordered(run, todo), 1):
                lines.append(line)
                print(json.dumps(line), file=out, flush=True)
                if "error" in line:
                    print(f"strop: {line['method']} on {line['space']}, seed {line['seed']}: {line['error']}",
                          file=sys.stderr)
                if number % 100 == 0:
                    print(f"{number} of {len(todo)} searches", file=sys.stderr)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)    # the tables are still to come
            pool.terminate()
            return lines, False
    return lines, True


def fail(phrase: str, hint: str) -> NoReturn:
    print(f"strop: {phrase}\nhint: {hint}", file=sys.stderr)
    sys.exit(2)


def chosen_methods(text: str | None) -> list[str]:
    """Names, or families as a whole (kernel_tuner, pyatf, optuna), in the order given; the slow ones by name only."""
    if text is None:
        methods = [name for name in names() if name not in SLOW]
        absent = [name for name in methods if missing_package(name)]
        if absent:
            print("strop: the peers are not installed, so only our own searches are compared\n"
                  "hint: run benchmarks/tuners/setup", file=sys.stderr)
        return [name for name in methods if name not in absent]
    methods = []
    for word in text.split(","):
        found = [name for name in names() if name == word or name.split(":")[0] == word and name not in SLOW]
        if not found:
            fail(f"no method is called '{word}'", f"one of {', '.join(names())}")
        methods += [name for name in found if name not in methods]
    absent = [name for name in methods if missing_package(name)]
    if absent:
        fail(f"{', '.join(absent)}: the packages are not installed",
             "run benchmarks/tuners/setup; optuna:gp also needs torch")
    return methods


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spaces", nargs="+", metavar="SPACE")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=400)
    parser.add_argument("--methods", help="names or families, with commas; all but the slow ones by default")
    parser.add_argument("--strop", default=str(ROOT / "strop"), help="the command under test")
    parser.add_argument("--jobs", type=int, default=2, help="searches at a time")
    parser.add_argument("--limit", type=int, default=900, help="seconds after which a peer's search ends")
    parser.add_argument("--keep", metavar="FILE", help="results go here; those that it holds are not made again")
    parser.add_argument("--again", default="", help="methods to search again although --keep holds them")
    parser.add_argument("--json", metavar="FILE", help="all figures")
    parser.add_argument("--markdown", metavar="FILE", help="the tables")
    options = parser.parse_args()
    options.methods = chosen_methods(options.methods)
    options.again = set(options.again.split(","))
    return options


def enter_environment() -> None:
    """Goes on under the peers' own Python where that was made. Their libraries get one thread each."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    python = ROOT / "build" / "tuners" / "bin" / "python"
    if python.exists() and pathlib.Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), __file__, *sys.argv[1:]])


def loaded(paths: list[str]) -> list[Space]:
    """The spaces, under names that tell them apart."""
    try:
        spaces = [load(path) for path in paths]
    except (OSError, ValueError, KeyError) as error:
        fail(f"no fully measured space: {error}", "name cache files of Kernel Tuner")
    for space in [space for space in spaces if sum(other.label == space.label for other in spaces) > 1]:
        space.label = f"{pathlib.Path(space.path).resolve().parent.name}/{space.label}"
    return spaces


def main() -> int:
    options = arguments()
    spaces = loaded(options.spaces)
    lines, complete = search_all(options, spaces)
    failed = [line for line in lines if "error" in line]
    figures, text = report(options.methods, spaces, [line for line in lines if "error" not in line],
                           options.evaluations)
    print(text)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text + "\n", encoding="utf-8")
    if options.json:
        document = {"repeats": options.repeats, "evaluations": options.evaluations, "complete": complete,
                    "failed": failed, **figures}
        pathlib.Path(options.json).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 130 if not complete else 1 if failed else 0


if __name__ == "__main__":
    enter_environment()
    sys.exit(main())
