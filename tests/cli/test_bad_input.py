"""What is wrong with the input, the store or the machine is said in one line that names it, with a hint and an exit code;
nothing is left behind broken."""

import ctypes
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest

from tests.cli.strop_cli import (BINARY, InFolder, WithRuns, descendants, environment, lives, process_stat,
                                 recorded, strop, wait_until)

QUICK = ["--budget", "3s", "--evaluations", "6", "--quiet"]


class BadInput(InFolder):
    def refused(self, words, code, phrase, hint, **changes):
        """Fails with one line that matches `phrase` and a hint that matches `hint`; what it wrote."""
        done = strop(*words, cwd=self.folder, **changes)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertRegex(lines[0], rf"^strop: {phrase}$")
        self.assertRegex(lines[1], rf"^hint: .*{hint}")
        self.assertEqual((done.returncode, done.stdout), (code, ""))

    def outcomes(self, **changes):
        done = strop("runs", "--json", cwd=self.folder, **changes)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [run["outcome"] for run in json.loads(done.stdout)]


class Problems(BadInput):
    def optimize(self, name, code, phrase, hint):
        self.refused(["optimize", name, *QUICK], code, phrase, hint)
        self.assertFalse((self.folder / "strop-out" / name).exists())

    def test_an_unknown_name(self):
        self.problem("shifted")
        self.optimize("shiftd", 2, "'shiftd': no such problem", "did you mean 'shifted'")
        self.optimize("layernrom", 2, "'layernrom': no such problem", "did you mean 'layernorm'")
        self.assertEqual(self.outcomes(), [])

    def test_places_without_a_problem(self):
        (self.folder / "empty").mkdir()
        (self.folder / "notes.txt").write_text("hello", encoding="utf-8")
        self.optimize("empty", 2, "'empty': no problem.yaml in this folder", "problem.yaml and reference.py")
        self.optimize("notes.txt", 2, "'notes.txt': not a problem", "problem.yaml")
        self.optimize("no/where", 2, "'no/where': no such file or folder", "name a problem")

    def test_malformed_yaml(self):
        place = self.problem("shifted")
        with open(place / "problem.yaml", "a", encoding="utf-8") as file:
            file.write("work: [\n")
        self.optimize("shifted", 2, r"problems/shifted/problem.yaml:\d+: malformed YAML: .+", "brackets")

    def test_an_unknown_key(self):
        self.problem("shifted", tagz="[a]")
        self.optimize("shifted", 2, "problems/shifted/problem.yaml:8: unknown key 'tagz' .*", "did you mean 'tags'")

    def test_a_reference_that_depends_on_more_than_its_arguments(self):
        for body, how in [("return x + b + np.random.default_rng().normal()", "again"),
                          ("shifted.calls = getattr(shifted, 'calls', 0) + 1; return x + b * shifted.calls", "again"),
                          ("return x + b + hash('text') % 1000", "in another process")]:
            with self.subTest(body=body):
                self.problem("shifted", body)
                self.optimize("shifted", 2, ".*problems/shifted/reference.py: the reference gives other values for 'y' when "
                              f"it is called {how} with the same inputs at .*", "its arguments only")

    def test_an_error_of_several_lines_and_colours_is_one_line(self):
        self.problem("shifted", "raise ValueError('one\\ntwo \\x1b[31mred')")
        self.optimize("shifted", 2, r".*one two \?\[31mred.*", "the reference failed at")

    def test_what_the_playbook_lacks_is_said_before_baselines_are_started(self):
        self.problem("shifted", "return np.take_along_axis(x, np.lexsort((x + b,), axis=1), 1)")
        done = strop("optimize", "shifted", "--budget", "3s", cwd=self.folder)
        said = [done.stderr.find(text) for text in ("tracing the reference", "lexsort", "running the reference and the baselines")]
        self.assertEqual(said, sorted(said), done.stderr)
        self.assertGreaterEqual(said[0], 0, done.stderr)

    def test_a_baseline_that_raises_or_is_wrong_failed(self):
        place = self.problem("shifted", baselines="[fast.py, other.py]")
        (place / "fast.py").write_text("def shifted(x, b):\n    raise RuntimeError('out of\\nluck')\n", encoding="utf-8")
        (place / "other.py").write_text("def shifted(x, b):\n    return x\n", encoding="utf-8")
        done = strop("optimize", "shifted", "--budget", "3s", "--evaluations", "4", "--quiet", "--json", cwd=self.folder)
        missing = {entry["name"]: entry["how"] for entry in json.loads(done.stdout)["missing_baselines"]}
        self.assertRegex(missing["fast"], "^failed: .*out of luck")
        self.assertRegex(missing["other"], "^failed: .*y\\[")
        shown = strop("report", json.loads(done.stdout)["run"], cwd=self.folder).stdout
        self.assertIn("not compared with fast: it failed: ", shown)

    def test_an_undefined_dimension(self):
        self.problem("shifted", inputs="{x: {dtype: float32, shape: [M, K]}, b: {dtype: float32, shape: [N]}}")
        self.optimize("shifted", 2, "problems/shifted/problem.yaml:4: 'K' in the shape of x is not defined: .*",
                      "known: M, N")

    def test_values_that_cannot_be(self):
        for key, value, phrase in [
                ("shapes", "{small: {M: 0, N: 4}}", "6: dimension 'M' is 0 at shape 'small'"),
                ("inputs", "{x: {dtype: float31, shape: [M, N]}, b: {dtype: float32, shape: [N]}}",
                 "4: dtype 'float31' of 'x' is not known"),
                ("baselines", "[absent.cpp]", "8: .*absent.cpp.*")]:
            with self.subTest(key=key, value=value):
                self.problem("shifted", **{key: value})
                self.optimize("shifted", 2, f"problems/shifted/problem.yaml:{phrase}", ".")

    def test_a_shape_that_fits_no_memory(self):
        self.problem("shifted", shapes="{small: {M: 4, N: 4}, huge: {M: 90000000000, N: 100}}", range=None)
        self.optimize("shifted", 3, r".*problem.yaml: shape 'huge' \(M=90000000000,N=100\) needs \d+ TiB, "
                      r"[\d.]+ [A-Za-z]+ are available", "smaller")
        self.assertEqual(self.outcomes(), [])
        (self.folder / "mine.cpp").write_text("", encoding="utf-8")
        self.refused(["judge", "mine.cpp", "--problem", "shifted"], 3, ".*needs .* are available", "smaller")

    def test_an_unknown_shape(self):
        self.problem("shifted")
        self.refused(["optimize", "shifted", "--point", "smal"], 2, "--point smal: shifted has no such shape",
                     "its shapes are small, large")


