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
import struct
import subprocess
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

    def fails(self, words, code, phrase, hint):
        done = strop(*words, cwd=self.folder)
        self.assertEqual(done.stderr, f"strop: {phrase}\nhint: {hint}\n")
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, code)
