"""The process that judges, asked directly: one JSON message a line, one answer each, and before it perhaps lines that
only say that it works."""

import json
import os
import pathlib
import subprocess
import sys

HOME = pathlib.Path(__file__).resolve().parent.parent
STROP = os.environ.get("STROP_BINARY", str(HOME / "build/release/strop"))


class Worker:
    def __init__(self, *before):
        """`before`: a command to start it with, as `taskset -c 0`."""
        self.process = subprocess.Popen([*before, STROP, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "STROP_HOME": str(HOME)})

    def ask(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        answer = {"working": True}
        while answer == {"working": True}:
            answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            sys.exit(f"the worker failed: {answer['error']['phrase']}")
        return answer

    def open(self, problem, points):
        """A problem's folder on this machine, as it is now."""
        return self.ask(op="open", folder=str(problem), files={}, points=points, seed=1)

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
