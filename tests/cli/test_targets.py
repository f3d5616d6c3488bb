"""--for: one result for several instruction sets, which chooses at run time."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

from tests.cli.strop_cli import WithRuns, recorded, strop

FEW = ["--budget", "4s", "--evaluations", "2", "--seed", "1", "--store", "runs.db"]
FLAGS = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\nflags")[2].partition("\n")[0].split()
KNOWN = "cpu-avx2, cpu-avx512, native"

CALL = """
import numpy, sys
sys.path.insert(0, "out")
import shifted
x, b = numpy.ones((4, 16), "f4"), -2 * numpy.ones(16, "f4")
assert (shifted.shifted(x, -b) == 3).all() and (shifted.shifted(x, b) == 0).all()
print(shifted.target())
for name in sys.argv[1:]:
    shifted.use_target(name)
    assert (shifted.shifted(x, -b) == 3).all() and shifted.target() == name
try:
    shifted.use_target("cpu-mmx")
except ValueError as error:
    print(error)
"""


class BadInput(WithRuns):
    def test_each_is_one_line_before_anything_is_measured(self):
        self.problem("shifted")
        for words, code, phrase, hint in (
                (["--for", "cpu-sse2"], 2, "--for cpu-sse2: there is no such target", f"targets are {KNOWN}"),
                (["--for", "native,"], 2, "--for '': there is no such target", f"targets are {KNOWN}"),
                (["--for", "native,native"], 2, "--for: native is named twice", "name each target once"),
                (["--for", "native@"], 2, "--for native@: names no worker", "--for native@NAME, a name in workers.yaml"),
                (["--for", "native", "--device", "opencl"], 2,
                 "--for and --device opencl: targets are instruction sets of processors", "leave one of them out"),
                (["--for", "native", "--replay", "x"], 2, "--for and --replay exclude each other",
                 "leave one of them out"),
                (["--for", "native,cpu-avx2", "--record", "x"], 2, "--record is for one target, not for 2",
                 "run the targets one by one")):
            with self.subTest(words=words):
                self.fails(["optimize", "shifted", *words], code, phrase, hint)
        self.assertEqual(self.runs() if self.store.exists() else [], [])

    def test_a_worker_that_is_not_known_is_named(self):
        self.problem("shifted")
        done = strop("optimize", "shifted", "--for", "native@nobody", *FEW, cwd=self.folder,
                     STROP_WORKERS=str(self.folder / "none.yaml"))
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Astrop: --worker nobody: there is no .*none\.yaml\nhint: .*\n\Z")

    @unittest.skipIf("avx512vl" in FLAGS, "this processor has AVX-512")
    def test_what_the_machine_cannot_execute_is_refused(self):
        self.problem("shifted")
        done = strop("optimize", "shifted", "--for", "cpu-avx2,cpu-avx512", *FEW, cwd=self.folder)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"\Astrop: cpu-avx512: .* cannot execute it: it lacks .*\nhint: .*@NAME.*\n\Z")


@unittest.skipUnless({"avx2", "fma", "bmi2"} <= set(FLAGS), "this processor has no AVX2")
class Targets(WithRuns):
    def library(self):
        """That Python has built."""
        (found,) = (self.folder / "out" / "build").glob("libshifted-*.so")
        return str(found)

    def optimized(self, *words):
        done = strop("optimize", "shifted", "--for", "cpu-avx2,native", "--out", "out", "--quiet", *FEW, *words,
                     cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout

    def python(self, *words, **changes):
        return subprocess.run([sys.executable, "-c", CALL, *words], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, **changes}, check=False)

    def test_one_folder_whose_library_chooses(self):
        self.problem("shifted")
        shown = self.optimized()
        self.assertRegex(shown, r"\Ashifted for 2 targets: cpu-avx2 \S+×, native \S+×\n")
        for target in ("cpu-avx2", "native"):
            self.assertRegex(shown, rf"(?m)^{target}: ")
        self.report_is_right(json.loads((self.folder / "out/report.json").read_text()))
        self.assertIn("targets/native/report.html", (self.folder / "out/report.html").read_text())
        self.assertIn("cpu-avx2", (self.folder / "out/report.md").read_text())
        refused = strop("check", "out", cwd=self.folder)
        self.assertRegex(refused.stderr, r"report\.json: is of several targets\nhint: .*targets/NAME")
        # From Python: the greatest by itself, each by name, none that is not there.
        called = self.python("cpu-avx2", "native", "cpu-avx2")
        self.assertEqual(called.stdout, "native\nshifted: cpu-mmx is no target that this processor executes; targets "
                                        "are cpu-avx2, native\n", called.stderr)
        self.assertTrue(self.python(shifted_TARGET="cpu-avx2").stdout.startswith("cpu-avx2\n"))
        self.assertIn("shifted_TARGET=cpu-mmx is no target that this processor executes",
                      self.python(shifted_TARGET="cpu-mmx").stderr)
        self.library_is_of_its_targets()
        self.cmake_takes_it()

    def report_is_right(self, report):
        self.assertEqual([one["target"] for one in report["targets"]], ["cpu-avx2", "native"])
        machines = [one["report"]["machine"] for one in report["targets"]]
        self.assertEqual(machines[0]["isa"], "avx2")
        self.assertNotEqual(machines[0]["fingerprint"], machines[1]["fingerprint"])
        self.assertIn("-march=x86-64-v3", report["targets"][0]["report"]["compiler"])
        for one in report["targets"]:
            choice = one["choice"]
            self.assertEqual((choice["correct"], choice["held_out_correct"], choice["failure"]),
                             (choice["shapes"], choice["held_out"], ""))
            self.assertGreater(choice["held_out"], 0)

    def library_is_of_its_targets(self):
        """No AVX-512 lies outside of the functions of the target that may have it."""
        listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", self.library()],
                                capture_output=True, text=True, check=True).stdout
        for function in listed.split("\n\n"):
            name = function.partition("<")[2].partition(">")[0]
            if "shifted_native" not in name and "zmm" in function:
                self.assertNotIn("shifted_cpu_avx2", name)
                self.assertNotEqual(name, "shifted")
        if emulator := shutil.which("qemu-x86_64"):
            self.emulated(emulator)

    def emulated(self, emulator):
        """On a processor without AVX-512 it takes the other one; on one with neither it says so."""
        source = self.folder / "ask.cpp"
        source.write_text('#include <cstdio>\n#include "out/shifted.h"\nint main() {\n'
                          '    const char* name = shifted_target();\n    std::printf("%s\\n", name ? name : "none");\n}\n')
        subprocess.run(["c++", "-o", "ask", "ask.cpp", self.library(), "-Wl,-rpath,out/build"],
                       cwd=self.folder, check=True)
        for processor, expected in (("Haswell", "cpu-avx2"), ("Nehalem", "none")):
            ran = subprocess.run([emulator, "-cpu", processor, "./ask"], cwd=self.folder, capture_output=True,
                                 text=True, check=False)
            self.assertEqual(ran.stdout.strip(), expected, ran.stderr)

    def cmake_takes_it(self):
        build = self.folder / "built"
        for words in (["cmake", "-S", "out", "-B", str(build)], ["cmake", "--build", str(build)]):
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = subprocess.run(["ctest", "--test-dir", str(build)], capture_output=True, text=True, check=False)
        self.assertIn("100% tests passed, 0 tests failed out of 3", done.stdout)

    def test_stopped_at_any_moment_the_same_command_goes_on(self):
        self.problem("shifted")
        words = ["optimize", "shifted", "--for", "cpu-avx2,native", "--out", "out", "--budget", "5s", "--evaluations",
                 "12", "--seed", "1"]
        process = self.start_and_wait(*words)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        [run] = self.runs()
        kept = recorded(self.store)
        done = strop(*words, "--store", "runs.db", "--continue", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn(f"resuming {run['run']}\n", done.stderr)
        self.assertEqual(len(self.runs()), 2)
        self.assertEqual(recorded(self.store)[:len(kept)], kept)
        everything = recorded(self.store)
        again = strop(*words, "--store", "runs.db", "--continue", "--json", cwd=self.folder)
        self.assertEqual(json.loads(again.stdout)["problem"], "shifted")
        self.assertEqual(recorded(self.store), everything)


if __name__ == "__main__":
    unittest.main()
