"""scripts/fleet leader: what one who leads many workers costs itself. They are simulated: each answers at once, with
times that follow from the configuration, so that nothing but the leader is measured."""

import json
import os
import pathlib
import subprocess
import sys
import time

from tests.cli.strop_cli import HOME, environment
from tests.long.scene import STROP, end, require, run, show

MOST_MS, MOST_MB = 5, 100    # of a worker's batch; at its peak
FAKE = pathlib.Path(HOME, "tests/fakes/fake_worker.py")
TICK = os.sysconf("SC_CLK_TCK")


def usage(process):
    """Its own seconds of processor time and its greatest memory so far, without its children; None when it is gone."""
    try:
        numbers = pathlib.Path(f"/proc/{process.pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text("utf-8")
    except OSError:
        return None
    peak = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return ((int(numbers[11]) + int(numbers[12])) / TICK, int(peak[0]) / 1024) if peak else None


def led(scene, workers, arguments):
    greeting = scene.folder / "greeting.json"
    greeting.write_text(run(STROP, "worker", env=environment(), input='{"op": "hello"}\n').stdout, "utf-8")
    file = scene.folder / "workers.yaml"
    file.write_text(f'simulated: {{start: "{sys.executable} {FAKE} --greeting {greeting}", count: {workers}}}\n', "utf-8")
    words = [STROP, "optimize", arguments.problem, "--evaluations", str(arguments.evaluations * workers // 100), "--budget",
             "10m", "--seed", "1", "--store", f"{workers}.db", "--out", f"out{workers}", "--json", "--worker", "simulated"]
    with (scene.folder / "out.json").open("wb") as out, (scene.folder / "err").open("wb") as err:
        process = subprocess.Popen(words, cwd=scene.folder, env=environment(STROP_WORKERS=str(file)), stdout=out, stderr=err,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
    last = (0.0, 0.0)
    try:
        while process.poll() is None:
            last = usage(process) or last
            time.sleep(0.02)
    finally:
        end(process)
    require(process.returncode in (0, 1), f"exit {process.returncode}: {(scene.folder / 'err').read_text('utf-8')[-300:]}")
    record = json.loads((scene.folder / "out.json").read_text("utf-8"))
    batches = sum(use["batches"] for use in record["workers"])
    row = {"workers": workers, "evaluations": record["evaluations"]["total"], "batches": batches, "seconds": last[0],
           "ms_a_batch": 1000 * last[0] / batches, "memory_mb": last[1], "wrong": ""}
    if row["ms_a_batch"] > MOST_MS or row["memory_mb"] > MOST_MB:
        row["wrong"] = f"the bars are {MOST_MS} ms and {MOST_MB} MB"
    return row


def leader(scene, arguments):
    rows = [led(scene, workers, arguments) for workers in (10, 30, 100)]
    return show("leader", rows, arguments.json)
