"""What the long tests share: a folder, processes and namespaces that are gone at the end, whatever the end is; a table."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from tests.cli.strop_cli import BINARY, HOME, environment, wait_until  # noqa: F401

STROP = os.path.abspath(BINARY)
PYTHON = sys.executable


class Failure(Exception):
    """Something is not as it must be; one line."""


class Scene(contextlib.ExitStack):
    """A temporary folder and what is started in it. Ctrl-C, SIGTERM and a lost terminal end it as an error does."""

    def __enter__(self):
        super().__enter__()
        signal.signal(signal.SIGINT, signal.default_int_handler)    # who starts it in the background has it ignored
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strop-fleet-"))
        self.callback(shutil.rmtree, self.folder, ignore_errors=True)
        return self

    def __exit__(self, *error):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)    # a second Ctrl-C does not stop the tidying up
        try:
            return super().__exit__(*error)
        finally:
            signal.signal(signal.SIGINT, before)

    def start(self, *words, **more):
        """A process in a session of its own, which is killed at the end."""
        process = subprocess.Popen([str(word) for word in words], start_new_session=True, **more)
        self.callback(end, process)
        return process


def end(process):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            with contextlib.suppress(OSError):
                stream.close()


def run(*words, seconds=300, **more):
    """Its end and what it said; nothing of it lives on when that takes too long."""
    more = {"text": True, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    said = more.pop("input", None)
    if said is not None:
        more["stdin"] = subprocess.PIPE
    process = subprocess.Popen([str(word) for word in words], start_new_session=True, **more)
    try:
        out, err = process.communicate(said, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failure(f"`{' '.join(map(str, words[:6]))} ...` does not end within {seconds} s") from None
    finally:
        end(process)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def checked(*words, **more):
    done = run(*words, **more)
    if done.returncode != 0:
        raise Failure(f"`{' '.join(map(str, words))}`: exit {done.returncode}: {(done.stderr or '').strip()[-300:]}")
    return done.stdout


def need(programs, hint):
    """Ends the command where one of the programs is missing, or the user is not root."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    os.environ["PATH"] = path
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        sys.exit(f"scripts/fleet: there is no {', '.join(missing)}\nhint: {hint}")
    if os.geteuid() != 0:
        sys.exit("scripts/fleet: this needs namespaces and servers of its own\nhint: run it as root")


def require(condition, words):
    if not condition:
        raise Failure(words)


def show(title, rows, as_json, **figures):
    """The table, or all as JSON. The exit code: 1 where a row says what was wrong."""
    wrong = [row for row in rows if row.get("wrong")]
    if as_json:
        print(json.dumps({"what": title, **figures, "rows": rows, "wrong": len(wrong)}, indent=2))
        return 1 if wrong else 0
    columns = [key for key in rows[0] if key != "wrong"] if rows else []
    texts = [[text_of(row.get(key)) for key in columns] for row in rows]
    widths = [max(len(line[i]) for line in [columns, *texts]) for i in range(len(columns))]
    for line, row in zip([[key.upper() for key in columns], *texts], [{}, *rows]):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip(), row.get("wrong", ""))
    for key, value in figures.items():
        print(f"{key.replace('_', ' ')}: {text_of(value)}")
    print(f"{title}: {len(rows) - len(wrong)} of {len(rows)} right")
    return 1 if wrong else 0


def text_of(value):
    return f"{value:.2f}" if isinstance(value, float) else "–" if value is None else str(value)


def tell(words):
    print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True)