class References(BadInput):
    def wrong(self, reference, phrase, hint, budget="3s"):
        """The run ends at the reference, is said to have failed, and leaves no result."""
        self.problem("shifted", reference)
        self.refused(["optimize", "shifted", "--budget", budget, "--quiet"], 2, phrase, hint)
        self.assertEqual(self.outcomes(), ["failed"])
        self.assertFalse((self.folder / "strop-out" / "shifted").exists())

    def test_raises(self):
        self.wrong("return x + unknown",
                   r"/.*/shifted/reference.py:5: NameError: name 'unknown' is not defined", "M=4,N=32")

    def test_returns_another_shape(self):
        self.wrong("return x.T", r"/.*/reference.py: returns shape \[32, 4\] for 'y', the problem declares \[4, 32\]",
                   "M=4,N=32")

    def test_returns_another_type(self):
        self.wrong("return (x + b).astype(np.int32)",
                   "/.*/reference.py: returns dtype int32 for 'y', the problem declares float32", "M=4,N=32")

    def test_returns_nothing(self):
        self.wrong("x + b", "/.*/reference.py: returns nothing for 'y'", "M=4,N=32")

    def test_returns_no_array(self):
        self.wrong("return 'y'", "/.*/reference.py: returns a str for 'y'", "M=4,N=32")

    def test_misses_a_module(self):
        self.wrong("import nothere", "/.*/reference.py:5: ModuleNotFoundError: No module named 'nothere'", "M=4,N=32")

    def test_is_no_python(self):
        self.wrong("return x +", "/.*/reference.py:5: SyntaxError: invalid syntax", "M=4,N=32")

    def test_returns_nan(self):
        self.wrong("return np.sqrt(x + b - 100)",
                   "/.*/reference.py: the reference returns nan or infinity in 'y' at M=4,N=32", "fill")

    def test_never_returns(self):
        """It may take as long as the whole run, and three seconds where that is less."""
        self.wrong("while True: pass",
                   "/.*/reference.py: the reference did not return within 3 s at M=4,N=32", "make it return", "200ms")

    def test_kills_its_process(self):
        self.wrong("import os; os._exit(3)", "/.*/reference.py: the reference ended by itself: .*3.*",
                   "make it return")

    def test_fails_where_nobody_asked(self):
        """Extents below those of the sweep are left out where the reference fails, unless the problem declares them."""
        self.problem("shifted", "return np.gradient(x, axis=0) * 0 + x + b", range=None)
        done = strop("optimize", "shifted", *QUICK, cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(strop("report", "shifted", "--format", "json", cwd=self.folder).stdout)
        self.assertRegex(report["note"], "shapes are taken from M >= 2: below, the reference fails")
        self.problem("shifted", "return np.gradient(x, axis=0) * 0 + x + b")
        done = strop("optimize", "shifted", *QUICK, cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "ValueError: Shape of array too small")
        self.assertRegex(done.stderr, "hint: the reference failed at M=1,N=\\d+: .*`range` or `require`")

    def test_does_not_parse(self):
        self.problem("shifted", "return (x")
        self.refused(["optimize", "shifted", *QUICK], 2, "/.*/reference.py:?.*: SyntaxError: .*", ".")

    def test_has_no_function_of_that_name(self):
        place = self.problem("shifted")
        (place / "reference.py").write_text("def another(x, b):\n    return x\n", encoding="utf-8")
        self.refused(["optimize", "shifted", *QUICK], 2,
                     "problems/shifted/problem.yaml:3: reference.py has no function 'shifted'", "known: another")


class Kernels(BadInput):
    def test_no_file(self):
        self.problem("shifted")
        self.refused(["judge", "absent.cpp", "--problem", "shifted"], 2, "absent.cpp: there is no such kernel",
                     'extern "C"')
        for command in ("judge", "tune", "profile"):  # whose problem would be its folder
            self.refused([command, "absent.cpp"], 2, "absent.cpp: there is no such kernel", "--problem names another")

    def test_a_value_is_set_twice(self):
        self.problem("shifted")
        (self.folder / "mine.cpp").write_text("// strop:tune UNROLL = 4 | 8\n", encoding="utf-8")
        self.refused(["judge", "mine.cpp", "--problem", "shifted", "--set", "UNROLL=8", "--set", "UNROLL=4"], 2,
                     "--set UNROLL=4: 'UNROLL' was given 2 times", "give it once")

    def test_a_malformed_tunable(self):
        self.problem("shifted")
        (self.folder / "mine.cpp").write_text("\n// strop:tune UNROLL 4\n", encoding="utf-8")
        self.refused(["judge", "mine.cpp", "--problem", "shifted"], 2, "mine.cpp:2: missing '='", "strop:tune")


class Stores(BadInput):
    def setUp(self):
        super().setUp()
        self.problem("shifted")
        self.store = self.folder / "runs.db"

    def make_store(self):
        """One with a failed run in it."""
        place = self.problem("breaking", "return nothing")
        self.assertEqual(strop("optimize", "breaking", "--store", "runs.db", cwd=self.folder).returncode, 2)
        shutil.rmtree(place)

    def unusable(self, phrase, hint, store="runs.db", **changes):
        self.refused(["optimize", "shifted", "--store", store, *QUICK], 3, f"{store}: {phrase}", hint, **changes)
        self.assertFalse((self.folder / "strop-out" / "shifted").exists())

    def test_a_newer_version(self):
        self.make_store()
        with sqlite3.connect(self.store) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
        self.unusable(r"was written by a newer Strop \(store version 99, this one knows \d+\)", "update Strop")

    def test_corrupt(self):
        self.store.write_bytes(b"x" * 8192)
        self.unusable("is corrupt: .*", "move it away")
        self.assertEqual(self.store.read_bytes(), b"x" * 8192)
        self.refused(["runs", "--store", "runs.db"], 3, "runs.db: is corrupt: .*", "move it away")

    def test_damaged_text(self):
        self.make_store()
        with sqlite3.connect(self.store) as connection:
            connection.execute("UPDATE runs SET record = '{\"run\": '")
        connection.close()
        self.refused(["show", "breaking", "--store", "runs.db"], 3, "runs.db: is corrupt: .*", "move it away")

    def test_another_programs_database(self):
        with sqlite3.connect(self.store) as connection:
            connection.execute("CREATE TABLE t (a)")
        connection.close()
        self.unusable("is another program's database", "--store")

    def test_a_folder(self):
        self.store.mkdir()
        self.unusable("is a folder, not a store", "--store")

    def test_a_folder_that_cannot_be(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        self.unusable("its folder cannot be created: .*", "--store", store="file/runs.db")

    def test_locked(self):
        self.make_store()
        connection = sqlite3.connect(self.store, isolation_level=None)
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        try:
            self.unusable("is locked by another process", "wait for the other run")
        finally:
            connection.close()
        self.assertEqual(self.outcomes(STROP_STORE="runs.db"), ["failed"])

    def test_read_only(self):
        self.make_store()
        self.store.chmod(0o444)
        if os.geteuid() != 0:
            return self.unusable("is read-only", "--store")
        if not shutil.which("setpriv"):
            self.skipTest("root may write anywhere")
        for place in (self.folder, self.folder / "strop-out"):
            place.mkdir(exist_ok=True)
            place.chmod(0o777)
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", os.path.abspath(BINARY), "optimize",
                               "shifted", "--store", "runs.db", *QUICK], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=environment())
        if "Permission denied" in done.stderr and "runs.db" not in done.stderr:
            self.skipTest("nobody may not run the program: " + done.stderr)
        self.assertRegex(done.stderr, r"^strop: runs.db: is read-only\nhint: .*--store.*\n$")
        self.assertEqual(done.returncode, 3)


