"""Starting the program `strop`, and its errors as exceptions.

All work is done by the program: a process of its own survives whatever kernels do, and holds no lock of this
interpreter.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
from typing import Callable, NamedTuple, Sequence, Union

PACKAGE = pathlib.Path(__file__).resolve().parent
FINISHED_CODES = (0, 1)    # improved, finished without an improvement

# True: lines go to standard error; False: no progress; a function is called with each line.
Progress = Union[bool, Callable[[str], None]]


class StropError(Exception):
    """A command failed: one phrase, and a hint where there is one."""

    def __init__(self, phrase: str, hint: str = "") -> None:
        super().__init__(f"{phrase}\nhint: {hint}" if hint else phrase)
        self.phrase = phrase
        self.hint = hint


class BadInput(StropError, ValueError):
    """Exit code 2: the problem, a value or a file is wrong."""


class MissingRequirement(StropError, OSError):
    """Exit code 3: the environment lacks something; the hint says how to get it."""


ERRORS = {2: BadInput, 3: MissingRequirement}


class Finished(NamedTuple):
    code: int      # 0: improved or ok, 1: not
    output: str    # what the command printed


def program() -> list[str]:
    """$STROP_BINARY, the one that came with this package, the checkout's own, or the one on the path."""
    named = os.environ.get("STROP_BINARY")
    if named:
        if not pathlib.Path(named).is_file():
            raise MissingRequirement(f"{named}: there is no such program", "set STROP_BINARY to the program 'strop'")
        return [named]
    for place in (PACKAGE / "bin" / "strop", PACKAGE.parents[1] / "strop"):
        if place.is_file():
            return [str(place)]
    found = shutil.which("strop")
    if found:
        return [found]
    raise MissingRequirement("the program 'strop' was not found", "set STROP_BINARY, or put it on the path")


def environment() -> dict[str, str]:
    """The installed program's references run in this Python: what `python3` is on the path may be another, or a script."""
    installed = {"STROP_PYTHON": sys.executable} if (PACKAGE / "bin" / "strop").is_file() else {}
    return {**installed, **os.environ}


def run(words: Sequence[str], progress: Progress = False) -> Finished:
    """Runs one command to its end. Its errors are raised; an interrupt ends it, and it saves its state first."""
    said: list[str] = []
    failed: list[BaseException] = []
    with subprocess.Popen([*program(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", start_new_session=True, env=environment()) as process:
        reader = threading.Thread(target=_follow, args=(process.stderr, said, progress, failed),
                                  daemon=True)
        reader.start()
        try:
            assert process.stdout is not None
            output = process.stdout.read()
            code = process.wait()
        except BaseException:
            _stop(process)
            raise
        finally:
            reader.join()
    if code not in FINISHED_CODES:
        raise _error(code, said)
    if failed:
        raise failed[0]
    return Finished(code, output)


def _follow(stream, said: list[str], progress: Progress, failed: list[BaseException]) -> None:
    """A callback that raises is not called again: its exception is raised when the command has ended."""
    for line in stream:
        said.append(line.rstrip("\n"))
        if callable(progress):
            try:
                if not failed:
                    progress(said[-1])
            except BaseException as error:
                failed.append(error)
        elif progress:
            print(said[-1], file=sys.stderr, flush=True)


def _stop(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=10)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):    # interrupted twice: at once
        process.kill()
        process.wait()


def _error(code: int, said: Sequence[str]) -> BaseException:
    if code == 130:
        return KeyboardInterrupt()
    phrases = [line.removeprefix("strop: ") for line in said if line.startswith("strop: ")]
    hints = [line.removeprefix("hint: ") for line in said if line.startswith("hint: ")]
    phrase = phrases[-1] if phrases else f"strop ended with exit code {code}" + "".join(f": {line}" for line in said[-1:])
    return ERRORS.get(code, StropError)(phrase, hints[-1] if hints else "")


def main() -> None:
    """The command `strop` of an installed package."""
    words = program()
    os.execve(words[0], [*words, *sys.argv[1:]], environment())
