"""strop translate: a strategy of the playbook in another language."""

import ctypes
import importlib.util
import json
import re
import unittest

from tests.cli.strop_cli import InFolder, strop

ROWS = "return np.exp(x - x.max(axis=1, keepdims=True)) / np.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True) + b"

HAVE_TRITON = importlib.util.find_spec("triton") is not None
try:
    ctypes.CDLL("libOpenCL.so.1")
    NO_OPENCL = ""
except OSError:
    NO_OPENCL = "libOpenCL.so.1 is missing"


class Translate(InFolder):
    def setUp(self):
        super().setUp()
        self.problem("rows", ROWS)

    def write(self, language, problem="rows"):
        done = strop("write", problem, "--language", language, "--out", language, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def translate(self, *words, code=0):
        done = strop("translate", *words, "--json", "--per-shape", "50ms", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        return json.loads(done.stdout)["kernels"]

    def test_the_same_strategy_with_its_tunables(self):
        self.write("cuda")
        self.write("triton")
        file = self.folder / "triton" / "block_per_row.py"
        changed = file.read_text(encoding="utf-8").replace("CHUNK = 1024 | 512", "CHUNK = 512 | 1024")
        file.write_text(changed.replace("\nCHUNK = 1024\n", "\nCHUNK = 512\n"), encoding="utf-8")
        [one] = self.translate("triton/block_per_row.py", "--problem", "rows", "--to", "cuda")
        self.assertEqual((one["strategy"], one["kept"]), ("block_per_row", {}))
        self.assertEqual(one["cannot"], ["the tunables CHUNK=512 NUM_STAGES=2 NUM_WARPS=4"])
        self.assertEqual((one["verdict"], one["checked_in"], one["not_judged"]), ("ok", "the CUDA emulator", None), one)
        self.assertEqual(one["source"], (self.folder / "cuda" / "block_per_row.cu").read_text(encoding="utf-8"))

    def test_what_write_gives_is_known_with_its_condition(self):
        for language, to in (("cuda", "triton"), ("triton", "cuda"), ("opencl", "cuda")):
            self.write(language)
            mark = "#" if language == "triton" else "//"
            held = [file for file in sorted((self.folder / language).iterdir())
                    if f"\n{mark} strop:when " in file.read_text(encoding="utf-8")]
            self.assertTrue(held, language)
            for file in held:
                with self.subTest(language, file=file.name):
                    done = strop("translate", str(file), "--problem", "rows", "--to", to, "--no-judge", "--json", cwd=self.folder)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    [one] = json.loads(done.stdout)["kernels"]
                    self.assertRegex(one["source"], f"\n(#|//) strop:when {re.escape(one['condition'])}\n")
                    self.assertNotRegex(one["source"], "\n(#|//) for ")

    def test_a_module_is_known_by_its_text_whatever_language_of_python_it_is_in(self):
        self.write("tilelang")
        [one] = self.translate("tilelang/block_per_row.py", "--problem", "rows", "--to", "triton")
        self.assertEqual((one["strategy"], one["kept"]), ("block_per_row", {"CHUNK": 1024}))
        self.assertIn("import triton\n", one["source"])
        if HAVE_TRITON:
            self.assertEqual((one["verdict"], one["checked_in"]), ("ok", "Triton's interpreter"), one)
        else:
            self.assertRegex(one["not_judged"], "^Triton is not installed, whose interpreter would check it")
        self.write("triton")
        [back] = self.translate("triton/block_per_row.py", "--problem", "rows", "--to", "tilelang")
        self.assertRegex(back["not_judged"], "^no device: kernels in tilelang")

    def test_a_value_of_a_tunable_that_both_have_becomes_the_default_and_the_way_back_is_the_same(self):
        product = self.problem("product", "return x @ b", inputs="{x: {dtype: float32, shape: [M, N]}, b: {dtype: float32, shape: [N, M]}}",
                               outputs="{y: {dtype: float32, shape: [M, M]}}")
        self.write("cuda", str(product))
        file = self.folder / "cuda" / "tiles.cu"
        text = file.read_text(encoding="utf-8").replace("TILE_M = 64 | 32 |", "TILE_M = 32 | 64 |")
        file.write_text(text, encoding="utf-8")
        words = ["--problem", str(product), "--no-judge", "--out", "back"]
        [there] = self.translate("cuda/tiles.cu", "--to", "triton", *words)
        self.assertEqual(there["kept"]["TILE_M"], 32)
        self.assertIn("\nTILE_M = 32\n", there["source"])
        self.assertIn("# strop:tune TILE_M = 32 | 64 | 128\n", there["source"])
        compile(there["source"], "tiles.py", "exec")
        [back] = self.translate("back/tiles.py", "--to", "cuda", *words)
        self.assertEqual(back["kept"]["TILE_M"], 32)
        self.assertEqual(back["source"].splitlines()[1], text.splitlines()[1])

    def test_what_runs_here_is_judged(self):
        self.write("cuda")
        [one] = self.translate("cuda/thread_per_row.cu", "--problem", "rows", "--to", "cpp")
        self.assertEqual((one["strategy"], one["verdict"], one["not_judged"]), ("rows_across_lanes", "ok", None))
        self.assertIsNone(one["over_original"])    # CUDA does not run here

    def test_one_that_may_be_called_nowhere_is_not_judged(self):
        self.problem("rows", ROWS, shapes="{long: {M: 4, N: 100}}", range="{M: [1, 80], N: [65, 500]}")
        self.write("cuda")
        [one] = self.translate("cuda/thread_per_row.cu", "--problem", "rows", "--to", "cpp")
        self.assertEqual((one["verdict"], one["not_judged"]),
                         (None, "its condition holds at no shape of the sweep or the range: N <= 64"))

    def test_one_that_may_be_called_beside_the_sweep_only_is_judged_there(self):
        self.problem("rows", ROWS, shapes="{long: {M: 4, N: 100}}", range="{M: [1, 100], N: [1, 500]}")
        self.write("cuda")
        [one] = self.translate("cuda/thread_per_row.cu", "--problem", "rows", "--to", "cpp")
        self.assertEqual((one["verdict"], one["not_judged"], one["beside_the_sweep"]), ("ok", None, True))

    @unittest.skipIf(NO_OPENCL, NO_OPENCL)
    def test_against_the_original_where_both_run(self):
        self.write("cpp")
        [one] = self.translate("cpp/resident_passes.cpp", "--problem", "rows", "--to", "opencl")
        self.assertEqual((one["strategy"], one["verdict"]), ("block_per_row", "ok"), one)
        self.assertGreater(one["over_original"]["ratio"], 0)

    def test_reasons_of_refusals(self):
        self.write("cpp")
        self.write("cuda")
        for file, to, why in (
                ("cpp/split_rows.cpp", "cuda", "cuda has no rows_in_parts for this problem, which would be the counterpart of split_rows"),
                ("cuda/block_per_row.cu", "cuda", "it is in cuda already")):
            with self.subTest(file):
                [one] = self.translate(file, "--problem", "rows", "--to", to, code=1)
                self.assertEqual(one["refused"], why)
        done = strop("translate", "cpp/split_rows.cpp", "--problem", "rows", "--to", "triton", cwd=self.folder)
        self.assertRegex(done.stdout, r"^split_rows \(cpp\) -> refused: triton has no rows_in_parts")

    def test_each_winner_of_a_result(self):
        done = strop("optimize", "rows", "--budget", "4s", "--evaluations", "2", "--quiet", "--seed", "1", cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        record = json.loads((self.folder / "strop-out" / "rows" / "report.json").read_text(encoding="utf-8"))
        winners = {kernel["id"] for kernel in record["kernels"]}
        by_folder = strop("translate", "strop-out/rows", "--to", "triton", "--no-judge", "--json", cwd=self.folder)
        by_run = strop("translate", record["run"], "--to", "triton", "--no-judge", "--json", cwd=self.folder)
        self.assertEqual(by_folder.stdout, by_run.stdout)
        self.assertEqual({one["kernel"] for one in json.loads(by_folder.stdout)["kernels"]}, winners)
        path = self.folder / "strop-out" / "rows" / "report.json"
        for kernel in record["kernels"]:
            kernel["author"] = "exec:agent"
        path.write_text(json.dumps(record), encoding="utf-8")
        for one in self.translate("strop-out/rows", "--to", "triton", code=1):
            self.assertEqual(one["refused"], "it is by exec:agent, and only strategies of the playbook are known in "
                                             "other languages")

    def test_bad_input(self):
        self.write("cuda")
        file = self.folder / "cuda" / "thread_per_row.cu"
        file.write_text(file.read_text(encoding="utf-8") + "int more;\n", encoding="utf-8")
        words = ["--to", "triton", "--problem", "rows"]
        self.fails(["translate", "cuda/thread_per_row.cu", *words], 2,
                   "cuda/thread_per_row.cu: is no kernel of the playbook for rows, so its strategy is not known",
                   "give a result folder, or a file of `strop write` whose tunables alone were changed")
        (self.folder / "mine.f90").write_text("end\n", encoding="utf-8")
        self.fails(["translate", "mine.f90", *words], 2, "mine.f90: is in no language that strategies are written in",
                   "give a .cpp, .cl, .cu or .py file of `strop write`")
        self.fails(["translate", "nothing", *words], 2, "nothing: there is no such result, run or kernel",
                   "give a folder in strop-out, a run that `strop runs` lists, or a file of `strop write`")
        self.fails(["translate", "cuda"], 2, "`strop translate` needs --to LANGUAGE",
                   "choose from cpp, opencl, cuda, triton, tilelang")


if __name__ == "__main__":
    unittest.main()
