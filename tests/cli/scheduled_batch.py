"""What tests of batches on a scheduler share: commands of it that are fakes, and what a batch left."""

import os
import signal
import subprocess

from tests.cli.strop_cli import BINARY, InFolder, environment, recorded, strop, wait_until

ONE_SHAPE = {"shapes": "{small: {M: 4, N: 32}}"}    # what is looked at here is not how kernels are measured


class ScheduledBatch(InFolder):
    """The fakes keep what they were asked in `cluster`, which the variable `keeps` names to them."""

    def fakes(self, keeps, **programs):
        """Each program is a line of a shell, found in PATH."""
        self.cluster, self.bin = self.folder / "cluster", self.folder / "bin"
        self.cluster.mkdir()
        self.bin.mkdir()
        for name, line in programs.items():
            self.program(name, line)
        self.variables = {keeps: str(self.cluster), "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def program(self, name, line):
        (self.bin / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def calls(self, command):
        file = self.cluster / "calls"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [line for line in lines if line.startswith(command)]

    def strop(self, *words):
        return strop("optimize", *words, cwd=self.folder, **self.variables)

    def start(self, *words):
        process = subprocess.Popen([os.path.abspath(BINARY), "optimize", *words], cwd=self.folder, text=True,
                                   env=environment(**self.variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def evaluated(self, name):
        return recorded(self.folder / f"strop-out/{name}.db")

    def run_names(self, name):
        return recorded(self.folder / f"strop-out/{name}.db", "SELECT run FROM runs")

    def interrupted(self, leader, name):
        """What it shows and says; the keys of what was evaluated until then."""
        leader.send_signal(signal.SIGINT)
        shown, said = leader.communicate(timeout=60)
        self.assertEqual(leader.returncode, 130, said)
        self.assertRegex(shown, rf"(?m)^{name} +interrupted")
        self.assertTrue(said.endswith("the same command goes on from here\n"), said)
        return said, self.evaluated(name)

    def goes_on(self, words, name, kept, asks, meanwhile):
        """The same command does, without news of its job for a while, and `meanwhile` something happens to its task.
        What it says; the task's log."""
        leader = self.start(*words)
        self.assertTrue(wait_until(lambda: len(self.evaluated(name)) > len(kept) or leader.poll() is not None))
        (self.cluster / "down").touch()                 # no news is no bad news
        asked = len(self.calls(asks))
        self.assertTrue(wait_until(lambda: len(self.calls(asks)) > asked + 1))
        (self.cluster / "down").unlink()
        meanwhile()
        shown, said = leader.communicate(timeout=60)
        self.assertIn(leader.returncode, (0, 1), said)
        self.assertRegex(shown, rf"(?m)^{name} +(improved|no_improvement) +\d")
        self.assertEqual(len(self.run_names(name)), 1)
        keys = self.evaluated(name)
        self.assertEqual(keys[:len(kept)], kept)
        self.assertEqual(len(keys), len(set(keys)))
        return said, (self.folder / f"strop-out/{name}.log").read_text(encoding="utf-8")
