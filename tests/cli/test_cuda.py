"""Kernels on a CUDA device, from outside: a stand-in for NVIDIA's driver and for nvcc (tests/fakes/cuda) runs them on the
processor. scripts/gpu runs the same commands where there is a GPU."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.cli.strop_cli import HOME, InFolder, strop, violations

FAKES = pathlib.Path(HOME) / "tests" / "fakes" / "cuda"
EXPLOITS = pathlib.Path(HOME) / "tests" / "exploits" / "cuda"
# Whatever the stand-in cannot show: streams that are busy, half precision, an endless loop on a device.
NEEDS_A_GPU = {"works_on_another_stream", "launches_from_a_thread", "float16_inside", "fills_memory", "works_between_calls"}


@unittest.skipUnless(shutil.which("clang++-19"), "clang++-19 is missing")
class Cuda(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.driver = tempfile.TemporaryDirectory(prefix="strop-fake-cuda-")
        cls.addClassCleanup(cls.driver.cleanup)
        subprocess.run(["clang++-19", "-std=c++17", "-shared", "-fPIC", "-O1", "-o", cls.driver.name + "/libcuda.so.1",
                        str(FAKES / "driver.cpp")], check=True)

    def setUp(self):
        super().setUp()
        self.with_gpu = {"CUDA_HOME": str(FAKES), "LD_LIBRARY_PATH": self.driver.name}

    def problem_of_rows(self, name, shipped):
        """A shipped problem at shapes that suit the stand-in."""
        folder = self.folder / name
        shutil.copytree(pathlib.Path(HOME) / "problems" / shipped, folder)
        file = folder / "problem.yaml"
        text = re.sub(r"(?ms)^shapes:.*?^range:", "shapes:\n  small: {M: 70, N: 9}\n  wide: {M: 5, N: 40}\nrange:",
                      file.read_text(encoding="utf-8"))
        text = re.sub(r"(?m)^baselines:.*\n", "", text).replace("16384", "128")
        file.write_text(text, encoding="utf-8")
        return folder

    def test_exploits(self):
        self.problem_of_rows("rows", "row_sum")
        files = sorted(file for file in EXPLOITS.glob("*.cu") if file.stem not in NEEDS_A_GPU)
        done = strop("judge", *map(str, files), "--problem", "rows", "--device", "cuda", "--per-shape", "50ms", "--json",
                     cwd=self.folder, **self.with_gpu)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreaterEqual(len(answers), 9)
        for file, answer in zip(files, answers):
            expected = re.search(r"// expect: (.*)", file.read_text(encoding="utf-8"))[1].split(" | ")
            with self.subTest(file.stem):
                self.assertIn(answer["verdict"], expected, answer["evidence"])
        evidence = {file.stem: answer["evidence"] for file, answer in zip(files, answers)}
        self.assertIn("writes to its input x", evidence["writes_its_input"])
        self.assertIn("wrote behind the end of an output", evidence["writes_behind_the_output"])
        self.assertIn("a launch: invalid configuration argument", evidence["too_many_threads"])

    def test_optimize_and_check(self):
        self.problem_of_rows("rows", "softmax")
        done = strop("optimize", "rows", "--device", "cuda", "--budget", "8s", "--out", "result", cwd=self.folder,
                     **self.with_gpu)
        self.assertIn(done.returncode, (0, 1), done.stderr)  # NumPy may be faster than the stand-in
        self.assertIn("kernels on Fake GPU (sm_90), CUDA 13.0, nvcc 13.0.88", " ".join(done.stdout.split()))
        self.assertRegex(done.stdout, r"(\d+) of \1 held-out shapes correct")
        result = self.folder / "result"
        self.assertEqual(sorted(os.listdir(result)),
                         ["report.html", "report.json", "report.md", "softmax.cu", "softmax.h", "softmax.py"])
        source = (result / "softmax.cu").read_text(encoding="utf-8")
        self.assertIn('extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {',
                      source)
        self.assertNotIn("strop:tune", source)
        if importlib.util.find_spec("torch"):
            self.call(result / "softmax.py")
        report = json.loads((result / "report.json").read_text(encoding="utf-8"))
        self.assertTrue(report["verified"])
        schema = json.loads((pathlib.Path(HOME) / "docs" / "report.schema.json").read_text(encoding="utf-8"))
        self.assertEqual(violations(report, schema), [])
        self.assertIn("optimize " + str(self.folder / "rows") + " --device cuda --budget 8s",
                      (result / "report.md").read_text(encoding="utf-8"))
        self.assertNotIn("OpenCL", (result / "report.html").read_text(encoding="utf-8"))
        self.assertNotIn("OpenCL", (result / "report.md").read_text(encoding="utf-8"))
        checked = strop("check", "result", "--tolerance", "0.9", cwd=self.folder, **self.with_gpu)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
        (result / "softmax.cu").write_text(source.replace("/ sum", "/ (sum + 1)"), encoding="utf-8")
        checked = strop("check", "result", "--tolerance", "0.9", cwd=self.folder, **self.with_gpu)
        self.assertEqual(checked.returncode, 1, checked.stdout)
        self.assertIn("wrong_output", checked.stdout)

    def call(self, module):
        """The module's function, with tensors of the processor in place of a GPU's."""
        code = (
            "import pathlib, sys, torch\n"
            "torch.cuda.current_device, torch.cuda.get_device_capability = lambda: None, lambda device: (9, 0)\n"
            "torch._C._cuda_getCurrentRawStream = lambda device: 0\n"
            "names = {'__file__': sys.argv[1], '__name__': 'softmax'}\n"
            "exec(pathlib.Path(sys.argv[1]).read_text().replace('\"cuda\"', '\"cpu\"'), names)\n"
            "softmax, x = names['softmax'], torch.randn(5, 40)\n"
            "out = torch.empty(5, 40)\n"
            "assert (softmax(x) - torch.softmax(x, 1)).abs().max() < 1e-6\n"
            "assert softmax(x, out=out) is out and torch.equal(out, softmax(x))\n"
            "for wrong in (x.T, x.double(), x[0], x.numpy(), torch.empty(201)[1:].view(5, 40)):\n"
            "    try:\n"
            "        print('taken:', softmax(wrong))\n"
            "    except (TypeError, ValueError) as error:\n"
            "        print(error)\n")
        done = subprocess.run([sys.executable, "-c", code, str(module)], capture_output=True, text=True, check=False,
                              env={**os.environ, **self.with_gpu})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines(),
                         ["softmax: x is not contiguous; expected row-major memory as of x.contiguous()",
                          "softmax: x has dtype torch.float64; expected float32",
                          "softmax: x has shape (40,); expected 2 dimensions, [M, N]",
                          "softmax: x is of type ndarray; expected a CUDA tensor",
                          "softmax: x begins at no multiple of 16 bytes; expected memory as of x.clone()"])

    def test_a_device_that_is_busy_between_calls(self):
        self.problem_of_rows("rows", "row_sum")
        for busy, verdict, evidence in (("always", "nondeterministic", "somebody else uses the device"),
                                        ("candidate", "cheated", "works on the device while none of its calls runs")):
            if busy == "candidate" and not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
                continue  # a system that does not say whose children run
            with self.subTest(busy):
                done = strop("judge", str(EXPLOITS / "honest.cu"), "--problem", "rows", "--device", "cuda", "--json",
                             cwd=self.folder, FAKE_CUDA_BUSY=busy, **self.with_gpu)
                answer = json.loads(done.stdout)
                self.assertEqual((answer["verdict"], answer["evidence"]), (verdict, evidence))

    def test_a_kernel_of_ones_own(self):
        self.problem_of_rows("rows", "row_sum")
        own = self.folder / "own.cu"
        own.write_text("// strop:tune THREADS = 64 | 32\n" + (EXPLOITS / "honest.cu").read_text(encoding="utf-8").replace(
            "(M + 63) / 64), 64,", "(M + THREADS - 1) / THREADS), THREADS,"), encoding="utf-8")
        done = strop("tune", "own.cu", "--problem", "rows", "--budget", "8s", "--out", "tuned", "--json", cwd=self.folder,
                     **self.with_gpu)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual({kernel["language"] for kernel in json.loads(done.stdout)["kernels"]}, {"cuda"})
        self.assertTrue((self.folder / "tuned" / "row_sum.cu").is_file())
        done = strop("judge", "own.cu", "own.cu", "--problem", "rows", "--device", "cuda", "--set", "THREADS=32", "--json",
                     cwd=self.folder, **self.with_gpu)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["in_turns_with"], "own.cu")
        self.fails(["optimize", "rows", "--device", "cuda", "--kernel", str(EXPLOITS / "none.cpp")], 2,
                   f"{EXPLOITS / 'none.cpp'}: there is no such kernel",
                   'give a CUDA file (.cu): extern "C" void NAME(inputs..., outputs..., dimensions..., cudaStream_t)')

    def test_doctor(self):
        done = strop("doctor", cwd=self.folder, **self.with_gpu)
        self.assertIn("Fake GPU (sm_90), 4 GiB, CUDA 13.0; --device cuda uses it", done.stdout)
        done = strop("doctor", cwd=self.folder, FAKE_CUDA_BROKEN="1", **self.with_gpu)
        self.assertIn("no device: the driver does not start: unknown error", done.stdout)

    def test_without_what_it_needs(self):
        self.problem_of_rows("rows", "row_sum")
        honest = str(EXPLOITS / "honest.cu")
        words = ["judge", honest, "--problem", "rows", "--device", "cuda"]
        done = strop(*words, cwd=self.folder, FAKE_CUDA_BROKEN="1", **self.with_gpu)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertEqual(done.stderr.splitlines()[0], "strop: no CUDA device: the driver does not start: unknown error")
        done = strop(*words, cwd=self.folder, FAKE_CUDA_BYTES=str(4 << 20), **self.with_gpu)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr.splitlines()[0],
                         r"^strop: Fake GPU: cannot get .* of its memory for M=[0-9]+,N=[0-9]+: out of memory \(.* are free\)$")
        self.fails(["judge", honest, "--problem", "rows"], 2, f"{honest}: CUDA kernels need a device",
                   "use `strop judge --device cuda`, or --device emulated where there is no GPU")
        self.fails([*words, "--sanitize"], 2, "--sanitize and --device cuda: sanitizers see nothing of a device",
                   "leave --sanitize out; --device emulated watches every access")


if __name__ == "__main__":
    unittest.main()
