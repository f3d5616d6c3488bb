"""Workers at places where Strop is missing: it copies itself there, through anything that runs words somewhere else."""

import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import unittest

from tests.cli.strop_cli import BINARY, HOME, InFolder, environment, wait_until

KERNEL = """extern "C" void shifted(const float* x, const float* b, float* y, long M, long N) {
    for (long i = 0; i < M; ++i)
        for (long j = 0; j < N; ++j) y[i * N + j] = x[i * N + j] + b[j] > 0 ? x[i * N + j] + b[j] : 0;
}
"""
OWN_PYTHON = f"{HOME}/.venv/bin/python"
PYTHON = os.environ.get("STROP_PYTHON", OWN_PYTHON if os.path.exists(OWN_PYTHON) else sys.executable)
# With what was measured of this machine, which is every host's.
CACHE = os.environ.get("STROP_CACHE", os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "strop"))

# Like ssh, whose words a shell reads again: ssh HOST WORD...
SSH = """#!/bin/sh
echo "$*" >> {folder}/log
cd {folder}/$1 2> /dev/null || {{ echo "ssh: Could not resolve hostname $1" >&2; exit 255; }}
shift
unset STROP_HOME STROP_STORE
export HOME=$PWD STROP_PYTHON={python} STROP_CACHE={cache} PATH={folder}/tools:$PATH
exec sh -c "$*"
"""
# Like docker: docker exec -i BOX WORD..., and docker run -i IMAGE WORD..., where each time is the first.
DOCKER = """#!/bin/sh
echo "$*" >> {folder}/log
if [ "$1" = run ]; then cd "$(mktemp -d {folder}/box-XXXXXX)"; else cd {folder}/$3; fi
shift 3
exec env -i HOME="$PWD" STROP_PYTHON={python} STROP_CACHE={cache} PATH="$PATH" "$@"
"""


