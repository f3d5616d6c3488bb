"""Files in the formats of other tools, ten of each (tests/formats/): each has to run as it is.

A file is imported as a user would do it, and something right is judged against it: the verdict has to be ok. Of a script
of Kernel Tuner the configurations are counted again by trying all combinations.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import time

from tests.cli.strop_cli import HOME, environment
from tests.long.scene import PYTHON, STROP, Failure, Scene, require, run

CORPUS = pathlib.Path(HOME, "tests", "formats")
LONGEST = 600    # seconds, of any command
JUDGED = ["--per-shape", "20ms", "--json"]
# Modules of an imported problem, each before those that need it.
MODULES = ["on_processor", "interpreted", "given_reference", "operator_source", "original"]
AS_MODULES = '''"""The reference of an imported problem, as a kernel of one file."""

import sys
import types

import torch


def _module(name, text):
    sys.modules[name] = types.ModuleType(name)
    exec(text, sys.modules[name].__dict__)


'''


def strop(folder, *words):
    return run(STROP, *words, cwd=folder, env=environment(), seconds=LONGEST)


def said(done):
    lines = [line for line in done.stderr.splitlines() if line.startswith(("strop: ", "hint: "))]
    return " / ".join(lines) or (done.stderr + done.stdout).strip()[-300:]


def imported(folder, given, name="made", *more):
    """The folder of the problem, and what the command said of it."""
    done = strop(folder, "import", given, name, *more)
    require(done.returncode == 0, f"import: exit {done.returncode}: {said(done)}")
    return folder / name, done.stdout


def judge(folder, kernel, *more):
    done = strop(folder, "judge", kernel, *JUDGED, *more)
    require(done.returncode in (0, 1), f"judge: exit {done.returncode}: {said(done)}")
    judged = json.loads(done.stdout)
    require(judged["verdict"] == "ok", f"{pathlib.Path(kernel).name}: {judged['verdict']}: {judged['evidence']}")


def kernel_of(problem, **replaced):
    """The problem's reference with its modules in one file; `replaced` gives other texts for some of them."""
    text = AS_MODULES
    for name in MODULES:
        path = problem / f"{name}.py"
        if path.exists():
            text += f"_module({name!r}, {replaced.get(name) or path.read_text(encoding='utf-8')!r})\n"
    path = problem.parent / "kernel.py"
    path.write_text(text + (problem / "reference.py").read_text(encoding="utf-8"), encoding="utf-8")
    return path


# ---- the formats -------------------------------------------------------------------------------------------


def tritonbench(folder, file):
    """With the plain reference where the file has kernels; else, and without one, as it is."""
    plain = file.with_name(f"plain_{file.name}")
    if plain.exists():
        function = re.search(r"^def (\w+)", plain.read_text(encoding="utf-8"), re.M).group(1)
        problem, _ = imported(folder, file, "made", "--reference", f"{plain}:{function}")
        judge(folder, kernel_of(problem), "--problem", problem)
    problem, _ = imported(folder, file, "as_it_is")
    kernel = folder / "kernel.py" if plain.exists() else kernel_of(problem)
    judge(folder, kernel, "--problem", problem)


def flashinfer(folder, file):
    """A solution where the data set has one, else the reference."""
    definition = json.loads(file.read_text(encoding="utf-8"))
    problem, told = imported(folder, file)
    wanted = (len([one for one in definition["inputs"].values() if one["shape"] is not None]), len(definition["outputs"]),
              shapes_of(file, definition))
    found = tuple(map(int, re.search(r"(\d+) inputs, (\d+) outputs, (\d+) shapes", told).groups()))
    require(found == wanted, f"import: {found} inputs, outputs and shapes in place of {wanted}")
    require(json.loads((problem / "definition.json").read_text(encoding="utf-8")) == definition, "import: another definition")
    solutions = sorted((CORPUS / "flashinfer" / "solutions").glob(f"*/*/{definition['name']}/*.json"))
    for solution in solutions:
        sources = json.loads(solution.read_text(encoding="utf-8"))["sources"]
        judge(folder, kernel_of(problem, original=sources[0]["content"]), "--problem", file)
    if not solutions:
        judge(folder, kernel_of(problem), "--problem", file)


