"""strop write, from outside."""

import json
import os
import pathlib
import unittest

from tests.cli.strop_cli import HOME, InFolder, strop

SOFTMAX = os.path.join(HOME, "problems", "softmax")


class Write(InFolder):
    def test_strategies_are_listed_and_one_is_printed(self):
        for language, sign in (("cpp", 'extern "C" void softmax('), ("opencl", "__kernel void"), ("triton", "@triton.jit"),
                               ("tilelang", "@tl.prim_func")):
            done = strop("write", SOFTMAX, "--language", language, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            first = done.stdout.splitlines()[0]
            done = strop("write", SOFTMAX, "--language", language, "--strategy", first, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(sign, done.stdout)
            self.assertIn("strop:tune", done.stdout)

    def test_files(self):
        done = strop("write", SOFTMAX, "--language", "triton", "--out", "sources", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = done.stdout.splitlines()
        self.assertIn("sources/block_keeps_row.py", written)
        for file in written:
            compile(pathlib.Path(self.folder, file).read_text(), file, "exec")

    def test_json_says_where_a_strategy_may_be_used(self):
        done = strop("write", SOFTMAX, "--language", "triton", "--json", cwd=self.folder)
        found = {one["id"]: one for one in json.loads(done.stdout)["strategies"]}
        self.assertEqual(found["block_keeps_row"]["condition"], "N <= 4096")
        self.assertNotIn("condition", found["block_per_row"])

    def test_json_names_the_files(self):
        done = strop("write", SOFTMAX, "--out", "sources", "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for one in json.loads(done.stdout)["strategies"]:
            self.assertEqual(pathlib.Path(self.folder, one["file"]).read_text(), one["source"])

    def test_sources_say_where_they_may_be_used(self):
        for language, comment, most in (("opencl", "//", 4096), ("cuda", "//", 24576), ("triton", "#", 4096),
                                        ("tilelang", "#", 4096)):
            done = strop("write", SOFTMAX, "--language", language, "--strategy", "block_keeps_row", cwd=self.folder)
            self.assertIn(f"\n{comment} strop:when N <= {most}\n", done.stdout)
            self.assertNotIn(f"\n{comment} for N <=", done.stdout)  # once is enough

    def test_a_reference_of_another_shape_is_said(self):
        folder = pathlib.Path(self.folder, "halved")
        folder.mkdir()
        (folder / "problem.yaml").write_text("name: halved\nreference: reference.py\ninputs:\n"
                                             "  x: {dtype: float32, shape: [N]}\noutputs:\n"
                                             "  y: {dtype: float32, shape: [N//2]}\nshapes:\n  a: {N: 64}\n  b: {N: 7}\n")
        (folder / "reference.py").write_text("def halved(x):\n    return x[::2] * 2\n")
        self.fails(("write", "halved"), 2, "the reference returns shape [4] for 'y' at b, the problem declares [3]",
                   "change the output's shape in problem.yaml")

    def test_a_slice_that_is_cut_off_says_for_which_sizes_it_is(self):
        folder = pathlib.Path(self.folder, "head")
        folder.mkdir()
        problem = ("name: head\nreference: reference.py\ninputs:\n  x: {dtype: float32, shape: [N]}\n"
                   "outputs:\n  y: {dtype: float32, shape: [1]}\nshapes:\n  a: {N: 64}\n")
        (folder / "problem.yaml").write_text(problem)
        (folder / "reference.py").write_text("def head(x):\n    return x[:5].sum(keepdims=True)\n")
        done = strop("write", "head", "--strategy", "fused_stages", cwd=self.folder)
        self.assertIn("// strop:when N >= 5\n", done.stdout, done.stderr)
        (folder / "problem.yaml").write_text(problem + "  b: {N: 3}\n")
        done = strop("write", "head", "--out", "sources", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("strop:when", pathlib.Path(self.folder, "sources", "fused_stages.cpp").read_text())
        done = strop("judge", "sources/fused_stages.cpp", "--problem", "head", "--per-shape", "10ms", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_kernel_for_some_shapes_is_judged_at_those(self):
        """A convolution by planes of one channel, written because one shape has it."""
        folder = pathlib.Path(self.folder, "f")
        folder.mkdir()
        (folder / "problem.yaml").write_text(
            "name: f\nreference: reference.py\ninputs:\n  x: {dtype: float32, shape: [C, H, W]}\n"
            "  w: {dtype: float32, shape: [O, C, 3, 3]}\noutputs:\n  y: {dtype: float32, shape: [O, H - 2, W - 2]}\n"
            "shapes:\n  one: {C: 1, H: 9, W: 14, O: 1}\n  three: {C: 3, H: 9, W: 14, O: 5}\n")
        (folder / "reference.py").write_text(
            "import numpy as np\n\n\ndef f(x, w):\n"
            "    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))\n"
            "    return np.einsum('chwij,ocij->ohw', windows, w)\n")
        done = strop("write", "f", "--json", "--out", "sources", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        some = [one for one in json.loads(done.stdout)["strategies"] if "C" in one.get("condition", "")]
        self.assertTrue(some, done.stdout[:2000])
        self.assertIn(f"\n// strop:when {some[0]['condition']}\n", some[0]["source"])
        done = strop("judge", some[0]["file"], "--problem", "f", "--per-shape", "10ms", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("not called at three", done.stderr)
        file = pathlib.Path(self.folder, some[0]["file"])
        file.write_text(file.read_text().replace("strop:when ", "strop:when Q < 3 and "))
        done = strop("judge", some[0]["file"], "--problem", "f", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\.cpp:\d+: 'Q' is not a dimension of the problem\nhint: known: C, H, W, O")

    def test_bad_input(self):
        done = strop("write", SOFTMAX, "--language", "triton", "--strategy", "block_per_rov", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--strategy block_per_rov: there is no such strategy", done.stderr)
        self.assertIn("block_per_row", done.stderr)
        done = strop("write", SOFTMAX, "--language", "fortran", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("fortran", done.stderr)

    def test_a_reference_that_cannot_be_traced(self):
        problem = pathlib.Path(self.folder, "odd")
        problem.mkdir()
        problem.joinpath("problem.yaml").write_text(
            "name: odd\ninputs:\n  x: {dtype: float32, shape: [N]}\n"
            "outputs:\n  y: {dtype: float32, shape: [N]}\nshapes:\n  one: {N: 8}\n")
        problem.joinpath("reference.py").write_text("import numpy as np\n\ndef odd(x):\n    return x[np.lexsort((x,))]\n")
        done = strop("write", str(problem), "--language", "triton", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("odd: nothing to write in triton: the reference cannot be traced", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