class Places(InFolder):
    """With an installed program, which is smaller than the build's."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="strop-installed-")
        cls.addClassCleanup(folder.cleanup)
        subprocess.run(["cmake", "--install", os.path.dirname(os.path.abspath(BINARY)), "--strip", "--prefix", folder.name],
                       check=True, stdout=subprocess.DEVNULL)
        cls.installed = pathlib.Path(folder.name)

    def setUp(self):
        super().setUp()
        (self.folder / "gpu1").mkdir()
        (self.folder / "tools").mkdir()
        self.ssh = self.program("ssh", SSH)
        self.docker = self.program("docker", DOCKER)
        self.copies = self.folder / "gpu1/.cache/strop"

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text.format(folder=self.folder, python=PYTHON, cache=CACHE), encoding="utf-8")
        path.chmod(0o755)
        return path

    def tool(self, name, text):
        """What the host has under this name."""
        self.program(f"tools/{name}", "#!/bin/sh\n" + text + "\n")

    def named(self, text):
        (self.folder / "workers.yaml").write_text(text, encoding="utf-8")

    def variables(self):
        names = environment(STROP_WORKERS=str(self.folder / "workers.yaml"), STROP_PYTHON=PYTHON)
        del names["STROP_HOME"]
        return names

    def strop(self, *words, program=None):
        return subprocess.run([program or self.installed / "bin/strop", *words], capture_output=True, text=True,
                              check=False, timeout=120, cwd=self.folder, env=self.variables())

    def strop_worker_says(self, line):
        return subprocess.run([self.installed / "bin/strop", "worker"], input=line + "\n", text=True, capture_output=True,
                              check=True, env=self.variables()).stdout

    def start(self, *words):
        process = subprocess.Popen([self.installed / "bin/strop", *words], cwd=self.folder, env=self.variables(),
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def doctor(self, worker, *words, program=None):
        return self.strop("doctor", "--worker", str(worker), *words, program=program)

    def logged(self, part):
        log = self.folder / "log"
        return [line for line in log.read_text("utf-8").splitlines() if part in line] if log.exists() else []

    def copied(self):
        return sorted(entry.name for entry in self.copies.iterdir()) if self.copies.exists() else []

    def answers(self, done):
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertRegex(done.stdout, r"(?m)^answers ")

    def refused(self, worker, phrase, hint):
        done = self.doctor(worker)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, f"(?m)^strop: {phrase}$")
        self.assertRegex(done.stderr, f"(?m)^hint: {hint}$")


class Copying(Places):
    def test_it_is_copied_where_it_is_missing_and_judges_there(self):
        problem = self.problem("shifted")
        (self.folder / "kernel.cpp").write_text(KERNEL, encoding="utf-8")
        (self.folder / "box").mkdir()
        for worker in (f"{self.ssh} gpu1", f"{self.docker} exec -i box"):
            done = self.strop("judge", "kernel.cpp", "--problem", str(problem), "--per-shape", "20ms", "--worker", worker)
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            self.assertRegex(done.stderr, rf"^{worker}: copying Strop there \([\d.]+ MiB\)\n$")
            self.assertIn("verdict: ok", done.stdout)
            (self.folder / "log").unlink()
            again = self.doctor(worker)
            self.answers(again)
            self.assertEqual((again.stderr, len(self.logged(""))), ("", 1))    # the start alone

    def test_a_run_says_that_it_copies(self):
        self.problem("shifted")
        done = self.strop("optimize", "shifted", "--budget", "3s", "--evaluations", "4", "--seed", "5", "--store",
                          "runs.db", "--worker", f"{self.ssh} gpu1")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertRegex(done.stderr, r"ssh gpu1: copying Strop there \(")

    def test_the_copy_runs_by_itself(self):
        self.answers(self.doctor(f"{self.ssh} gpu1"))
        [name] = self.copied()
        program = self.copies / name / "bin/strop"
        found = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"{self.copies / name}/lib/", found.replace("bin/../", ""))
        done = self.strop("doctor", program=program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([path for path in (self.copies / name).rglob("*") if path.is_symlink()], [])

    def test_another_build_goes_into_a_folder_of_its_own(self):
        self.answers(self.doctor(f"{self.ssh} gpu1"))
        done = self.doctor(f"{self.ssh} gpu1", program=os.path.abspath(BINARY))
        self.answers(done)
        self.assertEqual(len(self.copied()), 2)

    def test_a_file_says_where_it_goes(self):
        self.named(f"near: {{at: '{self.ssh} gpu1', folder: {self.folder}/elsewhere}}\n")
        done = self.doctor("near")
        self.answers(done)
        self.assertIn("near: copying Strop there", done.stderr)
        self.assertEqual(len(list((self.folder / "elsewhere").iterdir())), 1)

    def test_workers_of_one_place_copy_once(self):
        self.named(f"near: {{at: '{self.ssh} gpu1', count: 3}}\n")
        done = self.doctor("near", "--json")
        self.assertEqual([worker["usable"] for worker in json.loads(done.stdout)["workers"]], [True] * 3, done.stderr)
        self.assertEqual(len(self.logged("tar")), 1)

    def test_two_commands_may_copy_at_once(self):
        meet = f"touch {self.folder}/$PPID-here; while [ $(ls {self.folder} | grep -c here) -lt 2 ]; do sleep 0.05; done"
        self.tool("mv", f"{meet}; exec /bin/mv \"$@\"")
        both = [self.start("doctor", "--worker", f"{self.ssh} gpu1") for _ in range(2)]
        for process in both:
            out, said = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, said + out)
        self.assertEqual(len(self.logged("mv -T")), 2)
        self.assertEqual(len(self.copied()), 1)


class Failing(Places):
    def test_what_cannot_be_reached_is_told_as_ever(self):
        self.refused(f"{self.ssh} gpu2", "the worker '.*' ended before it began: exit 255: ssh: Could not resolve hostname gpu2",
                     "try the command by itself: .*")
        self.assertEqual(self.logged("uname"), [])

    def test_one_that_is_there_and_ends_is_not_copied_again(self):
        self.answers(self.doctor(f"{self.ssh} gpu1"))
        [name] = self.copied()
        (self.copies / name / "bin/strop").write_text("#!/bin/sh\necho 'no such instruction' >&2\nexit 3\n", "utf-8")
        self.refused(f"{self.ssh} gpu1", "the worker '.*' ended before it began: exit 3: no such instruction", ".*")
        self.assertEqual(len(self.logged("tar")), 1)

    def test_no_right_to_write(self):
        self.named(f"near: {{at: '{self.ssh} gpu1', folder: /dev/null/strop}}\n")
        self.refused("near", "the worker 'near': `mkdir -p /dev/null/strop/.*` failed there: exit 1: mkdir: .*Not a directory",
                     "`folder:` in workers.yaml names another folder")

    def test_a_full_disk_and_no_tar(self):
        self.tool("tar", "echo 'tar: bin/strop: Cannot write: No space left on device' >&2\n"
                         "echo 'tar: Exiting with failure status due to previous errors' >&2; exit 2")
        self.refused(f"{self.ssh} gpu1", "the worker '.*': `tar .*` failed there: exit 2: "
                                         "tar: bin/strop: Cannot write: No space left on device",
                     "tar and gzip have to be there, and room; .*")
        self.assertEqual(self.copied(), [])
        self.tool("tar", "echo 'tar: not found' >&2; exit 127")
        self.refused(f"{self.ssh} gpu1", "the worker '.*': `tar .*` failed there: exit 127: tar: not found", "tar and .*")

    def test_another_architecture(self):
        other = "aarch64" if platform.machine() != "aarch64" else "x86_64"
        self.tool("uname", f"echo 'Welcome!'; echo {other}")
        self.refused(f"{self.ssh} gpu1", f"the worker '.*' cannot be copied to: its machine is {other}, "
                                         f"this program is for {platform.machine()}",
                     "install it there and name the worker by `start:` in workers.yaml")
        self.assertEqual(self.copied(), [])

    def test_a_shell_that_says_more_before_and_after(self):
        self.program("ssh", SSH.replace('exec sh -c "$*"', 'echo Welcome; sh -c "$*"; code=$?; echo Goodbye; exit $code'))
        self.answers(self.doctor(f"{self.ssh} gpu1"))

    def test_a_file_system_on_which_nothing_may_be_executed(self):
        self.tool("mv", 'chmod 644 "$2/bin/strop"; exec /bin/mv "$@"')
        for _ in range(2):    # and it is not copied again
            self.refused(f"{self.ssh} gpu1", r"the worker '.*': .*/bin/strop is there, and may not be executed",
                         "`folder:` in workers.yaml names another folder")
            self.assertEqual(len(self.logged("tar ")), 1)

    def test_each_command_somewhere_else(self):
        self.refused(f"{self.docker} run -i image", "the worker '.*': Strop was copied there and is not there",
                     "does each of its commands reach the same machine. .*")

    def test_a_command_that_never_ends(self):
        self.tool("test", "sleep 60")    # a shell has a test of its own
        self.named(f"near: {{at: 'env PATH={self.folder}/tools:{os.environ['PATH']}', folder: {self.folder}/elsewhere}}\n")
        process = self.start("doctor", "--worker", "near")
        self.assertRaises(subprocess.TimeoutExpired, process.wait, 3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)


class NamedDevices(Places):
    def setUp(self):
        super().setUp()
        self.place = self.problem("shifted")
        (self.folder / "kernel.cpp").write_text(KERNEL, encoding="utf-8")
        self.file = self.folder / "workers.yaml"

    def optimize(self, *words):
        return self.strop("optimize", "shifted", "--budget", "3s", "--evaluations", "4", "--seed", "5", "--store", "runs.db",
                          "--quiet", *words)

    def mistaken(self, phrase, hint, *words):
        done = self.optimize(*words)
        self.assertEqual((done.returncode, done.stderr), (2, f"strop: {phrase}\nhint: {hint}\n"))

    def test_a_worker_is_a_device(self):
        self.named(f"near: {{at: '{self.ssh} gpu1', languages: [cpp]}}\n")
        done = self.optimize("--device", "near", "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        settings = json.loads(done.stdout)["settings"]
        self.assertEqual((settings["worker"], settings["device"]), ("near", "cpu"))
        judged = self.strop("judge", "kernel.cpp", "--problem", str(self.place), "--per-shape", "20ms", "--device", "near")
        self.assertEqual((judged.returncode, judged.stderr), (0, ""), judged.stdout)
        self.assertEqual(len(self.logged("strop worker")), 3)    # the first of them found nothing there

    def test_what_is_no_device(self):
        self.mistaken("--device: 'nea' does not fit", f"choose from cpu, opencl, cuda, or a name in {self.file}",
                      "--device", "nea")
        self.named(f"near: {{at: '{self.ssh} gpu1'}}\nfar: {{at: ssh far}}\n")
        self.mistaken("--device: 'nea' does not fit", f"choose from cpu, opencl, cuda, or of {self.file}: near, far",
                      "--device", "nea")
        self.named(f"cpu: {{at: ssh nowhere}}\nmy box: {{at: ssh nowhere}}\nnear: {{at: '{self.ssh} gpu1'}}\nfar: {{at: ssh far}}\n")
        self.mistaken("--device: 'my box' does not fit", f"choose from cpu, opencl, cuda, or of {self.file}: near, far",
                      "--device", "my box")
        judged = self.strop("judge", "kernel.cpp", "--problem", str(self.place), "--device", "cpu")
        self.assertEqual(judged.returncode, 2, judged.stderr)
        self.mistaken("--device near and --worker exclude each other",
                      "the name is a worker itself: leave one of them out", "--device", "near", "--worker", "far")

    def test_languages_of_one_device(self):
        self.named("both: {at: ssh a, languages: [cuda, cpp]}\nodd: {at: ssh a, languages: [triton, tilelang]}\n"
                   "h100: {at: ssh a, languages: [cuda, triton]}\nwrong: {at: ssh a, languages: [tritn]}\n")
        self.mistaken("--device both: its languages run on two devices: cuda, cpp",
                      "give each device a name of its own in workers.yaml: the same `at` or `start`, other `languages`",
                      "--device", "both")
        self.mistaken("--device odd: kernels in triton and tilelang are not judged",
                      "add cuda to its languages in workers.yaml", "--device", "odd")
        self.mistaken(f"{self.file}:4: 'tritn' is no language of kernels",
                      "did you mean 'triton'? known: cpp, opencl, cuda, triton, tilelang", "--device", "wrong")
        done = self.strop("judge", "kernel.cpp", "--problem", str(self.place), "--device", "h100")    # is --device cuda
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                         (2, "strop: kernel.cpp: --device cuda is for CUDA kernels"))

    def test_cuda_kernels_run_on_the_workers_device(self):
        """By a fake, whose device this machine need not have."""
        greeting = self.strop_worker_says('{"op": "hello"}')
        (self.folder / "greeting.json").write_text(greeting, encoding="utf-8")
        self.named(f"h100: {{start: '{sys.executable} {HOME}/tests/fakes/fake_worker.py --greeting greeting.json "
                   "--set \"device=NVIDIA H100 (sm_90), CUDA 12.4\"', languages: [cuda]}\n")
        done = self.optimize("--device", "h100", "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        record = json.loads(done.stdout)
        self.assertEqual((record["settings"]["worker"], record["settings"]["device"], record["device"]),
                         ("h100", "cuda", "NVIDIA H100 (sm_90), CUDA 12.4"))
        self.assertEqual({kernel["language"] for kernel in record["kernels"]}, {"cuda"})


class Interrupted(Places):
    def start_copying(self):
        """A command that is killed or stopped while it copies."""
        self.tool("tar", f"touch {self.folder}/begun; cat > /dev/null; sleep 60")
        process = self.start("doctor", "--worker", f"{self.ssh} gpu1")
        self.assertTrue(wait_until((self.folder / "begun").exists))
        return process

    def test_ctrl_c_leaves_nothing(self):
        process = self.start_copying()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.copied(), [])

    def test_what_one_that_was_killed_left_does_no_harm(self):
        process = self.start_copying()
        process.kill()
        process.communicate(timeout=20)
        [part] = self.copied()
        self.assertIn(".", part)
        (self.folder / "tools/tar").unlink()
        self.answers(self.doctor(f"{self.ssh} gpu1"))
        self.assertEqual(len(self.copied()), 2)


class Lost(Places):
    def test_one_that_is_lost_is_copied_again_where_it_is_gone(self):
        """The worker dies in its first batch, and its machine has forgotten all when it is started again."""
        self.answers(self.doctor(f"{self.ssh} gpu1"))
        [name] = self.copied()
        greeting = self.strop_worker_says('{"op": "hello"}')
        (self.folder / "greeting.json").write_text(greeting, encoding="utf-8")
        fake = (f"{sys.executable} {HOME}/tests/fakes/fake_worker.py --greeting {self.folder}/greeting.json "
                f"--state {self.folder}/state --evaluate dies,ok")
        real = self.ssh.read_text(encoding="utf-8").replace(
            "shift\n", f"shift\nif [ \"$2\" = worker ] && [ -x \"$1\" ]; then\n  if [ -e died ]; then exec {fake}; fi\n"
                       f"  touch died; {fake}; rm -rf .cache; exit 1\nfi\n")
        self.ssh.write_text(real, encoding="utf-8")
        (self.folder / "log").unlink()
        self.problem("shifted")
        (self.folder / "kernel.cpp").write_text(KERNEL, encoding="utf-8")
        done = self.strop("judge", "kernel.cpp", "--problem", str(self.folder / "problems/shifted"), "--worker",
                          f"{self.ssh} gpu1", "--json")
        self.assertRegex(done.stderr, "copying Strop there")
        self.assertRegex(done.stderr, "was lost .* and started again")
        self.assertEqual(len(self.logged("tar")), 1)
        self.assertEqual(self.copied(), [name])


if __name__ == "__main__":
    unittest.main()
