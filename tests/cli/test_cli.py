"""The program from outside: texts, exit codes, completions, through pipes and in a pseudo-terminal."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import unittest

from tests.cli.strop_cli import BINARY, InFolder, descendants, environment, strop, strop_in_terminal, wait_until

COMMANDS = ["optimize", "judge", "check", "compare", "profile", "import", "list", "runs", "query", "knowledge", "learn", "show", "report", "resume", "doctor", "setup", "completion", "man",
            "help"]


class Help(InFolder):
    def test_every_command_is_listed_and_the_hidden_one_is_not(self):
        done = strop("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for command in COMMANDS:
            self.assertRegex(done.stdout, rf"(?m)^  {command} +\S")
        self.assertNotRegex(done.stdout, r"(?m)^  worker")

    def test_examples_come_first(self):
        for command in COMMANDS:
            text = strop(command, "--help").stdout
            self.assertTrue(text.startswith(f"strop {command}: "), text)
            if command != "help":
                self.assertLess(text.index("examples:"), text.index("usage:"), command)

    def test_help_is_the_same_by_every_way(self):
        text = strop("report", "--help").stdout
        self.assertIn("--format FORMAT", text)
        self.assertIn("(default: terminal)", text)
        self.assertEqual(strop("help", "report").stdout, text)
        self.assertEqual(strop("report", "x", "-h").stdout, text)
        self.assertEqual(strop("help").stdout, strop("-h").stdout)

    def test_examples_parse(self):
        """Every example in a help text is accepted by the parser (what follows then may fail)."""
        for command in COMMANDS:
            for line in re.findall(r"(?m)^  \./strop ([^|>\n]+)", strop(command, "--help").stdout):
                words = line.split()
                if words[0] in ("report", "show", "resume"):
                    self.assertIn("there is no run", strop(*words, cwd=self.folder).stderr, line)
                elif words[0] in ("list", "runs", "completion", "man"):
                    self.assertEqual(strop(*words, cwd=self.folder).returncode, 0, line)

    def test_lines_fit_the_terminal(self):
        for words in (["--help"], ["optimize", "--help"]):
            shown, code = strop_in_terminal(*words, columns=64)
            self.assertEqual(code, 0)
            tables = [line for line in shown.splitlines() if re.match(r"  \S+( \S+)?  +", line)]
            self.assertTrue(tables)
            self.assertLessEqual(max(map(len, tables)), 64)

    def test_version(self):
        self.assertRegex(strop("--version").stdout, r"^strop \d+\.\d+\.\d+\n$")

    def test_a_full_disk_is_said(self):
        for words in (["--help"], ["man"], ["completion", "bash"]):  # little, and much
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([os.path.abspath(BINARY), *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                      check=False, env=environment())
            self.assertEqual(done.returncode, 3, words)
            self.assertTrue(done.stderr.endswith("strop: standard output cannot be written\nhint: is the disk full?\n"))


class WrongUsage(InFolder):
    def test_no_command(self):
        self.fails([], 2, "no command was given", "try `strop optimize problems/softmax`, or `strop --help`")

    def test_unknown_command(self):
        self.fails(["optimse"], 2, "unknown command 'optimse'",
                   "did you mean optimize? `strop --help` lists all commands")
        self.fails(["zzzzzzzzzzzz"], 2, "unknown command 'zzzzzzzzzzzz'", "`strop --help` lists all commands")
        self.fails(["help", "lst"], 2, "unknown command 'lst'",
                   "did you mean list? `strop --help` lists all commands")

    def test_flag_before_command(self):
        self.fails(["--json", "list"], 2, "the command comes before its flags, not '--json'",
                   "for instance `strop optimize problems/softmax --budget 60s`")

    def test_unknown_flag(self):
        self.fails(["list", "--slw"], 2, "unknown flag '--slw' of `strop list`",
                   "did you mean --slow? `strop list --help` shows its arguments")
        self.fails(["list", "--qqqqqqqqqq"], 2, "unknown flag '--qqqqqqqqqq' of `strop list`",
                   "`strop list --help` shows its arguments")
        self.fails(["optimize", "softmax", "--budgt=3s"], 2, "unknown flag '--budgt=3s' of `strop optimize`",
                   "did you mean --budget? `strop optimize --help` shows its arguments")

    def test_extra_and_missing_arguments(self):
        self.fails(["runs", "a", "b"], 2, "unexpected argument 'b' of `strop runs`",
                   "`strop runs --help` shows its arguments")
        self.fails(["judge"], 2, "`strop judge` needs a KERNEL", "KERNEL: a source file in C++, OpenCL (.cl), CUDA (.cu) or Python (.py); of several each is judged by the same referee")

    def test_missing_value(self):
        self.fails(["judge", ""], 2, "KERNEL is an empty text", "a variable that is not set gives one where it stands in quotes")
        self.fails(["runs", "--store"], 2, "--store needs a value",
                   "--store FILE: the file that holds all runs ($STROP_STORE, else strop-out/strop.db), or a database of a "
                   "PostgreSQL server: postgresql://USER@HOST/DATABASE (docs/knowledge.md)")
        self.fails(["optimize", "softmax", "--seed", "--json"], 2, "--seed needs a value",
                   "--seed N: of every random choice")

    def test_values_that_do_not_fit(self):
        for flag, value, hint in [("--budget", "soon", "write it as 60s, 2m, 1h30m or 500ms; it must be positive"),
                                  ("--budget", "0", "write it as 60s, 2m, 1h30m or 500ms; it must be positive"),
                                  ("--evaluations", "1.5", "give a whole number, 0 or larger"),
                                  ("--evaluations", "-1", "give a whole number, 0 or larger"),
                                  ("--seed", "99999999999999999999", "give a whole number, 0 or larger"),
                                  ("--rounds", "0", "give a whole number, 1 or larger"),
                                  ("--beam", "four", "give a whole number, 1 or larger"),
                                  ("--target-speedup", "nan", "give a number, 0 or larger"),
                                  ("--min-improvement", "-0.1", "give a number, 0 or larger")]:
            with self.subTest(flag=flag, value=value):
                self.fails(["optimize", "softmax", flag, value], 2, f"{flag}: '{value}' does not fit", hint)
        self.fails(["judge", "k.cpp", "--set", "4"], 2, "--set: '4' does not fit", "write it as NAME=VALUE")
        self.fails(["report", "r", "--format", "pdf"], 2, "--format: 'pdf' does not fit",
                   "choose from terminal, markdown, html, json")
        self.fails(["completion", "tcsh"], 2, "SHELL: 'tcsh' does not fit", "choose from bash, zsh, fish")
        self.fails(["setup", "tensorflow"], 2, "PACKAGE: 'tensorflow' does not fit", "choose from torch, jax, tilelang")

    def test_a_flag_twice(self):
        self.fails(["runs", "--store", "a", "--store", "b"], 2, "--store was given 2 times", "give it once")

    def test_flags_may_stand_before_other_arguments(self):
        """A flag takes one value, and leaves what follows to the command."""
        for command in COMMANDS:
            text = strop(command, "--help").stdout
            if not re.search(rf"(?m)^usage: strop {command} .*[A-Z]", text.replace("[flags]", "")):
                continue
            for flag in re.findall(r"(?m)^  (--[a-z-]+) [A-Z=]+ ", text):
                with self.subTest(command=command, flag=flag):
                    done = strop(command, flag, "0.5", "", cwd=self.folder)
                    self.assertEqual(done.returncode, 2)
                    self.assertNotRegex(done.stderr, "was given 2 times|needs a ")

    def test_errors_are_the_same_in_a_terminal(self):
        shown, code = strop_in_terminal("optimse", cwd=self.folder)
        self.assertEqual(code, 2)
        self.assertEqual(shown, "strop: unknown command 'optimse'\n"
                                "hint: did you mean optimize? `strop --help` lists all commands\n")


class Listing(InFolder):
    def write_problem(self, name):
        folder = self.folder / "problems" / name
        folder.mkdir(parents=True)
        (folder / "reference.py").write_text(f"def {name}(x):\n    return x + x\n", encoding="utf-8")
        (folder / "problem.yaml").write_text(
            f"name: {name}\ntags: [mine]\nreference: reference.py\n"
            "inputs:\n  x: {dtype: float32, shape: [N], fill: normal}\n"
            "outputs: {y: {dtype: float32, shape: [N]}}\n"
            "shapes:\n  small: {N: 4}\n  large: {N: 8}\n", encoding="utf-8")

    def test_own_problems_with_tags_and_points(self):
        self.write_problem("doubled")
        done = strop("list", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^PROBLEM +TAGS +POINTS +SPEEDUP +OVER +LAST RUN$")
        self.assertRegex(done.stdout, r"(?m)^doubled +mine +2 +- +- +-$")
        self.assertFalse((self.folder / "strop-out").exists())   # looking creates nothing

    def test_json(self):
        self.write_problem("doubled")
        document = json.loads(strop("list", "problems", "--json", cwd=self.folder).stdout)
        self.assertEqual([(entry["name"], entry["tags"], entry["points"]) for entry in document],
                         [("doubled", ["mine"], 2)])

    def test_a_broken_problem_does_not_hide_the_others(self):
        self.write_problem("doubled")
        self.write_problem("broken")
        (self.folder / "problems" / "broken" / "problem.yaml").write_text("name: [", encoding="utf-8")
        done = strop("list", "problems", cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^broken +cannot be loaded: ")
        self.assertRegex(done.stdout, r"(?m)^doubled ")

    def test_the_slow_ones_come_first_in_three_classes(self):
        self.write_problem("never")
        problem = self.write_problem("broken")
        (self.folder / "problems" / "broken" / "reference.py").write_text("def broken(x):\n    return nothing\n",
                                                                          encoding="utf-8")
        self.assertEqual(strop("optimize", "broken", "--store", "runs.db", cwd=self.folder).returncode, 2, problem)
        with sqlite3.connect(self.folder / "runs.db") as connection:
            [text] = connection.execute("SELECT record FROM runs").fetchone()
            for name, shapes in (("ahead", [(2.0, 0.2), (1.1, 0.3)]), ("behind", [(3.0, 0.2), (0.4, 0.3)]),
                                 ("near", [(0.9, 0.1)]), ("full", [(0.5, 0.9)])):
                record = {**json.loads(text), "run": f"{name}-1", "problem": name, "outcome": "improved",
                          "headline": {"ratio": 1.5, "low": 1.4, "high": 1.6}, "headline_baseline": "numpy"}
                template = {"label": "", "dims": {"N": 4}, "best_baseline": "numpy"}
                record["shapes"] = [{**template, "label": f"s{i}", "roofline_share": share,
                                     "speedup": {"ratio": ratio, "low": ratio, "high": ratio}}
                                    for i, (ratio, share) in enumerate(shapes)]
                connection.execute("INSERT INTO runs VALUES (?, ?, '2026', 'improved', 1.5, 'numpy', 1, 1, 'out', ?)",
                                   (f"{name}-1", name, json.dumps(record)))
        connection.close()
        done = strop("list", "--slow", "--store", "runs.db", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([row[:2] for row in rows[1:5]], [["behind", "slow"], ["near", "moderate"], ["ahead", "good"],
                                                          ["full", "good"]])
        self.assertRegex(done.stdout, r"(?m)^behind +slow +1\.50× +24% +s1 0\.40× +numpy +behind-1$")
        self.assertRegex(done.stdout, r"(?m)^never +no result$")
        document = json.loads(strop("list", "--slow", "--threshold", "0.95", "--store", "runs.db", "--json",
                                    cwd=self.folder).stdout)
        self.assertEqual({one["problem"]: one["class"] for one in document["results"] if one["class"]},
                         {"behind": "slow", "near": "slow", "full": "slow", "ahead": "good"})
        only = strop("list", "problems", "--slow", "--store", "runs.db", cwd=self.folder).stdout
        self.assertNotIn("ahead", only)

        # The name is the problem's, wherever its folder lies; another problem of that name has no part in it.
        with sqlite3.connect(self.folder / "runs.db") as connection:
            for run, folder in (("own-1", self.folder / "problems" / "never"), ("other-1", self.folder / "elsewhere")):
                record = {**json.loads(text), "run": run, "problem": "never", "outcome": "improved", "problem_hash": run,
                          "problem_folder": str(folder), "headline": {"ratio": 1.5, "low": 1.4, "high": 1.6},
                          "headline_baseline": "numpy"}
                connection.execute("INSERT INTO runs VALUES (?, 'never', '2026', 'improved', 1.5, 'numpy', 1, 1, 'out', ?)",
                                   (run, json.dumps(record)))
        connection.close()
        (self.folder / "problems" / "never").rename(self.folder / "problems" / "of_late")
        self.assertRegex(strop("list", "problems", "--store", "runs.db", cwd=self.folder).stdout, r"(?m)^of_late .* -$")
        (self.folder / "problems" / "of_late").rename(self.folder / "problems" / "never")
        self.assertRegex(strop("list", "problems", "--store", "runs.db", cwd=self.folder).stdout, r"(?m)^never .*own-1$")
        self.fails(["list", "--slow", "--threshold", "2"], 2, "--threshold: '2' does not fit",
                   "give a number above 0, at most 1")
        self.fails(["list", "--threshold", "0.5"], 2, "--threshold is for --slow", "strop list --slow --threshold 0.9")

    def test_unknown_folder(self):
        self.fails(["list", "absent"], 2, "absent: is no folder", "give the folder that holds problem folders")

    def test_an_empty_folder(self):
        (self.folder / "empty").mkdir()
        self.assertEqual(strop("list", "empty", cwd=self.folder).stdout,
                         "no problems here; `strop list FOLDER` looks elsewhere\n")

    def test_no_runs(self):
        self.assertEqual(strop("runs", cwd=self.folder).stdout,
                         "no runs yet; `strop optimize PROBLEM` makes one\n")
        self.assertEqual(json.loads(strop("runs", "--json", cwd=self.folder).stdout), [])

    def test_nothing_is_known(self):
        self.assertEqual(strop("query", cwd=self.folder).stdout, "nothing is known; `strop optimize PROBLEM` finds out\n")
        self.assertEqual(json.loads(strop("query", "--json", cwd=self.folder).stdout), {"runs": [], "lessons": []})

    def test_unknown_run_and_store(self):
        self.fails(["show", "softmax"], 2, "there is no run 'softmax': strop-out/strop.db does not exist",
                   "runs are kept by `strop optimize`; --store names another file")
        self.fails(["runs", "--store", "no.db"], 2, "no.db: there is no such store",
                   "leave --store out for the standard one, or run `strop optimize` first")


class Shells(InFolder):
    def complete_in_bash(self, *words):
        """What bash offers for the last of `words`."""
        script = strop("completion", "bash").stdout
        quoted = " ".join(f"'{word}'" for word in words)
        script += f"\nCOMP_WORDS=({quoted})\nCOMP_CWORD={len(words) - 1}\n_strop {words[0]}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        done = subprocess.run(["bash", "--norc"], input=script, capture_output=True, text=True, check=True,
                              cwd=self.folder, env=environment())
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_flags_and_values(self):
        self.assertEqual(self.complete_in_bash("strop", "re"), ["report", "resume"])
        self.assertEqual(self.complete_in_bash("strop", "optimize", "x", "--ta"), ["--target-speedup"])
        self.assertEqual(self.complete_in_bash("strop", "report", "r", "--format", "m"), ["markdown"])
        self.assertEqual(self.complete_in_bash("strop", "completion", "f"), ["fish"])
        self.assertEqual(self.complete_in_bash("strop", "optimize", "x", "--seed", ""), [])
        self.assertNotIn("worker", self.complete_in_bash("strop", ""))
        self.assertIn("--worker", self.complete_in_bash("strop", "judge", "x", "--w"))

    def test_bash_completes_problems(self):
        problems = json.loads(strop("list", "--json", cwd=self.folder).stdout)
        wanted = [entry["name"] for entry in problems if entry["name"].startswith("s")]
        self.assertEqual(self.complete_in_bash(os.path.abspath(BINARY), "optimize", "s"), wanted)

    def test_other_shells_accept_their_scripts(self):
        for shell in ("zsh", "fish"):
            script = strop("completion", shell)
            self.assertEqual(script.returncode, 0)
            for word in ("optimize", "target-speedup", "markdown"):
                self.assertIn(word, script.stdout)
            self.assertNotIn("one JSON message a line", script.stdout)   # the worker is a command for programs
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script.stdout, text=True, check=True)

    def test_the_manual_page_renders(self):
        page = strop("man").stdout
        self.assertTrue(page.startswith(".TH STROP 1"))
        for command in COMMANDS:
            self.assertRegex(page, rf"(?m)^\.SS strop {command}\b")
        for line in page.splitlines():
            self.assertFalse(line.startswith("'"), line)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True,
                                  check=True, env=environment(GROFF_NO_SGR="1"))
            self.assertEqual(done.stderr, "")
            self.assertRegex(re.sub(".\b", "", done.stdout), r"--target-speedup X")


class Doctor(InFolder):
    def test_json_is_complete(self):
        done = strop("doctor", "--json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads(done.stdout)
        self.assertTrue(document["usable"])
        self.assertGreater(document["machine"]["ceilings"]["memory_copy"], 0)
        self.assertTrue(document["compilers"][0]["version"])
        self.assertTrue(os.access(document["python"], os.X_OK))
        baselines = {entry["name"]: entry for entry in document["baselines"]}
        self.assertEqual(set(baselines), {"numpy", "pytorch", "jax", "onednn"})
        self.assertTrue(baselines["numpy"]["installed"])
        for entry in baselines.values():
            self.assertTrue(entry["version" if entry["installed"] else "how"])
        self.assertIsInstance(document["weaker_protections"], list)
        modules = {entry["name"]: entry for entry in document["modules"]}
        self.assertEqual(set(modules), {"triton", "tilelang"})
        if not modules["tilelang"]["installed"]:
            self.assertEqual(modules["tilelang"]["how"], "./strop setup tilelang")

    def test_text_names_what_is_there(self):
        done = strop("doctor", cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        for word in ("processor", "arithmetic", "bandwidth", "compiler", "python", "baseline", "module"):
            self.assertRegex(done.stdout, rf"(?m)^{word} +\S")

    def test_a_missing_compiler_is_named(self):
        done = strop("doctor", cwd=self.folder, PATH="/nowhere")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r"(?m)^compiler +missing")
        self.assertEqual(done.stderr, "strop: no kernel compiler was found\n"
                                      "hint: install clang-19 or g++, or run ./strop setup\n")

    def test_a_wrong_python_is_named(self):
        done = strop("doctor", cwd=self.folder, STROP_PYTHON="/nowhere/python")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "strop: STROP_PYTHON=/nowhere/python: is no program\n"
                                      "hint: run ./strop setup, or set STROP_PYTHON to a Python that has NumPy\n")

    def test_trials_of_the_judge_tell_what_they_found_when_they_are_interrupted(self):
        process = subprocess.Popen([os.path.abspath(BINARY), "doctor", "--judge", "--trials", "500", "--json"],
                                   cwd=self.folder, env=environment(), text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: descendants(process.pid)))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        document = json.loads(out)
        self.assertTrue(document["interrupted"])
        self.assertLess(document["false_claims"]["trials"], 500)
        self.assertLessEqual(document["planted"]["trials"], document["false_claims"]["trials"])
        self.assertEqual(document["exploits"]["total"], 0)

    def test_a_terminal_is_told_to_wait(self):
        shown, code = strop_in_terminal("doctor", cwd=self.folder)
        self.assertEqual(code, 0)
        self.assertTrue(shown.startswith("looking at this machine"), shown)


if __name__ == "__main__":
    unittest.main()
