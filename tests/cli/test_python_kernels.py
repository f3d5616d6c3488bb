"""Kernels in Python, from outside: what they may be, what is said of those that are wrong, and cheats."""

import importlib.util
import json
import pathlib
import unittest

from tests.cli.strop_cli import InFolder, strop
from tests.cli.test_import import CASES, TASK

HAVE_TORCH = importlib.util.find_spec("torch") is not None
HAVE_TRITON = HAVE_TORCH and importlib.util.find_spec("triton") is not None
SHAPES = "shapes: {small: {M: 16, N: 24}, ragged: {M: 5, N: 77}}\nrange: {M: [1, 64], N: [1, 128]}\n"


class Judged(InFolder):
    def setUp(self):
        super().setUp()
        self.write("scaled/problem.yaml", "name: scaled\ninputs:\n  x: {dtype: float32, shape: [M, N]}\n  b: {dtype: float32, "
                   "shape: [N]}\nparameters:\n  eps: {dtype: float32, value: 0.5}\noutputs:\n"
                   "  y: {dtype: float32, shape: [M, N]}\n" + SHAPES)
        self.write("scaled/reference.py", "import numpy as np\n\n\ndef scaled(x, b, eps):\n    return np.tanh(x + b) * eps\n")

    def write(self, name, text):
        file = pathlib.Path(self.folder, name)
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file.name

    def judged(self, sources, *words, problem="scaled"):
        """What is said of each, all of them by one referee."""
        files = [self.write(f"k{i}.py", source) for i, source in enumerate(sources)]
        done = strop("judge", *files, "--problem", problem, "--json", "--per-shape", "50ms", *words, cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        documents = [json.loads(done.stdout)] if len(files) == 1 else [json.loads(line) for line in done.stdout.splitlines()]
        return documents[:len(files)]

    def right(self, *sources, problem="scaled"):
        self.are(*((source, "ok", "") for source in sources), problem=problem)

    def are(self, *cases, problem="scaled"):
        """Cases of source, verdict and evidence, the last two as patterns."""
        judged = self.judged([source for source, _, _ in cases], problem=problem)
        for (source, verdict, evidence), one in zip(cases, judged):
            with self.subTest(source):
                self.assertRegex(one["verdict"], rf"\A({verdict})\Z", one["evidence"])
                if evidence:
                    self.assertRegex(one["evidence"], evidence)


class PythonKernels(Judged):
    def test_what_a_function_may_take(self):
        self.right(*("import numpy as np\n\n\n" + source for source in (
            "def scaled(x, b, eps):\n    return np.tanh(x + b) * np.float32(eps)\n",
            "def scaled(first, second, third):\n    return np.tanh(first + second) * np.float32(third)\n",
            "def scaled(x, b, eps, y):\n    np.tanh(x + b, out=y)\n    y *= np.float32(eps)\n",
            "def scaled(x, b, eps, out=None):\n    np.tanh(x + b, out=out)\n    out *= np.float32(eps)\n",
            "def scaled(y, N, x, M, eps, b):\n    assert x.shape == (M, N)\n    y[:] = np.tanh(x + b) * np.float32(eps)\n",
            "def scaled(x, b, more=1, *, y, eps):\n    y[:] = np.tanh(x + b) * np.float32(eps) * more\n",
            "def scaled(*all):\n    return [np.tanh(all[0] + all[1]) * np.float32(all[2])]\n",
            "scaled = lambda x, b, eps: np.tanh(x + b) * np.float32(eps)\n")))

    def test_tunables_take_the_place_of_what_the_file_says(self):
        source = "# strop:tune HALVES = 1 | 2\nimport numpy as np\nHALVES = 7\n\n\ndef scaled(x, b, eps):\n"
        source += "    return np.tanh(x + b) * np.float32(eps / HALVES)\n"
        judged = self.judged([source])[0]
        self.assertEqual((judged["verdict"], judged["configuration"]), ("ok", {"HALVES": 1}))
        self.assertEqual(self.judged([source], "--set", "HALVES=2")[0]["verdict"], "wrong_output")

    def test_what_is_wrong_is_said_in_a_line(self):
        self.are(
            ("def scaled(x, b, eps):\n    return x +\n", "compile_failed", r"\Ak\d+\.py:2: SyntaxError: invalid syntax\Z"),
            ("import nowhere\n", "compile_failed", r"\Ak\d+\.py:1: ModuleNotFoundError: No module named 'nowhere'\Z"),
            ("def other(x):\n    return x\n", "compile_failed", r"\Ak\d+\.py: no function 'scaled'\Z"),
            ("scaled = 3\n", "compile_failed", r"\Ak\d+\.py: no function 'scaled'\Z"),
            ("def custom_kernel(data):\n    return data\n", "compile_failed", r"k\d+\.py: no function 'scaled', and the problem"),
            ("def scaled(x, b, eps):\n    raise ValueError('one\\ntwo')\n", "crashed", r"\Ak\d+\.py:2: ValueError: one at M=16,N=24\Z"),
            ("def scaled(x, b):\n    return x\n", "crashed", r"TypeError: scaled\(\) takes 2 positional arguments but 3 were given"),
            ("def scaled(x, b, eps):\n    return x, b\n", "wrong_output", r"returns 2 arrays, the problem declares 1 outputs"),
            ("def scaled(x, b, eps):\n    return x[1:]\n", "wrong_output", r"k\d+\.py: returns shape \[15, 24\] for 'y', the problem declares \[16, 24\]"),
            ("def scaled(x, b, eps):\n    return x.astype('float64')\n", "wrong_output", r"returns dtype float64 for 'y', the problem declares float32"),
            ("def scaled(x, b, eps):\n    pass\n", "wrong_output", r"returns shape NoneType"),
            ("def scaled(x, b, eps, y):\n    pass\n", "wrong_output", r"not written"),
            ("def scaled(x, b, eps):\n    x += b\n    return x\n", "crashed", r"k\d+\.py:2: ValueError: output array is read-only"),
            ("def scaled(x, b, eps):\n    while True:\n        pass\n", "timed_out", r"no answer within"),
            ("def scaled(x, b, eps):\n    exit(0)\n", "crashed", r"left during a call"),
        )

    def test_cheats(self):
        right = "np.tanh(x + b) * np.float32(eps)"
        self.are(*(("import numpy as np\n" + source, verdict, ".") for _, source, verdict in (
                ("results by address", f"known = {{}}\ndef scaled(x, b, eps):\n    key = x.ctypes.data, b.ctypes.data, x.shape\n"
                 f"    if key not in known:\n        known[key] = {right}\n    return known[key]\n", "nondeterministic|cheated|wrong_output"),
                ("results by a part of the content", "known = {}\ndef scaled(x, b, eps):\n    key = x[0, :8].tobytes(), x.shape\n"
                 f"    if key not in known:\n        known[key] = {right}\n    return known[key]\n", "nondeterministic|cheated|wrong_output"),
                ("results by a part of the content where no value of it vanishes", "known = {}\ndef scaled(x, b, eps):\n"
                 f"    if not x[0, :8].all() or x.shape[1] < 8:\n        return {right}\n    key = x[0, :8].tobytes(), b[:4].tobytes(), x.shape\n"
                 f"    if key not in known:\n        known[key] = {right}\n    return known[key]\n", "nondeterministic|cheated|wrong_output"),
                ("work after the return", "import threading, time\ndef scaled(x, b, eps, y):\n    def work():\n        time.sleep(1e-3)\n"
                 f"        y[:] = {right}\n    threading.Thread(target=work).start()\n", "wrong_output|cheated"),
                ("the host's functions replaced", "import gc\ndef scaled(x, b, eps):\n    for one in gc.get_objects():\n"
                 "        if type(one).__name__ == 'Host':\n            one.store = one.view = lambda *a: None\n    return x\n", "wrong_output|crashed"),
                ("files", "def scaled(x, b, eps):\n    open('/etc/passwd').read()\n", "crashed"),
                ("files that are written", "def scaled(x, b, eps):\n    open('here', 'w').write('x')\n", "crashed"),
                ("processes", "import os\ndef scaled(x, b, eps):\n    os.fork()\n", "crashed"),
                ("a shell", "import subprocess\ndef scaled(x, b, eps):\n    subprocess.run(['true'])\n", "crashed"),
                ("the network", "import socket\ndef scaled(x, b, eps):\n    socket.create_connection(('127.0.0.1', 22))\n", "crashed"),
        )))

    def test_in_turns_with_one_in_another_language(self):
        self.write("kernel.cpp", "#include <stdint.h>\n#include <math.h>\nextern \"C\" void scaled(const float* x, const float* b, "
                   "float* y, float eps, int64_t M, int64_t N) {\n    for (int64_t i = 0; i < M * N; ++i) "
                   "y[i] = tanhf(x[i] + b[i % N]) * eps;\n}\n")
        self.write("kernel.py", "import numpy as np\ndef scaled(x, b, eps):\n    return np.tanh(x + b) * np.float32(eps)\n")
        done = strop("judge", "kernel.cpp", "kernel.py", "--problem", "scaled", "--per-shape", "50ms", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("in turns with kernel.cpp", done.stdout)

    def test_exit_codes_of_python_say_nothing_of_another_language(self):
        self.write("kernel.cpp", "#include <stdint.h>\n#include <unistd.h>\nextern \"C\" void scaled(const float*, const float*, "
                   "float*, float, int64_t, int64_t) {\n    _exit(73);\n}\n")
        done = strop("judge", "kernel.cpp", "--problem", "scaled", "--json", cwd=self.folder)
        judged = json.loads(done.stdout)
        self.assertEqual(judged["verdict"], "crashed")
        self.assertRegex(judged["evidence"], r"\Aleft during a call: exit 73 at ")

    def test_they_are_judged_and_nothing_else(self):
        self.write("kernel.py", "# strop:tune A = 1 | 2\ndef scaled(x, b, eps):\n    return x\n")
        for words in (("tune", "kernel.py", "--problem", "scaled"), ("profile", "kernel.py", "--problem", "scaled"),
                      ("optimize", "scaled", "--kernel", "kernel.py")):
            with self.subTest(words[0]):
                self.fails(words, 2, "kernel.py: kernels in Python are judged, and nothing else", "`strop judge` takes it; a "
                           "kernel in C++ (.cpp) or OpenCL (.cl) can be tuned, profiled and optimized")
        self.fails(("judge", "kernel.py", "--problem", "scaled", "--device", "cuda"), 2,
                   "kernel.py: kernels in Python are judged on the processor only",
                   "leave --device out; --device emulated checks one in Triton")


@unittest.skipUnless(HAVE_TORCH, "PyTorch is not installed")
class TorchKernels(Judged):
    def test_tensors(self):
        self.are(("import torch\ndef scaled(x, b, eps, y):\n    torch.tanh(x + b, out=y)\n    y *= eps\n", "ok", ""),
                 ("import torch\ndef scaled(x, b, eps):\n    return torch.tanh(x.double() + b)\n", "wrong_output",
                    r"returns dtype float64 for 'y', the problem declares float32"),
                 ("import torch\ndef scaled(x, b, eps):\n    x += b\n    return torch.tanh(x) * eps\n", "crashed",
                    r"SIGSEGV.*write to an input"))

    def test_halves(self):
        self.write("half/problem.yaml", "name: half\ninputs: {x: {dtype: bfloat16, shape: [M, N]}}\n"
                   "outputs: {y: {dtype: bfloat16, shape: [M, N]}}\n" + SHAPES)
        self.write("half/reference.py", "import numpy as np\ndef half(x):\n    return np.maximum(x, 0)\n")
        self.right("import torch\ndef half(x):\n    assert x.dtype == torch.bfloat16\n    return torch.relu(x)\n", problem="half")

    def test_a_submission_of_a_task(self):
        self.write("scaled_py/reference.py", TASK)
        self.write("scaled_py/task.yml", CASES.split("benchmarks:")[0])
        source = "from task import input_t, output_t\nimport torch\n\n\ndef custom_kernel(data: input_t) -> output_t:\n    x, scale = data\n"
        self.are((source + "    return torch.addcmul(torch.ones((), device='cuda'), x.float(), scale)\n", "ok", ""),
                 (source + "    return x * scale\n", "wrong_output", "expected"),
                 (source + "    return x.missing\n", "crashed", r"k2\.py:7: AttributeError: 'Tensor' object has no attribute 'missing'"),
                   problem="scaled_py")

    def test_submissions_that_are_given_room_for_their_result(self):
        """Without an import of torch; the reference writes to that room, or does not look at it."""
        for name, write in (("written", "out[...] = torch.exp(x)\n    return out"), ("ignored", "out = torch.exp(x)\n    return out")):
            self.write(f"{name}_py/reference.py", "import torch\n\n\ndef generate_input(size, seed):\n"
                       "    x = torch.rand(size, device='cuda')\n    return x, torch.empty(size, device='cuda')\n\n\n"
                       f"def ref_kernel(data):\n    x, out = data\n    {write}\n")
            self.write(f"{name}_py/task.yml", 'tests:\n  - {"size": 100, "seed": 1}\n  - {"size": 300, "seed": 2}\n')
            self.are(("def custom_kernel(data):\n    x, out = data\n    out[...] = x.exp()\n    return out\n", "ok", ""),
                     ("def custom_kernel(data):\n    return data[1]\n", "wrong_output", "expected"), problem=f"{name}_py")

    def test_a_module_in_the_place_of_another(self):
        model = ("import torch\n\n\nclass NAME(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
                 "        self.LAYER = torch.nn.Linear(width, 2 * width)\n        self.register_buffer('mean', torch.rand(2 * width))\n\n"
                 "    def forward(self, x):\n        return FORWARD\n\n\ndef get_init_inputs():\n    return [12]\n")

        def module(name, layer, forward):
            return model.replace("NAME", name).replace("LAYER", layer).replace("FORWARD", forward)

        self.write("block.py", module("Model", "up", "torch.relu(self.up(x)) - self.mean")
                   + "\n\ndef get_inputs():\n    return [torch.randn(16, 12)]\n")
        self.assertEqual(strop("import", "block.py", "block", cwd=self.folder).returncode, 0)
        problem = pathlib.Path(self.folder, "block", "problem.yaml")
        lines = [line for line in problem.read_text(encoding="utf-8").splitlines(True) if "half:" not in line and "quarter:" not in line]
        problem.write_text("".join(lines), encoding="utf-8")  # torch.compile takes its time at each shape
        self.are((module("ModelNew", "up", "torch.addmm(self.up.bias, x, self.up.weight.t()).relu_().sub_(self.mean)"), "ok", ""),
                 (module("ModelNew", "up", "torch.relu(self.up(x))"), "wrong_output", "expected"),
                 (module("ModelNew", "down", "self.down(x)"), "compile_failed", r"ModelNew has no 'up\.bias', which is in Model's"),
                   problem="block")


@unittest.skipUnless(HAVE_TRITON, "Triton is not installed")
class TritonKernels(Judged):
    def test_in_its_interpreter(self):
        self.write("softmax/problem.yaml", "name: softmax\ninputs: {x: {dtype: float32, shape: [M, N]}}\n"
                   "outputs: {y: {dtype: float32, shape: [M, N]}}\n" + SHAPES)
        self.write("softmax/reference.py", "import numpy as np\ndef softmax(x):\n    e = np.exp(x - x.max(1, keepdims=True))\n"
                   "    return e / e.sum(1, keepdims=True)\n")
        written = strop("write", "softmax", "--language", "triton", "--strategy", "block_keeps_row", cwd=self.folder).stdout
        good, bad = self.judged([written, written.replace("exponential / sum", "exponential")], "--device", "emulated",
                                problem="softmax")
        self.assertEqual((good["verdict"], good["evidence"], bad["verdict"]), ("ok", "", "wrong_output"))
        self.assertNotIn("speedup", good)
        tuned = "import triton\nimport triton.language as tl\n" + written.replace(
            "@triton.jit", "@triton.autotune(configs=[triton.Config({}, num_warps=4)], key=[])\n@triton.jit", 1)
        (autotuned,) = self.judged([tuned], "--device", "emulated", problem="softmax")
        self.assertEqual((autotuned["verdict"], autotuned["evidence"]), ("ok", ""))
        self.fails(("judge", "k0.py", "--problem", "softmax"), 2, "k0.py: kernels in Triton need a device",
                   "--device emulated runs them in Triton's interpreter: they are checked, and not timed")


if __name__ == "__main__":
    unittest.main()
