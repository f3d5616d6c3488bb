"""Files with PyTorch modules, from outside."""

import importlib.util
import os
import pathlib
import unittest

from tests.cli.strop_cli import HOME, InFolder, strop

HAVE_TORCH = importlib.util.find_spec("torch") is not None
MODULE = os.path.join(HOME, "tests", "python", "modules", "conv_norm.py")

@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class Import(InFolder):
    def test_a_folder_that_can_be_edited(self):
        done = strop("import", MODULE, "block", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("block/problem.yaml: 6 inputs, 1 outputs, 3 shapes", done.stdout)
        self.assertIn("! training mode: bn normalizes with the statistics of the batch", done.stderr)
        self.assertEqual(pathlib.Path(self.folder, "block", "original.py").read_text(), pathlib.Path(MODULE).read_text())
        again = strop("import", MODULE, "block", cwd=self.folder)
        self.assertEqual(again.returncode, 2)
        self.assertIn("there is a problem already", again.stderr)

    def test_what_is_no_module(self):
        file = pathlib.Path(self.folder, "plain.py")
        file.write_text("x = 1\n")
        for words in (("optimize", str(file)), ("import", str(file), "folder")):
            done = strop(*words, cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("plain.py: no class 'Model' that is an nn.Module", done.stderr)
            self.assertIn("hint: the file needs a class Model(nn.Module)", done.stderr)
        done = strop("optimize", "missing.py", cwd=self.folder)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
