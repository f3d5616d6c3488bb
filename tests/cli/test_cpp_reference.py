"""References in C and C++: what goes on with them, and what is said of those that break a kernel's contract."""

import json
import unittest

from tests.cli.strop_cli import InFolder, strop

SIGNATURE = "void rows(const float* x, float* y, int64_t M, int64_t N)"
PROBLEM = """name: rows
reference: {reference}
inputs:
  x: {{dtype: float32, shape: [M, N], fill: positive}}
outputs:
  y: {{dtype: {dtype}, shape: [M]}}
shapes: {{small: {{M: 7, N: 33}}}}
range: {{M: [1, 64], N: [1, 64]}}
"""
LOOP = "for (int64_t i = 0; i < M; ++i) "
SLOW = f"""#include <cmath>
#include <cstdint>
#include <vector>
#include "parts/helper.h"
{SIGNATURE} {{
    std::vector<float> row(N);
    {LOOP}{{
        auto sum = 0.0f;
        for (int64_t j = 0; j < N; ++j) sum += helped(row[j] = x[i * N + j]);
        y[i] = std::sqrt(sum) + sqrtf(1.0f / 3.0f);
    }}
}}
"""
FAST = """#include <math.h>
#include <stdint.h>
extern "C" void rows(const float* x, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i) {
        float sum = 0;
        for (int64_t j = 0; j < N; ++j) sum += 0.1f * x[i * N + j];
        y[i] = sqrtf(sum) + sqrtf(1.0f / 3);
    }
}
"""


