"""The Python of README.md and docs/python.md, as it is written there: in a script and in a notebook.

STROP_EXAMPLES_BUDGET=as-written leaves their budget as it is.
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from tests.cli.strop_cli import BINARY, HOME

PAGES = ["README.md", "docs/python.md"]
SHORT = '"8s"'


def example(page):
    """The page's first example that begins with imports."""
    text = pathlib.Path(HOME, page).read_text(encoding="utf-8")
    code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "import strop" in block)
    if os.environ.get("STROP_EXAMPLES_BUDGET") == "as-written":
        return code
    shorter, count = re.subn(r'(?<=budget=)"\d+s"', SHORT, code)
    assert count == 1, f"{page}: no budget"
    return shorter


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strop-examples-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "STROP_BINARY": os.path.abspath(BINARY), "STROP_HOME": HOME,
                            "PYTHONPATH": os.path.join(HOME, "python"), "STROP_CACHE": os.path.join(folder.name, "cache")}

    def test_in_a_script(self):
        self.assertEqual(example(PAGES[0]).split(), example(PAGES[1]).split())
        script = pathlib.Path(self.folder, "example.py")
        script.write_text(example(PAGES[0]), encoding="utf-8")
        ran = subprocess.run([sys.executable, str(script)], cwd=self.folder, env=self.environment, capture_output=True,
                             text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, r"scaled_softmax: .* True\n$")

    @unittest.skipUnless(importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel"),
                         "nbclient or ipykernel is not installed")
    def test_in_a_notebook(self):
        import nbclient
        import nbformat

        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(example(PAGES[0]))])
        before = dict(os.environ)
        os.environ.update(self.environment)
        try:
            nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": self.folder}}).execute()
        finally:
            os.environ.clear()
            os.environ.update(before)
        said = "".join(output.get("text", "") for output in notebook.cells[0].outputs)
        self.assertRegex(said, r"scaled_softmax: .* True\n$")


if __name__ == "__main__":
    unittest.main()
