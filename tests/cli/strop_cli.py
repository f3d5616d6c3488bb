"""What the tests of the program from outside share: running it through pipes and in a pseudo-terminal, small problems.

STROP_BINARY names the program, STROP_HOME the folder of Strop's own files.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shlex
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BINARY = os.environ.get("STROP_BINARY", "build/release/strop")
HOME = os.environ.get("STROP_HOME", str(pathlib.Path(__file__).resolve().parents[2]))


def environment(**changes):
    result = {**os.environ, "STROP_HOME": HOME, "LC_ALL": "C.UTF-8"}
    for name in ("STROP_STORE", "NO_COLOR", "STROP_LOG", "COLUMNS"):
        result.pop(name, None)
    result.update(changes)
    return result


def strop(*words, cwd=None, **changes):
    """Runs through pipes."""
    return subprocess.run([os.path.abspath(BINARY), *words], capture_output=True, text=True, check=False,
                          timeout=120, cwd=cwd, env=environment(**changes))


def strop_in_terminal(*words, columns=80, cwd=None, **changes):
    """Runs in a pseudo-terminal; (all that it showed, exit code)."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([os.path.abspath(BINARY), *words], stdin=terminal, stdout=terminal, stderr=terminal,
                               cwd=cwd, env=environment(TERM="xterm", **changes))
    os.close(terminal)
    shown, limit = b"", time.monotonic() + 120
    while time.monotonic() < limit:
        readable, _, _ = select.select([controller], [], [], 1)
        if not readable:
            continue
        try:
            part = os.read(controller, 65536)
        except OSError:      # Linux says EIO when the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(controller)
    process.kill()
    return shown.decode().replace("\r\n", "\n"), process.wait()


class InFolder(unittest.TestCase):
    """Every test has an empty folder for its store."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strop-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def problem(self, name, reference=None, **changes):
        """Writes a small problem under the name into ./problems; its folder."""
        return write_problem(self.folder, name, reference, **changes)

    def fake_worker(self, *words):
        """The command of a worker that judges nothing (tests/fakes/fake_worker.py) and greets as a real one does."""
        greeting = self.folder / "greeting.json"
        if not greeting.exists():
            said = subprocess.run([os.path.abspath(BINARY), "worker"], input='{"op": "hello"}\n', text=True, check=True,
                                  capture_output=True, env=environment()).stdout
            greeting.write_text(said, encoding="utf-8")
        script = os.path.join(HOME, "tests/fakes/fake_worker.py")
        return shlex.join([sys.executable, script, "--greeting", str(greeting), *words])

    def fails(self, words, code, phrase, hint):
        done = strop(*words, cwd=self.folder)
        self.assertEqual(done.stderr, f"strop: {phrase}\nhint: {hint}\n")
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, code)

    def says_that_a_port_is_taken(self, *words):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            self.fails([*words, "--port", str(port)], 3, f"127.0.0.1:{port}: another program listens there",
                       "choose another --port (0: any that is free) or --host")


def recorded(store, query="SELECT key FROM evaluations ORDER BY run, sequence"):
    """First column of a query on a store that may be in use, or not be there yet."""
    if not pathlib.Path(store).exists():
        return []
    for mode in ("ro", "rw"):    # one that was killed while it wrote leaves what only a writer can bring in order
        connection = sqlite3.connect(f"file:{store}?mode={mode}", uri=True)
        try:
            return [row[0] for row in connection.execute(query)]
        except sqlite3.OperationalError:    # or it is just being made
            pass
        finally:
            connection.close()
    return []


def descendants(pid):
    """(pid, start time) of all processes below."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := process_stat(int(entry.name))):
            parents[int(entry.name)] = (int(stat[1]), stat[19])
    below, found = {pid}, []
    while more := [child for child, (parent, _) in parents.items() if parent in below and child not in below]:
        below.update(more)
        found += [(child, parents[child][1]) for child in more]
    return found


