"""What is installed runs without the checkout: from another place, without STROP_HOME."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from tests.cli.strop_cli import BINARY, environment


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="strop-installed-")
        cls.addClassCleanup(folder.cleanup)
        first, cls.moved = pathlib.Path(folder.name) / "first", pathlib.Path(folder.name) / "moved"
        subprocess.run(["cmake", "--install", os.path.dirname(os.path.abspath(BINARY)), "--prefix", str(first)],
                       check=True, stdout=subprocess.DEVNULL)
        first.rename(cls.moved)

    def run_installed(self, *words):
        names = environment()
        del names["STROP_HOME"]
        return subprocess.run([self.moved / "bin" / "strop", *words], capture_output=True, text=True, check=False,
                              timeout=60, env=names, cwd=self.moved)

    def test_finds_its_files(self):
        self.assertIn("softmax", self.run_installed("list").stdout)

    def libraries(self, program):
        """By name, whether each is one that was brought."""
        found = subprocess.run(["ldd", self.moved / "bin" / program], capture_output=True, text=True, check=True).stdout
        return {line.split()[0].split(".")[0].split("/")[-1]: str(self.moved) in line for line in found.splitlines()}

    def test_brings_its_libraries(self):
        for program in ("strop", "strop-worker", "strop-candidate"):
            outside = {name for name, brought in self.libraries(program).items() if not brought}
            self.assertLessEqual(outside, {"linux-vdso", "libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64",
                                           "ld-linux-aarch64", "libresolv"})

    def test_who_starts_processes_all_the_time_has_few_libraries(self):
        self.assertFalse({"libcurl", "libpq", "libsqlite3", "libssl", "libcpp-httplib"} & set(self.libraries("strop-worker")))

    def test_does_not_set_up_a_checkout(self):
        done = self.run_installed("setup", "torch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("setup is for a checkout", done.stderr)


if __name__ == "__main__":
    unittest.main()
