"""OpenCL programs of the playbook, from the problem to the result."""

import ctypes
import json
import unittest

from tests.cli.strop_cli import InFolder, strop

try:
    ctypes.CDLL("libOpenCL.so.1")
    WHY_NOT = ""
except OSError:
    WHY_NOT = "libOpenCL.so.1 is missing"


@unittest.skipIf(WHY_NOT, WHY_NOT)
class OpenClDevice(InFolder):
    def optimize(self, *words):
        done = strop("optimize", *words, "--device", "opencl", "--store", "runs.db", "--seed", "3", "--quiet", "--json",
                     cwd=self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def test_from_the_problem_to_a_verified_result(self):
        self.problem("shifted")
        record = self.optimize("shifted", "--budget", "8s")
        self.assertTrue(record["verified"], record["verification"])
        self.assertEqual(record["settings"]["device"], "opencl")
        self.assertIn("OpenCL", record["device"])
        self.assertTrue(record["kernels"])
        for kernel in record["kernels"]:
            self.assertEqual((kernel["language"], kernel["author"]), ("opencl", "playbook"))
        source = (self.folder / "strop-out" / "shifted" / "shifted.cpp").read_text(encoding="utf-8")
        self.assertIn("__kernel void", source)
        shown = strop("report", record["run"], "--store", "runs.db", cwd=self.folder).stdout
        self.assertIn("OpenCL on " + record["device"].split(",")[0], " ".join(shown.split()))  # a long name is wrapped

    def test_devices_do_not_learn_from_each_other(self):
        self.problem("shifted")
        on_processor = strop("optimize", "shifted", "--store", "runs.db", "--seed", "3", "--quiet", "--json", "--evaluations", "3",
                             "--budget", "6s", cwd=self.folder)
        self.assertIn(on_processor.returncode, (0, 1), on_processor.stderr)
        record = self.optimize("shifted", "--evaluations", "3", "--budget", "6s")
        self.assertEqual({kernel["language"] for kernel in record["kernels"]}, {"opencl"})
        self.assertNotIn("began with", record["note"])

    def test_the_doctor_lists_devices(self):
        devices = json.loads(strop("doctor", "--json").stdout)["opencl"]
        self.assertTrue(devices and devices[0]["name"], devices)


class NoDevice(InFolder):
    def test_is_said_before_anything_is_measured(self):
        self.problem("shifted")
        wrapper = self.folder / "python"
        wrapper.write_text('#!/bin/sh\ncase "$*" in *opencl_devices*) echo "[]"; echo "libOpenCL.so.1 is missing" >&2; exit 1;; esac\n'
                           f'exec {json.loads(strop("doctor", "--json").stdout)["python"]} "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        done = strop("optimize", "shifted", "--device", "opencl", "--quiet", cwd=self.folder, STROP_PYTHON=str(wrapper))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.splitlines()[0], "strop: no OpenCL device: libOpenCL.so.1 is missing")
        self.assertIn("pocl-opencl-icd", done.stderr)

    def test_models_write_cpp_only(self):
        self.problem("shifted")
        self.fails(["optimize", "shifted", "--device", "opencl", "--model", "exec:cat"], 2,
                   "--model and --device opencl: models write C++ only", "leave one of them out")

    def test_an_unknown_device(self):
        done = strop("optimize", "shifted", "--device", "tpu", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("tpu", done.stderr)


if __name__ == "__main__":
    unittest.main()