class FullDisk(WithRuns, BadInput):
    def setUp(self):
        super().setUp()
        self.problem("shifted")
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(self.disk)]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("mounting a small disk takes root")
        self.addCleanup(subprocess.run, ["umount", str(self.disk)], check=True)

    def fill(self, left=0):
        with open(self.disk / "filler", "wb") as file:
            free = os.statvfs(self.disk)
            file.write(b"x" * (free.f_bavail * free.f_bsize - left))

    def test_for_the_store(self):
        self.fill(32768)
        self.refused(["optimize", "shifted", "--store", "disk/runs.db", *QUICK], 3,
                     "disk/runs.db: (the disk is full|cannot be .*)", "disk")
        self.assertFalse((self.folder / "strop-out" / "shifted").exists())

    def test_for_the_result_before_the_run(self):
        self.fill(65536)
        self.refused(["optimize", "shifted", "--out", "disk/result", *QUICK], 3,
                     "/.*/disk/result: cannot be written: No space left on device", ".")
        self.assertEqual(self.outcomes(), [])
        self.assertEqual(os.listdir(self.disk), ["filler"])

    def test_for_the_result_at_its_end(self):
        """Nothing is lost: with room the run goes on where it was and writes its result."""
        process = self.start_and_wait("optimize", "shifted", "--out", "disk/result", *QUICK)
        self.fill()
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (3, ""), err)
        self.assertRegex(err, r"^strop: /.*/disk/result/.*: cannot be written: No space left on device\nhint: .*\n$")
        [run] = self.runs()
        self.assertEqual(run["outcome"], "failed")
        (self.disk / "filler").unlink()
        done = strop("resume", run["run"], "--json", "--quiet", "--store", "runs.db", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertGreater((self.disk / "result" / "shifted.cpp").stat().st_size, 0)
        self.assertEqual(json.loads((self.disk / "result" / "report.json").read_text(encoding="utf-8")),
                         json.loads(done.stdout))


class Tools(BadInput):
    def test_no_compiler(self):
        self.problem("shifted")
        self.refused(["optimize", "shifted", *QUICK], 3, "no C\\+\\+ compiler for kernels was found",
                     "apt-get install clang-19", PATH="/nowhere")
        self.assertEqual(self.outcomes(), ["failed"])

    def python_without_packages(self):
        script = self.folder / "bare-python"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        return str(script)

    def test_no_numpy(self):
        self.problem("shifted")
        python = self.python_without_packages()
        self.refused(["optimize", "shifted", *QUICK], 3, f"STROP_PYTHON={python}: has no NumPy",
                     "pip install numpy", STROP_PYTHON=python)

    def test_no_python(self):
        self.problem("shifted")
        self.refused(["optimize", "shifted", *QUICK], 3, "STROP_PYTHON=/no/python: is no program", "strop setup",
                     STROP_PYTHON="/no/python")


class Interrupts(WithRuns):
    def setUp(self):
        super().setUp()
        self.problem("shifted")
        self.words = ["optimize", "shifted", "--budget", "4s", "--evaluations", "8", "--seed", "3"]

    def test_once_saves_and_resume_goes_on(self):
        process = self.start_and_wait(*self.words)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, ""), err)
        self.assertIn("interrupted: saving the state (once more to stop at once)", err)
        [run] = self.runs()
        self.assertEqual(run["outcome"], "interrupted")
        self.assertTrue(err.endswith(f"the state is saved; go on with: strop resume {run['run']}\n"), err)
        self.assertFalse((self.folder / "strop-out" / "shifted").exists())
        before = recorded(self.store)
        done = strop("resume", run["run"], "--store", "runs.db", "--json", "--quiet", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["run"], run["run"])
        self.assertEqual(recorded(self.store)[:len(before)], before)
        self.assertTrue((self.folder / "strop-out" / "shifted" / "report.json").exists())
        self.assertEqual([run["outcome"] for run in self.runs()], [document["outcome"]])

    def test_terminating_is_interrupting(self):
        process = self.start_and_wait(*self.words, "--quiet")
        below = descendants(process.pid)
        self.assertTrue(below)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual([run["outcome"] for run in self.runs()], ["interrupted"])
        self.assertTrue(wait_until(lambda: not any(lives(*one) for one in below), 10))

    def test_twice_ends_at_once(self):
        process = self.start_and_wait(*self.words, "--quiet")
        # Both arrive before it can do anything about the first, and at one thread: of two, one may save before the other ends.
        process.send_signal(signal.SIGSTOP)
        self.assertTrue(wait_until(lambda: process_stat(process.pid)[0] == "T"))
        for number in (signal.SIGINT, signal.SIGTERM):
            ctypes.CDLL(None).tgkill(process.pid, process.pid, number)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertEqual([run["outcome"] for run in self.runs()], ["running"])


if __name__ == "__main__":
    unittest.main()
