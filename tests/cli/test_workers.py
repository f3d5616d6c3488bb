"""Workers that a command starts: with banners, elsewhere, of other versions, lost in the middle."""

import json
import os
import subprocess
import sys
import unittest

from tests.cli.strop_cli import BINARY, InFolder, environment, recorded, strop, wait_until

KERNEL = """extern "C" void shifted(const float* x, const float* b, float* y, long M, long N) {
    for (long i = 0; i < M; ++i)
        for (long j = 0; j < N; ++j) y[i * N + j] = x[i * N + j] + b[j] > 0 ? x[i * N + j] + b[j] : 0;
}
"""
WORKER = f"{os.path.abspath(BINARY)} worker"
RUN = ["optimize", "shifted", "--budget", "3s", "--evaluations", "4", "--seed", "5", "--store", "runs.db", "--quiet"]


def may_mount():
    done = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    return done.returncode == 0


class Workers(InFolder):
    def setUp(self):
        super().setUp()
        self.place = self.problem("shifted")
        (self.folder / "kernel.cpp").write_text(KERNEL, encoding="utf-8")

    def script(self, text):
        """A command that runs this text in a shell."""
        path = self.folder / "start"
        path.write_text("#!/bin/sh\n" + text + "\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def judge(self, worker, *words, **changes):
        return strop("judge", "kernel.cpp", "--problem", str(self.place), "--per-shape", "20ms", "--worker", worker,
                     *words, cwd=self.folder, **changes)

    def refused(self, worker, phrase, hint=None, *words):
        done = self.judge(worker, *words)
        said = done.stderr.splitlines()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(said[0], f"^strop: the worker '.*' {phrase}$")
        self.assertEqual(len(said), 2)
        if hint:
            self.assertEqual(said[1], f"hint: {hint}")


class Starting(Workers):
    def test_a_banner_is_passed_over(self):
        worker = self.script(f"echo 'Welcome to node 7!'; echo; echo '[1, 2]'; echo 'warned' >&2; exec {WORKER}")
        done = self.judge(worker)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("verdict: ok", done.stdout)

    def test_a_command_is_split_into_words_without_a_shell(self):
        done = self.judge(f"sh -c 'echo \"a $0\"; exec {WORKER}' ;")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_one_that_ends_at_once_is_quoted(self):
        worker = self.script("echo 'Permission denied (publickey).' >&2; exit 255")
        self.refused(worker, r"ended before it began: exit 255: Permission denied \(publickey\)\.",
                     "try the command by itself: it has to wait for a line of input")
        self.refused(str(self.folder / "none"), "ended before it began: exit 127: .*none: No such file or directory")

    def test_the_others_leave_nothing_behind(self):
        """A good worker beside one that cannot be started has time to remove its folder."""
        scratch = self.folder / "tmp"
        scratch.mkdir()
        done = strop(*RUN, "--worker", f"env TMPDIR={scratch} {WORKER}", "--worker", "/nowhere/strop worker",
                     cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(list(scratch.iterdir()), [])

    def test_other_versions_are_named(self):
        worker = self.script("read line; echo '{\"strop\": \"9.8\", \"protocol\": 77}'; read line")
        self.refused(worker, r"is of another version: strop 9\.8 \(protocol 77\), this one is \S+ \(protocol \d+\)",
                     "install the same version on both machines")
        worker = self.script("read line; echo '{\"error\": {\"phrase\": \"worker: unknown op\", \"hint\": \"\", \"exit\": 2}}'")
        self.refused(worker, r"is of another version: strop an earlier version \(protocol 1\).*")

    def test_a_greeting_in_another_form_is_none(self):
        worker = self.script("read line; echo '{\"strop\": 3, \"protocol\": \"two\"}'; read line")
        self.refused(worker, "does not greet as a worker does: .*",
                     "the command has to end in `strop worker`, or to be a place such as `ssh gpu1`")

    def test_one_that_says_nothing_is_not_waited_for(self):
        worker = self.script("echo 'Password:'; sleep 60")
        self.refused(worker, "said nothing that a worker says for 1 s; it printed last: Password:", None,
                     "--worker-wait", "1s")

    def test_one_that_never_ends_its_banner_is_left(self):
        self.refused(self.script("yes hello"), "printed 101 lines and no word of a worker; the last: hello")
        self.refused(self.script("yes | tr -d '\\n'"), "printed 64.* KiB and no word of a worker; the last: y+[.]{3}")


class Named(Workers):
    def named(self, text):
        file = self.folder / "workers.yaml"
        file.write_text(text, encoding="utf-8")
        return str(file)

    def test_a_worker_has_a_name(self):
        file = self.named(f"near: {{start: '{WORKER}', wait: 20s}}\n")
        done = self.judge("near", STROP_WORKERS=file)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_mistakes_in_names_and_files(self):
        file = self.named(f"near: {{start: '{WORKER}'}}\nfar: {{start: 'ssh far \"strop'}}\nbare: {{wait: 3s}}\n")
        for name, phrase, hint in (
                ("nearr", f"--worker nearr: {file} has no such worker", "did you mean 'near'? known: near, far, bare"),
                ("far", f"{file}:2: 'ssh far \"strop': a quote has no end", "close it with \""),
                ("bare", f"{file}:3: 'bare' has no 'start' and no 'at'",
                 "for example `h100: {at: \"ssh gpu1\"}`, or `h100: {start: \"ssh gpu1 strop worker\"}`")):
            done = self.judge(name, STROP_WORKERS=file)
            self.assertEqual((done.returncode, done.stderr), (2, f"strop: {phrase}\nhint: {hint}\n"))
        done = self.judge("near", STROP_WORKERS=str(self.folder / "none.yaml"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("strop: --worker near: there is no ", done.stderr)


class Folders(Workers):
    def test_what_a_killed_worker_left_is_removed_by_the_next(self):
        scratch = self.folder / "tmp"
        scratch.mkdir()
        process = subprocess.Popen(f"exec {WORKER}", shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=environment(TMPDIR=str(scratch)))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        process.stdin.write('{"op": "ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        [left] = scratch.iterdir()
        (scratch / "strop-worker-of-somebody-else").mkdir()
        os.utime(left / ".lock", (1, 1))
        self.next_worker(scratch)
        self.assertTrue(left.exists())    # its worker lives
        process.kill()
        process.wait()
        self.assertTrue(wait_until(lambda: self.next_worker(scratch) or not left.exists(), 10))
        self.assertEqual([entry.name for entry in scratch.iterdir()], ["strop-worker-of-somebody-else"])

    def next_worker(self, scratch):
        subprocess.run([os.path.abspath(BINARY), "worker"], input='{"op": "ping"}\n', text=True, capture_output=True, check=True,
                       env=environment(TMPDIR=str(scratch)))


class Elsewhere(Workers):
    def away(self):
        """A command whose worker sees nothing of this test's folder."""
        if not may_mount():
            self.skipTest("no mount namespaces for this user")
        hide = self.folder / "problems"
        return (f"unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs none {hide} && cd / && exec {WORKER}'")

    def test_the_problem_travels(self):
        (self.place / "helper.py").write_text("import numpy as np\nzero = np.load(__file__.replace('helper.py', 'z.npy'))\n",
                                              encoding="utf-8")
        subprocess.run([os.environ.get("STROP_PYTHON", f"{environment()['STROP_HOME']}/.venv/bin/python"), "-c",
                        "import numpy, sys; numpy.save(sys.argv[1], numpy.float32(0))", str(self.place / "z.npy")], check=True)
        self.problem("shifted", "import helper; return np.maximum(x + b, helper.zero)")
        done = self.judge(self.away())
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("verdict: ok", done.stdout)

    def test_a_full_disk_is_no_fault_of_a_kernel(self):
        if not may_mount():
            self.skipTest("no mount namespaces for this user")
        disk = self.folder / "disk"
        disk.mkdir()
        full = f"mount -t tmpfs -o size=24k none {disk} && TMPDIR={disk}"
        for variables in ("", f"STROP_CACHE={self.folder}/cache"):    # with what is known of the machine, and without
            done = self.judge(f"unshare -m sh -c '{full} {variables} exec {WORKER}'")
            self.assertEqual(done.returncode, 3, done.stderr + done.stdout)
            self.assertRegex(done.stderr, "its disk is full|No space left on device")
            self.assertNotIn("compile_failed", done.stdout)

    def test_a_run_finishes_and_says_what_was_left_out(self):
        worker = self.away()
        done = strop(*RUN, "--json", "--worker", worker, cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        record = json.loads(done.stdout)
        self.assertTrue(record["verified"], record["verification"])
        self.assertEqual(record["settings"]["worker"], worker)
        self.assertEqual(record["in_process"]["missing"], "the worker may be on another machine")
        self.assertGreater(record["machine"]["ceilings"]["memory_copy"], 0)

    def test_errors_name_the_users_files(self):
        self.problem("shifted", "raise ValueError('no')")
        mine = strop("judge", "kernel.cpp", "--problem", str(self.place), cwd=self.folder)
        away = self.judge(self.away())
        self.assertIn(f"{self.place}/reference.py:", mine.stderr)
        self.assertEqual((away.returncode, away.stderr), (mine.returncode, mine.stderr))

    def test_what_cannot_travel_is_named(self):
        worker = self.away()
        (self.place / "reference.py").rename(self.folder / "reference.py")
        (self.place / "reference.py").symlink_to(self.folder / "reference.py")
        done = self.judge(worker)
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (2, f"strop: {self.place}/reference.py: is a link"))


class Lost(Workers):
    def loses(self, then, first=WORKER):
        """The worker `first` is killed while it judges its first kernels; from then on `then` is started."""
        return self.script(f"""[ -e died ] && {{ {then}; }}
mkfifo pipe
{first} < pipe &
while read -r line; do
    printf '%s\\n' "$line"
    case "$line" in *'"op":"evaluate"'*) touch died; kill -9 $!; exit 9;; esac
done > pipe""")

    def outcome(self):
        [run] = json.loads(strop("runs", "--store", "runs.db", "--json", cwd=self.folder).stdout)
        return run["run"], run["outcome"]

    def test_a_run_goes_on_with_a_new_one(self):
        done = strop(*RUN, "--json", "--worker", self.loses(f"exec {WORKER}"), cwd=self.folder)
        self.assertTrue((self.folder / "died").exists())
        self.assertIn(done.returncode, (0, 1), done.stderr)
        record = json.loads(done.stdout)
        self.assertTrue(record["verified"], record["verification"])
        keys = recorded(self.folder / "runs.db")
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(len(keys), record["evaluations"]["total"])

    def test_one_that_does_not_come_back_leaves_a_run_to_resume(self):
        worker = self.loses("echo 'no route to host' >&2; exit 255")
        done = strop(*RUN, "--worker", worker, cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^strop: the worker '.*' was lost and does not come back: .*no route to host$")
        run, outcome = self.outcome()
        self.assertEqual(outcome, "interrupted")
        documents = recorded(self.folder / "runs.db", "SELECT key FROM documents")
        self.script(f"exec {WORKER}")
        done = strop("resume", run, "--store", "runs.db", "--json", "--quiet", "--budget", "3s", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertTrue(json.loads(done.stdout)["verified"])
        self.assertLessEqual(set(documents), set(recorded(self.folder / "runs.db", "SELECT key FROM documents")))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core only: there is no other machine")
    def test_machines_are_not_mixed(self):
        one_core = f"taskset -c {min(os.sched_getaffinity(0))} {WORKER}"
        done = strop(*RUN, "--worker", self.loses(f"exec {WORKER}", one_core), cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^strop: the worker '.*' was lost and came back on another machine: "
                                      r".*, [0-9]+ cores, before: .*, 1 core$")
        run, outcome = self.outcome()
        self.assertEqual(outcome, "interrupted")
        done = strop("resume", run, "--store", "runs.db", "--quiet", cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, f"(?m)^strop: run {run} began on another machine: .*, 1 core; the worker's is .* cores$")
        self.assertEqual(self.outcome(), (run, "interrupted"))


class WithFakes(Workers):
    """Fakes, whose times follow from the configuration (tests/fakes/fake_worker.py)."""

    TUNED = KERNEL.replace("extern", "// strop:tune UNROLL = 1 | 2 | 4 | 8\n// strop:late AT = 1 | 2 | 3\nextern")

    def setUp(self):
        super().setUp()
        (self.folder / "kernel.cpp").write_text(self.TUNED, encoding="utf-8")

    def fake(self, name, actions="ok", *more):
        return self.fake_worker("--log", "log", "--state", f"{name}.json", "--evaluate", actions, *more)


class Several(WithFakes):
    def tune(self, *workers, code=(0, 1)):
        words = [word for worker in workers for word in ("--worker", worker)]
        done = strop("tune", "kernel.cpp", "--problem", str(self.place), "--exhaustive", "--budget", "20s", "--seed", "3",
                     "--store", "runs.db", "--json", *words, cwd=self.folder)
        self.assertIn(done.returncode, code, done.stderr)
        return done

    def meeting(self, name, others):
        """One that answers once the others have begun a share of theirs, which it would take otherwise."""
        return self.fake(name, "ok", *(word for other in others if other != name for word in ("--meets", f"{other}.json")))

    def answered(self):
        """[process, kernel, configuration] of each answer; the log begins anew."""
        lines = [json.loads(line) for line in (self.folder / "log").read_text(encoding="utf-8").splitlines()]
        (self.folder / "log").unlink()
        return [line for line in lines if line[1] != "reseed"]

    def found(self, record):
        return [(regime["kernel"], regime["configuration"], regime["condition"]) for regime in record["regimes"]]

    def configurations(self, entries):
        return sorted(json.dumps(entry, sort_keys=True) for entry in entries)

    def test_any_number_finds_the_same(self):
        one = json.loads(self.tune(self.fake("a")).stdout)
        alone = self.answered()
        three = json.loads(self.tune(*(self.meeting(name, "bcd") for name in "bcd")).stdout)
        shared = self.answered()
        self.assertEqual(self.found(one), self.found(three))
        self.assertEqual(self.configurations(entry[2] for entry in alone),
                         self.configurations(entry[2] for entry in shared))
        self.assertEqual(len(alone), one["evaluations"]["total"])
        self.assertEqual(len({entry[0] for entry in shared}), 3)
        self.assertEqual([use["dropped"] for use in three["workers"]], ["", "", ""])
        self.assertEqual(sum(use["evaluations"] for use in three["workers"]), len(shared))
        self.assertEqual((one["settings"]["batch_workers"], three["settings"]["batch_workers"]), (1, 3))
        shown = strop("report", three["run"], "--store", "runs.db", cwd=self.folder).stdout
        self.assertRegex(shown, r"(?s)workers +3 took part: .* batch")

    def test_one_that_is_lost_costs_nothing(self):
        done = self.tune(self.fake("a", "ok", "--meets", "b.json:2"), self.fake("b", "dies", "--then", "fingerprint=elsewhere"))
        record = json.loads(done.stdout)
        self.assertRegex(done.stderr, r"the worker '.*' was lost and came back on another machine: .*; "
                                      r"going on with 1 of 2 workers")
        answered = self.answered()
        self.assertEqual(len(answered), 12)
        self.assertEqual(len(set(self.configurations(entry[2] for entry in answered))), 12)
        self.assertEqual(record["evaluations"]["total"], 12)
        [a, b] = record["workers"]
        self.assertEqual((a["dropped"], b["batches"]), ("", 0))
        self.assertIn("came back on another machine", b["dropped"])

    def test_one_whose_machine_is_in_trouble_is_left_out(self):
        """It says so itself: others go on, and alone the run is saved."""
        trouble = r"the worker '.*' cannot go on: /tmp/x: cannot be written: No space left on device"
        done = self.tune(self.meeting("a", "b"), self.fake("b", "full"))
        self.assertRegex(done.stderr, f"{trouble}; going on with 1 of 2 workers")
        self.assertEqual(json.loads(done.stdout)["evaluations"]["total"], 12)
        self.assertEqual(len(self.answered()), 12)
        done = self.tune(self.fake("c", "ok,full"), code=[3])
        said = done.stderr.splitlines()
        self.assertRegex(said[-2], f"^strop: {trouble}$")
        self.assertEqual(said[-1], "hint: free some disk space")
        outcomes = [run["outcome"] for run in json.loads(strop("runs", "--store", "runs.db", "--json", cwd=self.folder).stdout)]
        self.assertIn("interrupted", outcomes)

    def test_what_one_complains_of_is_one_short_line(self):
        done = self.tune(self.fake("a", "shouts"), code=(3,))
        [line] = [line for line in done.stderr.splitlines() if "No space left" in line]
        self.assertLess(len(done.stderr), 10000)
        self.assertNotIn("\x1b", line)

    def test_an_answer_that_does_not_end_is_none(self):
        done = self.tune(self.fake("b", "huge,ok"))
        self.assertRegex(done.stderr, "the worker '.*' was lost .the worker's answer is malformed: .* and started again")
        self.assertEqual(json.loads(done.stdout)["evaluations"]["total"], 12)

    def test_one_that_differs_is_refused(self):
        for change, phrase in (("fingerprint=x", "is on another machine than the worker '.* a.json .*': "),
                               ("toolchain=x", "has another compiler than the worker '.* a.json .*': x, and there "),
                               ("strop=9.8", "is of another version: strop 9.8 ")):
            done = self.tune(self.fake("a"), self.fake("b", "ok", "--set", change), code=[3])
            said = done.stderr.splitlines()
            self.assertRegex(said[-2], f"^strop: the worker '.* b.json .*' {phrase}")
            self.assertRegex(said[-1], "^hint: ")

    def test_several_that_are_all_lost_leave_a_run_to_resume(self):
        """Begun by two, each killed after its first share; ended by one: nothing is lost, nothing is done twice."""
        one_core = f"taskset -c {min(os.sched_getaffinity(0))}"
        worker = self.script(f"""[ -e died$1 ] && exec {one_core} {WORKER}
mkfifo pipe$1
{WORKER} < pipe$1 &
while read -r line; do
    printf '%s\\n' "$line"
    case "$line" in *'"op":"evaluate"'*|*'"op":"compare"'*) [ -e once$1 ] && {{ touch died$1; kill -9 $!; exit 9; }};; esac
    case "$line" in *'"op":"evaluate"'*) touch once$1;; esac
done > pipe$1""")
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core only: there is no other machine")
        words = ["optimize", "shifted", "--budget", "5s", "--evaluations", "24", "--seed", "5", "--store", "runs.db",
                 "--quiet"]
        done = strop(*words, "--worker", f"{worker} 1", "--worker", f"{worker} 2", cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "(?m)^strop: all 2 workers are lost; the last: the worker '.*' was lost and came back "
                                      "on another machine: ")
        [run] = json.loads(strop("runs", "--store", "runs.db", "--json", cwd=self.folder).stdout)
        self.assertEqual(run["outcome"], "interrupted")
        kept = recorded(self.folder / "runs.db")
        self.assertGreater(len(kept), 0)
        done = strop("resume", run["run"], "--store", "runs.db", "--json", "--quiet", "--worker", f"{WORKER}",
                     "--budget", "4s", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        record = json.loads(done.stdout)
        self.assertTrue(record["verified"], record["verification"])
        self.assertEqual(record["settings"]["batch_workers"], 2)
        keys = recorded(self.folder / "runs.db")
        self.assertEqual(keys[:len(kept)], kept)
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(len(keys), record["evaluations"]["total"])

    def test_a_recording_is_replayed_without_workers(self):
        file = self.folder / "workers.yaml"
        file.write_text(f"near: {{start: '{WORKER}', count: 2}}\n", encoding="utf-8")
        done = strop(*RUN, "--json", "--worker", "near", "--record", "run.json", cwd=self.folder, STROP_WORKERS=str(file))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        record = json.loads(done.stdout)
        self.assertEqual([use["name"] for use in record["workers"]], ["near #1", "near #2"])
        done = strop("optimize", "shifted", "--replay", "run.json", "--out", "again", "--store", "again.db", "--json",
                     "--quiet", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        again = json.loads(done.stdout)
        self.assertEqual(again["settings"]["batch_workers"], 2)
        self.assertEqual([(entry["kernel"], entry["configuration"]) for entry in again["history"]],
                         [(entry["kernel"], entry["configuration"]) for entry in record["history"]])
        self.assertEqual(self.found(again), self.found(record))

    def test_mistakes_in_counts(self):
        file = self.folder / "workers.yaml"
        for count in ("0", "1001", "-1"):
            file.write_text(f"near: {{start: '{WORKER}', count: {count}}}\n", encoding="utf-8")
            done = strop(*RUN, "--worker", "near", cwd=self.folder, STROP_WORKERS=str(file))
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"strop: {file}:1: 'count' is {count}\nhint: 1 to 1000\n"))
        file.write_text(f"near: {{start: '{WORKER}', silence: 9s}}\n", encoding="utf-8")
        done = strop(*RUN, "--worker", "near", cwd=self.folder, STROP_WORKERS=str(file))
        self.assertEqual((done.returncode, done.stderr), (2, f"strop: {file}:1: 'silence' is 9 s\nhint: 10s or more: "
                                                             "one that works says so every few seconds\n"))
        self.assertFalse((self.folder / "runs.db").exists())


class Doctor(WithFakes):
    def doctor(self, *workers, words=()):
        given = [word for worker in workers for word in ("--worker", worker)]
        return strop("doctor", *given, *words, cwd=self.folder)

    def test_says_who_answers(self):
        done = self.doctor(self.script(f"echo 'Welcome to node 7!'; exec {WORKER}"))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"(?m)^answers +strop \S+, after .*s, a question and its answer take .*s$")
        self.assertRegex(done.stdout, r"(?m)^machine +.* cores?$")
        self.assertRegex(done.stdout, r"(?m)^languages +cpp")
        self.assertRegex(done.stdout, r"(?m)^before it +Welcome to node 7! \(passed over\)$")
        document = json.loads(self.doctor(WORKER, words=["--json"]).stdout)
        [worker] = document["workers"]
        self.assertTrue(worker["usable"])
        self.assertGreater(worker["round_trip_seconds"], 0)

    def test_says_what_is_wrong(self):
        workers = [self.fake("a"), self.fake("b", "ok", "--set", "fingerprint=x"),
                   self.fake("c", "ok", "--set", "toolchain=x"), self.fake("d", "ok", "--set", "strop=9.8"),
                   "sh -c 'echo nobody here >&2; exit 5'", "sh -c 'echo Password:; sleep 60'"]
        done = self.doctor(*workers, words=["--json", "--worker-wait", "5s"])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "^strop: the worker '.* b.json .*' is on another machine than the worker '.*'\nhint: .*\n$")
        problems = [worker.get("problem", "") for worker in json.loads(done.stdout)["workers"]]
        for problem, phrase in zip(problems, ("^$", "is on another machine than", "has another compiler than",
                                              "is of another version: strop 9.8", "ended before it began: exit 5: nobody here",
                                              "said nothing that a worker says for 5 s; it printed last: Password:")):
            self.assertRegex(problem, phrase)


if __name__ == "__main__":
    unittest.main()
