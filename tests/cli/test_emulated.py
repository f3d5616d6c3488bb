"""CUDA kernels in the emulator, from outside."""

import json
import pathlib
import re
import shutil
import unittest

from tests.cli.strop_cli import HOME, InFolder, strop

SHIFTED = """// strop:tune BLOCK = 128 | 32
__global__ void shift(const float* x, const float* b, float* y, int64_t M, int64_t N) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < M * N) y[i] = fmaxf(x[i] + b[i % N], 0.0f);
}

extern "C" void shifted(const float* x, const float* b, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    shift<<<(M * N + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(x, b, y, M, N);
}
"""


@unittest.skipUnless(shutil.which("clang++-19") or shutil.which("clang++"), "clang is missing")
class Emulated(InFolder):
    def setUp(self):
        super().setUp()
        self.problem("shifted")

    def write(self, name, source):
        (self.folder / name).write_text(source, encoding="utf-8")

    def judge(self, *words):
        return strop("judge", *words, "--problem", "shifted", "--device", "emulated", cwd=self.folder)

    def test_right_and_wrong_ones(self):
        self.write("good.cu", SHIFTED)
        self.write("tail.cu", SHIFTED.replace("if (i < M * N) ", ""))
        self.write("wrong.cu", SHIFTED.replace("b[i % N]", "b[0]"))
        self.write("broken.cu", SHIFTED.replace("y[i] =", "z[i] ="))
        done = self.judge("good.cu", "tail.cu", "wrong.cu", "broken.cu", "--json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        good, tail, wrong, broken = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((good["verdict"], good["evidence"], good["not_run"], good["device"]), ("ok", "", [], "emulated"))
        self.assertGreater(len(good["shapes"]), 8)
        self.assertNotIn("nanoseconds", good["shapes"][0])
        self.assertEqual(tail["verdict"], "crashed")
        self.assertRegex(tail["evidence"], "^out of bounds: a read of 4 bytes that begins 0 bytes behind the end of x "
                                           r"\(\d+ bytes\) at tail.cu:4 in kernel shift, block \(0, 0, 0\), thread ")
        self.assertEqual(wrong["verdict"], "wrong_output")
        self.assertEqual(broken["verdict"], "compile_failed")
        self.assertIn("broken.cu:4:", broken["evidence"])

    def test_what_the_emulator_does_not_have_is_named(self):
        self.write("graph.cu", SHIFTED.replace("    shift<<<", "    cudaGraphLaunch(nullptr, stream);\n    shift<<<"))
        self.write("cub.cu", "#include <cub/cub.cuh>\n" + SHIFTED)
        done = self.judge("graph.cu", "cub.cu", "--json")
        for line, missing in zip(done.stdout.splitlines(), ("cudaGraphLaunch", "cub/cub.cuh"), strict=True):
            found = json.loads(line)
            self.assertEqual(found["verdict"], "compile_failed")
            self.assertTrue(found["evidence"].startswith(f"the emulator does not have {missing}"), found["evidence"])

    def test_memory_that_the_first_call_has_sized(self):
        self.write("kept.cu", SHIFTED.replace("cudaStream_t stream) {\n", "cudaStream_t stream) {\n"
                   "    static float* kept = nullptr;\n    if (!kept) cudaMalloc(&kept, M * N * sizeof(float));\n")
                   .replace("(x, b, y, M, N);", "(x, b, kept, M, N);\n"
                            "    cudaMemcpyAsync(y, kept, M * N * sizeof(float), cudaMemcpyDeviceToDevice, stream);"))
        done = self.judge("kept.cu", "--json")
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["verdict"]), (1, "crashed"), done.stdout)
        self.assertRegex(found["evidence"], "^after another shape: out of bounds: .* cudaMalloc")

    def test_a_problem_with_a_name_of_cuda(self):
        place = self.problem("half")
        (place / "reference.py").write_text((place / "reference.py").read_text().replace("def shifted", "def half"))
        done = strop("write", "half", "--language", "cuda", cwd=self.folder)
        self.assertIn("'half'", done.stdout + done.stderr)
        self.assertNotIn("wrote", done.stdout)

    def test_text_and_tunables(self):
        self.write("good.cu", SHIFTED)
        done = self.judge("good.cu", "--set", "BLOCK=32")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("verdict: ok, in the CUDA emulator: checked, not timed\n\nSHAPE "), done.stdout)

    def test_what_the_playbook_writes(self):
        names = strop("write", "shifted", "--language", "cuda", "--out", "sources", cwd=self.folder).stdout.split()
        done = self.judge(*names)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_extents_that_read_a_parameter(self):
        place = self.problem("strided", inputs="{x: {dtype: float32, shape: [N]}}",
                             outputs='{y: {dtype: float32, shape: ["(N - 1)//step + 1"]}}',
                             parameters="{step: {dtype: int64, value: 3}}", shapes="{small: {N: 5}, large: {N: 700}}",
                             range=None, tolerance=None)
        (place / "reference.py").write_text("def strided(x, step):\n    return x[::step] * 2\n", encoding="utf-8")
        self.write("strided.cu", """__global__ void twice(const float* x, float* y, int64_t step, int64_t count) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[i * step] * 2;
}

extern "C" void strided(const float* x, float* y, int64_t step, int64_t N, cudaStream_t stream) {
    const int64_t count = (N - 1) / step + 1;
    twice<<<(count + 127) / 128, 128, 0, stream>>>(x, y, step, count);
}
""")
        done = strop("judge", "strided.cu", "--problem", str(place), "--device", "emulated", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_tensors_of_16_bits(self):
        rows = "  few: {M: 3, N: 5}\n  some: {M: 5, N: 70}\n"
        for name, dtype, shapes in (("softmax", "bfloat16", rows), ("bias_gelu_residual", "float16", rows),
                                    ("linear_relu", "bfloat16", "  few: {M: 3, I: 5, O: 4}\n  some: {M: 7, I: 33, O: 70}\n")):
            place = self.folder / dtype / name
            shutil.copytree(pathlib.Path(HOME) / "problems" / name, place)
            file = place / "problem.yaml"
            text = re.sub(r"(?m)^baselines:.*\n", "", file.read_text(encoding="utf-8").replace("float32", dtype))
            text = re.sub(r"(?ms)^shapes:.*?^range:", f"shapes:\n{shapes}range:", text)
            file.write_text(text, encoding="utf-8")
            with self.subTest(name):
                names = strop("write", str(place), "--language", "cuda", "--out", str(place / "sources"),
                              cwd=self.folder).stdout.split()
                self.assertGreaterEqual(len(names), 1)
                done = strop("judge", *names, "--problem", str(place), "--device", "emulated", cwd=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_bad_input(self):
        self.write("good.cu", SHIFTED)
        self.write("assembly.cu", SHIFTED.replace("    if (i", "    asm volatile(\"membar.gl;\");\n    if (i"))
        self.write("kernel.cpp", "void shifted() {}\n")
        self.fails(("judge", "good.cu", "--problem", "shifted"), 2, "good.cu: CUDA kernels need a device",
                   "use `strop judge --device cuda`, or --device emulated where there is no GPU")
        emulated = ("--problem", "shifted", "--device", "emulated")
        self.fails(("judge", "assembly.cu", *emulated), 2,
                   "assembly.cu:4: inline assembly, which the CUDA emulator cannot run",
                   "write it in CUDA C++, or judge the kernel on a GPU")
        give = 'give a CUDA file (.cu): extern "C" void NAME(inputs..., outputs..., dimensions..., cudaStream_t)'
        self.fails(("judge", "kernel.cpp", *emulated), 2, "kernel.cpp: --device emulated is for CUDA kernels", give)
        self.fails(("judge", "none.cu", *emulated), 2, "none.cu: there is no such kernel", give)
        self.fails(("judge", "good.cu", *emulated, "--sanitize"), 2,
                   "--sanitize and --device emulated: the emulator watches every access itself", "leave one of them out")


if __name__ == "__main__":
    unittest.main()
