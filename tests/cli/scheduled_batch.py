"""What tests of batches on a scheduler share: commands of it that are fakes, and what a batch left."""

import os
import subprocess

from tests.cli.strop_cli import BINARY, InFolder, environment, recorded, strop

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
