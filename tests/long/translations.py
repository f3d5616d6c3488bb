"""Every winner of every problem in every other language.

A problem is optimized for --budget, in C++ and in OpenCL where there is a device (or its results are taken from
--results), and each winner is translated to each language and checked where that runs here. Each has to be verified, or
refused with a reason, or not judged with one. Prints a row for each problem and language, and what was refused.
"""

import argparse
import collections
import json
import pathlib
import sys

from tests.cli.strop_cli import HOME, environment
from tests.long.scene import STROP, Failure, Scene, require, run

LANGUAGES = ["cpp", "opencl", "cuda", "triton", "tilelang"]
LONGEST = 1800    # seconds, of any command


def results_of(scene, problem, options):
    """Folders of results, by the language of their kernels."""
    found = {}
    for language, more in (("cpp", []), ("opencl", ["--device", "opencl"])):
        out = pathlib.Path(options.results or scene.folder) / language / problem.name
        if not (out / "report.json").exists():
            done = run(STROP, "optimize", problem, "--budget", options.budget, "--out", out, "--store",
                       scene.folder / "runs.db", "--quiet", *more, env=environment(), cwd=scene.folder, seconds=LONGEST)
            if language == "opencl" and done.returncode == 3:    # no device
                continue
            require(done.returncode in (0, 1) and (out / "report.json").exists(),
                    f"optimize: exit {done.returncode}: {done.stderr.strip()[-300:]}")
        found[language] = out
    return found


def translated(result, problem, to):
    """What became of each winner: "verified", "refused: why", "not judged: why"."""
    done = run(STROP, "translate", result, "--problem", problem, "--to", to, "--per-shape", "20ms", "--json",
               env=environment(), seconds=LONGEST)
    require(done.returncode in (0, 1), f"translate: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    ends = []
    for kernel in json.loads(done.stdout)["kernels"]:
        if kernel["refused"]:
            ends.append(f"refused: {kernel['kernel']}: {kernel['refused']}")
        elif kernel["not_judged"]:
            ends.append(f"not judged: {kernel['not_judged']}")
        else:
            require(kernel["verdict"] == "ok", f"{kernel['kernel']}: {kernel['verdict']}: {kernel['evidence']}")
            ends.append("verified")
    require(ends, "no winner was translated")
    return ends


def main():
    parser = argparse.ArgumentParser(prog="scripts/translations", description=__doc__)
    parser.add_argument("problems", nargs="*", help="folders; none: all of problems/")
    parser.add_argument("--budget", default="30s", help="of each optimization")
    parser.add_argument("--results", metavar="DIR", help="keep results there, and take those that are there")
    parser.add_argument("--to", action="append", choices=LANGUAGES, help="this language only; may be repeated")
    options = parser.parse_args()
    problems = [pathlib.Path(given).absolute() for given in options.problems]
    problems = problems or sorted(path.parent for path in pathlib.Path(HOME, "problems").glob("*/problem.yaml"))
    wrong, counts, reasons = 0, collections.Counter(), set()
    with Scene() as scene:
        for problem in problems:
            for language, result in results_of(scene, problem, options).items():
                for to in options.to or LANGUAGES:
                    if to == language:
                        continue
                    try:
                        ends = translated(result, problem, to)
                    except Failure as failure:
                        wrong += 1
                        print(f"{problem.name} {language} -> {to}: WRONG: {failure}", flush=True)
                        continue
                    kinds = collections.Counter(one.split(":")[0] for one in ends)
                    counts.update(kinds)
                    reasons.update(one for one in ends if one != "verified")
                    print(f"{problem.name} {language} -> {to}: " + ", ".join(f"{n} {kind}" for kind, n in kinds.items()),
                          flush=True)
    print("\n" + "\n".join(sorted(reasons)))
    print(f"translations: {', '.join(f'{n} {kind}' for kind, n in counts.items())}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