def shapes_of(file, definition):
    """Eight at most; three where there are no workloads."""
    path = CORPUS / "flashinfer" / "workloads" / file.parent.name / f"{file.stem}.jsonl"
    if not path.exists():
        return 3
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return min(8, len({tuple(line["workload"]["axes"].values()) for line in lines if line["definition"] == definition["name"]}))


def kernelbench(folder, file):
    imported(folder, file)
    judge(folder, file.with_name(f"{file.stem}_new.py"), "--problem", file)


def gpumode(folder, task):
    imported(folder, task)
    judge(folder, task / "submission.py")


def kernel_tuner(folder, file):
    done = run(PYTHON, "-m", "tests.long.space_count", file, cwd=HOME, seconds=LONGEST)
    require(done.returncode == 0, f"counting: {done.stderr.strip()[-300:]}")
    wanted = json.loads(done.stdout.splitlines()[-1])
    for space in (file, folder / "space.json"):
        more = ("--export", "space.json", "--format", "t1") if space == file else ()
        done = strop(folder, "tune", "--space", space, "--json", *more)
        require(done.returncode == 0, f"tune --space: exit {done.returncode}: {said(done)}")
        document = json.loads(done.stdout)
        names = [one["name"] for one in document["space"]["tunables"]]
        require(names == wanted["tunables"], f"{space.name}: tunables {names} in place of {wanted['tunables']}")
        require(document["configurations"] == wanted["configurations"], f"{space.name}: {document['configurations']} "
                f"configurations in place of {wanted['configurations']} of {wanted['combinations']}")


FORMATS = {
    "tritonbench": (tritonbench, "*.py"),
    "flashinfer": (flashinfer, "definitions/*/*.json"),
    "kernelbench": (kernelbench, "*.py"),
    "gpumode": (gpumode, "*_py"),
    "kernel_tuner": (kernel_tuner, "*.py"),
}


def files_of(name):
    found = (CORPUS / name).glob(FORMATS[name][1])
    return sorted(path for path in found if not path.stem.endswith("_new") and not path.stem.startswith("plain_"))


def tried(scene, name, file):
    """What is wrong with it; nothing where it is right."""
    folder = scene.folder / name / file.stem
    folder.mkdir(parents=True)
    try:
        FORMATS[name][0](folder, file)
    except Failure as failure:
        return str(failure)
    except Exception as error:  # pylint: disable=broad-exception-caught  # one file does not end the others
        return f"{type(error).__name__}: {error}"
    return ""


def main():
    parser = argparse.ArgumentParser(prog="scripts/formats", description=__doc__)
    parser.add_argument("format", nargs="?", choices=list(FORMATS), help="this format only")
    parser.add_argument("--only", action="append", help="the file of this name only; may be repeated")
    arguments = parser.parse_args()
    names = [arguments.format] if arguments.format else list(FORMATS)
    chosen = [(name, file) for name in names for file in files_of(name) if not arguments.only or file.stem in arguments.only]
    if not chosen:
        print("scripts/formats: no file of that name", file=sys.stderr)
        return 2
    right = 0
    try:
        with Scene() as scene:
            for name, file in chosen:
                begin = time.monotonic()
                wrong = tried(scene, name, file)
                right += not wrong
                print(f"{name}/{file.stem}: {wrong or 'ok'} ({time.monotonic() - begin:.1f} s)", flush=True)
    except KeyboardInterrupt:
        print("scripts/formats: interrupted", file=sys.stderr)
        return 130
    print(f"formats: {right} of {len(chosen)} right")
    return 0 if right == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