def process_stat(pid):
    """The fields of /proc/PID/stat from the state on; nothing when it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return None


def lives(pid, started):
    stat = process_stat(pid)
    return bool(stat) and stat[19] == started and stat[0] not in "ZX"


def wait_until(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not condition() and time.monotonic() < limit:
        time.sleep(0.05)
    return condition()


class WithRuns(InFolder):
    """Runs in the background with the store runs.db, to be stopped while they work."""

    def setUp(self):
        super().setUp()
        self.store = self.folder / "runs.db"

    def start(self, *words):
        process = subprocess.Popen([os.path.abspath(BINARY), *words, "--store", "runs.db"], cwd=self.folder,
                                   env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def start_and_wait(self, *words):
        """Until it has evaluated something."""
        process = self.start(*words)
        self.assertTrue(wait_until(lambda: recorded(self.store) or process.poll() is not None))
        self.assertIsNone(process.poll())
        return process

    def runs(self):
        done = strop("runs", "--store", "runs.db", "--json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)


SMALL_PROBLEM = {
    "name": "NAME",
    "tags": "[mine]",
    "reference": "reference.py",
    "inputs": "{x: {dtype: float32, shape: [M, N]}, b: {dtype: float32, shape: [N]}}",
    "outputs": "{y: {dtype: float32, shape: [M, N]}}",
    "shapes": "{small: {M: 4, N: 32}, large: {M: 64, N: 100}}",
    "range": "{M: [1, 80], N: [1, 128]}",
}


def write_problem(folder, name, reference=None, **changes):
    """A problem over x[M, N] and b[N] in `folder`/problems/`name`; `reference` is the body of its function, `changes`
    replace lines of its problem.yaml (None: no such line)."""
    place = pathlib.Path(folder) / "problems" / name
    place.mkdir(parents=True, exist_ok=True)
    lines = {**SMALL_PROBLEM, "name": name, **changes}
    (place / "problem.yaml").write_text(
        "".join(f"{key}: {value}\n" for key, value in lines.items() if value is not None), encoding="utf-8")
    (place / "reference.py").write_text(
        f"import numpy as np\n\n\ndef {name}(x, b):\n    {reference or 'return np.maximum(x + b, 0)'}\n",
        encoding="utf-8")
    return place


def screen(shown):
    """The lines that a terminal shows at the end: cursor moves and erasing done, colours dropped."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[^\x1b]", shown):
        if part == "\n":
            row, column = row + 1, 0
        elif part == "\r":
            column = 0
        elif part.startswith("\x1b[") and part.endswith("A"):
            row = max(0, row - int(part[2:-1] or 1))
        elif part == "\x1b[J":
            lines = lines[:row] + [lines[row][:column]]
        elif not part.startswith("\x1b"):
            lines[row] = lines[row].ljust(column)[:column] + part + lines[row][column + 1:]
            column += 1
        lines += [""] * (row + 1 - len(lines))
    return lines


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def has_type(value, name):
    if name in TYPES:
        return isinstance(value, TYPES[name])
    numbers = (int,) if name == "integer" else (int, float)
    return isinstance(value, numbers) and not isinstance(value, bool)


def violations(value, schema, root=None, at="$"):
    """What of JSON Schema docs/report.schema.json uses and `value` violates, as texts."""
    root = root or schema
    if "$ref" in schema:
        return violations(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, at)
    known = {"$schema", "$defs", "title", "description", "type", "properties", "required", "additionalProperties",
             "items", "enum", "const", "minimum", "propertyNames"}
    found = [f"{at}: the schema's '{key}' is not understood" for key in schema.keys() - known]
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(has_type(value, name) for name in names):
        return found + [f"{at}: {value!r} is no {' or '.join(names)}"]
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is not allowed")
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{at}: {value} is below {schema['minimum']}")
    if isinstance(value, list) and "items" in schema:
        for index, entry in enumerate(value):
            found += violations(entry, schema["items"], root, f"{at}[{index}]")
    if isinstance(value, dict):
        found += [f"{at}: '{key}' is missing" for key in schema.get("required", []) if key not in value]
        others = schema.get("additionalProperties", True)
        for key, entry in value.items():
            found += violations(key, schema.get("propertyNames", {}), root, f"{at}: key")
            rule = schema.get("properties", {}).get(key, others)
            if rule is False:
                found.append(f"{at}: '{key}' is unknown")
            elif rule is not True:
                found += violations(entry, rule, root, f"{at}.{key}")
    return found
