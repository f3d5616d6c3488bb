#!/usr/bin/env python3
"""What deciding costs: milliseconds of the searcher for each evaluation, and what building a large space takes.

    python3 benchmarks/tuners/deciding.py [--strop COMMAND...] [--repeats 9] [SPACE...]

Replays are made on two spaces of 20,000 configurations that are made up here, of which one has failures, and on SPACEs
(cache files of Kernel Tuner).
Several commands take turns, so that one may compare builds where other programs disturb; the table shows medians.
The space that is only built is a stencil's with temporal tiling: 22.2 million combinations.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
UP_TO = (150, 400)    # evaluations
STENCIL_BYTES = "(BX*TX + 2*T) * (BY*TY + 2*T) * (2 + S) * 4"


def made_up(failing: bool) -> dict:
    """10 * 8 * 5 * 5 * 5 * 2 configurations: a bowl over the first, steps over the rest, some of it noise.

    Failing: those with a large tile, as when a machine's memory is too small for it, and one of fifty at random.
    """
    values = {"A": [2**i for i in range(10)], "B": [1, 2, 3, 4, 6, 8, 12, 16], "C": [0, 1, 2, 3, 4],
              "D": [8, 16, 32, 64, 128], "E": [1, 2, 4, 8, 16], "F": [0, 1]}
    generator, entries = random.Random(1), {}
    weights = {name: [generator.random() for _ in listed] for name, listed in values.items()}
    for at in itertools.product(*(range(len(listed)) for listed in values.values())):
        steps = sum(weights[name][index] for name, index in zip(values, at))
        bowl = abs(at[0] + at[3] - 8) / 3 + abs(at[1] - at[4] - 2) / 4
        time_of = math.exp(0.3 * steps + 0.4 * bowl + 0.1 * generator.random())
        configuration = {name: listed[index] for (name, listed), index in zip(values.items(), at)}
        if failing and (configuration["A"] * configuration["B"] > 2048 or generator.random() < 0.02):
            time_of = "RuntimeFailedConfig"
        entries[",".join(map(str, configuration.values()))] = {**configuration, "time": time_of}
    return {"device_name": "none", "kernel_name": "made_up", "problem_size": [1], "tune_params_keys": list(values),
            "tune_params": values, "objective": "time", "cache": entries}


def stencil() -> dict:
    blocks = [1, 2, 4, 8, 16, *range(32, 1025, 32)]
    ten = list(range(1, 11))
    values = {"BX": blocks, "BY": [1, 2, 4, 8, 16, 32], "TX": ten, "TY": ten, "T": ten, "U": ten, "S": [0, 1],
              "P": [0, 1, 2, 3, 4]}
    conditions = ["32 <= BX * BY <= 1024", "T % U == 0", f"{STENCIL_BYTES} <= 49152",
                  f"P == 0 or {STENCIL_BYTES} * P <= 102400"]
    return {"General": {"BenchmarkName": "stencil"}, "KernelSpecification": {"KernelName": "stencil"},
            "ConfigurationSpace": {
                "TuningParameters": [{"Name": name, "Type": "int", "Values": str(listed), "Default": listed[0]}
                                     for name, listed in values.items()],
                "Conditions": [{"Expression": condition, "Parameters": []} for condition in conditions]}}


def deciding(command: str, space: str, evaluations: int, seed: int) -> float:
    """Milliseconds for each evaluation."""
    done = subprocess.run([command, "tune", "--replay", space, "--evaluations", str(evaluations), "--seed", str(seed),
                           "--json"], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    return 1000 * document["deciding_seconds"] / document["evaluations"]


def building(command: str, description: str) -> tuple[float, float, int]:
    """Seconds and megabytes of the whole process, configurations."""
    began = time.monotonic()
    child = subprocess.Popen([command, "tune", "--space", description, "--json"], stdout=subprocess.PIPE, text=True)
    configurations = json.loads(child.stdout.read())["configurations"]
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - began, usage.ru_maxrss / 1024, configurations


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spaces", nargs="*", metavar="SPACE")
    parser.add_argument("--strop", nargs="+", default=[str(ROOT / "strop")], help="the commands under test")
    parser.add_argument("--repeats", type=int, default=9)
    return parser.parse_args()


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        spaces = [os.path.join(folder, name) for name in ("made_up.json", "failing.json")] + options.spaces
        for space, failing in zip(spaces, (False, True)):
            pathlib.Path(space).write_text(json.dumps(made_up(failing)), encoding="utf-8")
        for space, evaluations in itertools.product(spaces, UP_TO):
            taken = {command: [] for command in options.strop}
            for repeat in range(options.repeats):
                for command in options.strop:
                    taken[command].append(deciding(command, space, evaluations, repeat))
            for command, values in taken.items():
                print(f"{pathlib.Path(space).name}, up to {evaluations}: {statistics.median(values):.3f} ms an "
                      f"evaluation ({min(values):.3f} to {max(values):.3f})  {command}", flush=True)
        description = os.path.join(folder, "stencil.json")
        pathlib.Path(description).write_text(json.dumps(stencil()), encoding="utf-8")
        for command in options.strop:
            built = [building(command, description) for _ in range(options.repeats)]
            seconds, megabytes, configurations = map(statistics.median, zip(*built))
            print(f"{configurations} configurations: built in {seconds:.2f} s, {megabytes:.0f} MB  {command}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