class CppReference(InFolder):
    def write(self, source, name="slow.cpp", dtype="float32"):
        folder = self.folder / "rows"
        (folder / "parts").mkdir(parents=True, exist_ok=True)
        (folder / "problem.yaml").write_text(PROBLEM.format(reference=name, dtype=dtype), encoding="utf-8")
        (folder / "parts" / "helper.h").write_text(
            "#pragma once\nstatic inline float helped(float v) { return 0.1f * v; }\n", encoding="utf-8")
        (folder / name).write_text(source, encoding="utf-8")
        stored = {"float32": "float"}.get(dtype, f"{dtype}_t")
        (folder / "fast.cpp").write_text(FAST.replace("float* y", f"{stored}* y"), encoding="utf-8")
        return folder

    def judge(self, kernel="rows/fast.cpp", *words):
        return strop("judge", kernel, "--problem", "rows", "--per-shape", "0.02s", "--json", *words, cwd=self.folder)

    def refused(self, body, phrase, name="slow.cpp", head="#include <cstdint>\n", signature=SIGNATURE, dtype="float32"):
        self.write(f"{head}{signature} {{ {body} }}\n", name, dtype)
        done = self.judge()
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        first, hint = done.stderr.splitlines()
        self.assertIn(f"rows/{name}: {phrase}", first)
        self.assertTrue(hint.startswith("hint: "), hint)
        return done.stderr

    def test_kernels_are_judged_and_compared_with_it(self):
        self.write(SLOW)
        done = self.judge()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        document = json.loads(done.stdout)
        self.assertIn("slow.cpp", document["shapes"][0]["baselines"])
        (self.folder / "rows/fast.cpp").write_text(FAST.replace("0.1f", "0.1001f"), encoding="utf-8")
        self.assertEqual(json.loads(self.judge().stdout)["verdict"], "wrong_output")

    def test_it_competes_with_a_persons_kernel_and_elsewhere(self):
        self.write(SLOW)
        done = strop("optimize", "rows", "--kernel", "rows/fast.cpp", "--budget", "40s", "--evaluations", "3", "--json",
                     "--quiet", "--store", "runs.db", "--worker", f"sh -c 'cd / && exec {self.binary()} worker'",
                     cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        record = json.loads(done.stdout)
        self.assertTrue(record["verified"], record["verification"])
        self.assertEqual({entry["kernel"] for entry in record["history"]}, {"fast", "reference"})
        self.assertIn("slow.cpp", record["shapes"][0]["speedups"])
        self.assertIn("slow.cpp is not in Python", record["note"])

    @staticmethod
    def binary():
        import os
        from tests.cli.strop_cli import BINARY
        return os.path.abspath(BINARY)

    def test_it_may_use_a_team(self):
        """Whose own compilation is not given what the reference is linked with."""
        self.write("""#include <cmath>
#include <cstdint>
// strop:team
// strop:tune CHUNK = 4 | 8
extern "C" void rows(const float* x, float* y, int64_t M, int64_t N) {
    team::parallel(team::size(), [=](team::Member me) {
        for (int64_t i = me.begin(M); i < me.end(M); ++i) {
            float sum = 0;
            for (int64_t j = 0; j < N; ++j) sum += 0.1f * x[i * N + j];
            y[i] = std::sqrt(sum) + std::sqrt(1.0f / 3.0f);
        }
    });
}
""")
        done = self.judge()
        self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (0, "ok"), done.stderr)

    def test_what_has_no_float64_form_is_said(self):
        self.write(SLOW.replace("auto sum", "static_assert(sizeof(float) == 4); auto sum"))
        done = self.judge()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("slow.cpp: computed in float32 only, since it does not compile in float64 (slow.cpp:8:",
                      done.stderr)
        self.assertIn("its own rounding is part of the tolerance", done.stderr)
        self.write(SLOW + "// strop:float32\n")
        self.assertIn("slow.cpp: computed in float32 only, as it says", self.judge().stderr)

    def test_bits_of_floats_are_a_disagreement(self):
        bits = f"{LOOP}{{ float v = x[i * N]; uint32_t b; memcpy(&b, &v, 4); y[i] = b >> 8; }}"
        text = self.refused(bits, "computes something else in float64 than in float32: 'y'[",
                            head="#include <cstdint>\n#include <cstring>\n")
        self.assertIn("strop:float32", text)

    def test_a_source_may_choose_its_type(self):
        self.write(SLOW.replace("float", "STROP_REAL").replace("helped(row[j]", "0.1f * (row[j]"))
        self.assertEqual(self.judge().returncode, 0)

    def test_c_and_another_functions_name(self):
        folder = self.write(f"#include <stdint.h>\nvoid sums(const float *restrict x, float *restrict y, int64_t M, "
                            f"int64_t N) {{ {LOOP}y[i] = x[i * N]; }}\n", "slow.c")
        yaml = folder / "problem.yaml"
        yaml.write_text(yaml.read_text(encoding="utf-8") + "function: sums\n", encoding="utf-8")
        done = self.judge("rows/slow.c")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_what_breaks_the_contract_is_one_line(self):
        for body, phrase in (
            (f"{LOOP}y[i + 1] = x[i];", "the reference reads or writes behind the end of 'y' at M=7,N=33"),
            (f"y[-1] = 0; {LOOP}y[i] = x[i];", "writes before the begin of 'y'"),
            (f"const_cast<float*>(x)[3] = 1; {LOOP}y[i] = 1;", "the reference writes to its input 'x' at M=7,N=33"),
            ("for (int64_t i = 0; i + 1 < M; ++i) y[i] = x[i];", "does not write 'y'[6]"),
            ("throw 1;", "throws something"),
            (f"static int n; ++n; {LOOP}y[i] = n;", "the reference gives other values for 'y'"),
            ("y[0] = nothing;", "does not compile: slow.cpp:2:"),
        ):
            with self.subTest(body):
                self.refused(body, phrase)
        self.refused(f"{LOOP}++y[i];", "does not write 'y'[0], or adds to it", dtype="int32",
                     signature=SIGNATURE.replace("float* y", "int32_t* y"))

    def test_a_wrong_signature_is_told_the_right_one(self):
        text = self.refused("", "does not compile: slow.cpp:2:", head="#include <cstdint>\nextern \"C\" ",
                            signature="void rows(const float* x, float* y, int M, int N)")
        self.assertIn(f"hint: its function is '{SIGNATURE}'", text)
        text = self.refused("", "does not compile: ", signature=SIGNATURE.replace("float* y", "double* y"))
        self.assertIn("rows\nhint: its function is", text)

    def test_files_that_are_not_there(self):
        self.write(SLOW.replace("rows", "other"))
        self.fails(["judge", "rows/fast.cpp", "--problem", "rows"], 2,
                   "rows/problem.yaml:2: slow.cpp has no function 'rows'",
                   "write 'void rows(inputs..., outputs..., parameters..., dimensions...)' there, or name another one "
                   "with 'function:'")
        self.write(SLOW.replace("parts/helper.h", "../../outside.h"))
        (self.folder / "outside.h").write_text("", encoding="utf-8")
        done = self.judge()
        self.assertEqual(done.returncode, 2)
        done = strop("optimize", "rows/slow.cpp", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("write problem.yaml beside it", done.stderr)


if __name__ == "__main__":
    unittest.main()
