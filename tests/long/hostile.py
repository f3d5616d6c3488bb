"""scripts/fleet hostile: workers that lie, over a socket, alone and beside a good one, harm neither who asks nor the store."""

import json
import math
import pathlib
import sqlite3
import subprocess
import time

from tests.cli.strop_cli import HOME, environment, write_problem
from tests.long import hostile_worker
from tests.long.scene import PYTHON, STROP, Failure, end, require, show, tell

RUN = ["--budget", "4s", "--evaluations", "8", "--json"]
LONGEST, MOST_MEMORY_MB = 150, 1000
LIAR = pathlib.Path(hostile_worker.__file__)
RELAY = LIAR.with_name("relay.py")


def begin(folder, kind, seed, alone):
    write_problem(folder, "shifted")
    worker = f"{STROP} worker"
    liar = f"{PYTHON} {RELAY} {PYTHON} {LIAR} {kind} {seed} {HOME}/tests/fuzz/corpus/worker {worker}"
    file = folder / "workers.yaml"
    file.write_text(f'liar: {{start: "{liar}", silence: 10s, batch: 20s}}\ngood: {{start: "{worker}"}}\n', "utf-8")
    words = [STROP, "optimize", "shifted", *RUN, "--seed", str(seed), "--store", "runs.db", "--worker", "liar"]
    words += [] if alone else ["--worker", "good"]
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        return subprocess.Popen(words, cwd=folder, env=environment(STROP_WORKERS=str(file)), stdout=out, stderr=err,
                                stdin=subprocess.DEVNULL, start_new_session=True)


def memory_mb(pid):
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) // 1024
    except OSError:
        pass
    return 0


def numbers(value):
    if isinstance(value, dict):
        for key, child in value.items():
            for name, number in numbers(child):
                yield name or key, number
    elif isinstance(value, list):
        for child in value:
            yield from numbers(child)
    elif isinstance(value, float | int) and not isinstance(value, bool):
        yield "", value


def check_store(file):
    if not file.exists():
        return
    with sqlite3.connect(file) as connection:
        require(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "the store is damaged")
        for run_, text in connection.execute("SELECT run, evaluation FROM evaluations"):
            for name, number in numbers(json.loads(text)):
                bad = name.endswith(("_ns", "_seconds")) and not 0 <= number < 1e15
                require(math.isfinite(number) and not bad, f"the store has {name} = {number}")
        for (text,) in connection.execute("SELECT record FROM runs"):
            json.loads(text)
    listed = subprocess.run([STROP, "runs", "--store", str(file), "--json"], capture_output=True, text=True,
                            env=environment(), check=False)
    require(listed.returncode == 0, f"strop runs: {listed.stderr}")
    for one in json.loads(listed.stdout):
        for command in ("show", "report"):
            shown = subprocess.run([STROP, command, one["run"], "--store", str(file)], capture_output=True, text=True,
                                   env=environment(), check=False)
            require(shown.returncode in (0, 1, 2), f"strop {command}: exit {shown.returncode}: {shown.stderr}")


def check_end(folder, code, alone):
    said = (folder / "err").read_bytes()
    odd = [byte for byte in said if byte < 32 and byte not in b"\n" or byte == 127]
    require(not odd, "what was said has control characters")
    require(len(said) < 20000, f"{len(said)} bytes were said")
    require(code in (0, 1, 2, 3), f"exit {code}: {said.decode('utf-8', 'replace').strip()[-200:]}")
    if code in (0, 1):
        record = json.loads((folder / "out").read_text("utf-8"))
        require(record["verified"], f"not verified: {record['verification']}")
        require(record["headline"] is None or record["headline"]["speedup"] > 0, "the headline is no ratio")
    else:
        errors = [line for line in said.decode("utf-8", "replace").splitlines() if line.startswith("strop: ")]
        require(len(errors) == 1, f"{len(errors)} lines of error")
        require(alone or code != 3, f"the run ended although a good worker was there: {errors[0][:150]}")
    check_store(folder / "runs.db")


def trial(folder, kind, seed, alone):
    folder.mkdir()
    row = {"kind": kind.rstrip("_"), "seed": seed, "beside": "nobody" if alone else "a good one", "exit": None, "wrong": ""}
    begun, process, most = time.monotonic(), begin(folder, kind, seed, alone), 0
    try:
        while process.poll() is None:
            most = max(most, memory_mb(process.pid))
            require(time.monotonic() - begun < LONGEST, f"does not end within {LONGEST} s")
            require(most < MOST_MEMORY_MB, f"who asks takes {most} MB")
            time.sleep(0.02)
        row["exit"] = process.returncode
        check_end(folder, process.returncode, alone)
    except Failure as failure:
        row["wrong"] = str(failure)
    finally:
        end(process)
    row["memory_mb"], row["seconds"] = most, round(time.monotonic() - begun, 1)
    return row


def hostile(scene, arguments):
    rows = []
    for kind in hostile_worker.KINDS:
        for seed in range(1, arguments.seeds + 1):
            for alone in (False, True):
                if arguments.only and kind.rstrip("_") not in arguments.only:
                    continue
                rows.append(trial(scene.folder / f"{kind}-{seed}-{alone}", kind, seed, alone))
                tell(f"{rows[-1]['kind']} beside {rows[-1]['beside']}: {rows[-1]['wrong'] or rows[-1]['exit']}")
    return show("hostile", rows, arguments.json)
