"""strop profile from outside: what limits a kernel, as text, as a document and as a page."""

import json
import unittest

from tests.cli.strop_cli import InFolder, strop

KERNEL = """#include <stdint.h>
// strop:tune UNROLL = 1 | 4
extern "C" void shifted(const float* x, const float* b, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i)
#pragma GCC unroll UNROLL
        for (int64_t j = 0; j < N; ++j) {
            const float sum = x[i * N + j] + b[j];
            y[i * N + j] = sum > 0 ? sum : 0;
        }
}
"""
DIMENSIONS = ["memory", "compute", "parallelism", "algorithm"]


class Profile(InFolder):
    def setUp(self):
        super().setUp()
        self.problem("shifted")
        (self.folder / "mine.cpp").write_text(KERNEL, encoding="utf-8")

    def profile(self, *words):
        return strop("profile", "mine.cpp", "--problem", "shifted", *words, cwd=self.folder)

    def test_every_shape_has_findings_and_a_next_step(self):
        done = self.profile("--json", "--html", "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["verdict"], "ok")
        self.assertGreaterEqual(len(document["shapes"]), 2)
        for shape in document["shapes"]:
            self.assertGreater(shape["time"]["median_ns"], 0)
            self.assertGreater(shape["one_core"]["median_ns"], 0)
            self.assertGreater(shape["bytes"], 0)
            diagnosis = shape["diagnosis"]
            self.assertEqual([finding["dimension"] for finding in diagnosis["findings"]], DIMENSIONS)
            self.assertIn(diagnosis["limit"], DIMENSIONS)
            self.assertTrue(diagnosis["next"])
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        for words in ("mine.cpp", "<svg", document["shapes"][0]["point"]["label"]):
            self.assertIn(words, page)

    def test_one_shape_with_a_chosen_configuration_as_text(self):
        label = "large"
        done = self.profile("--point", label, "--set", "UNROLL=4")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("verdict: ok", label, "limited by", "next", *DIMENSIONS):
            self.assertIn(words, done.stdout)
        self.assertNotIn("small", done.stdout)

    def test_a_wrong_kernel_has_a_verdict_only(self):
        wrong = KERNEL.replace("sum > 0 ? sum : 0", "sum")
        (self.folder / "mine.cpp").write_text(wrong, encoding="utf-8")
        done = self.profile("--html", "page.html")
        self.assertEqual(done.returncode, 1)
        self.assertIn("verdict: wrong_output", done.stdout)
        self.assertFalse((self.folder / "page.html").exists())

    def test_what_does_not_compile_is_named(self):
        (self.folder / "mine.cpp").write_text(KERNEL + "nonsense\n", encoding="utf-8")
        done = self.profile()
        self.assertEqual(done.returncode, 1)
        self.assertIn("verdict: compile_failed", done.stdout)
        self.assertIn("mine.cpp:", done.stdout)

    def test_bad_input(self):
        for words, expected in ((["--point", "larch"], "larch"), (["--set", "UNROLL=3"], "UNROLL"),
                                (["--html", "nowhere/page.html"], "nowhere")):
            done = self.profile(*words)
            self.assertEqual(done.returncode, 2, f"{words}: {done.stderr}")
            self.assertIn(expected, done.stderr)
            self.assertIn("hint:", done.stderr)


if __name__ == "__main__":
    unittest.main()
