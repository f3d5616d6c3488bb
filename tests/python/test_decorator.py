"""@strop.kernel: what the kernel is called with, and what is left to the original function."""

import importlib.util
import os
import pickle
import sys
import unittest
from unittest import mock

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python")]

import strop  # noqa: E402
from strop import program  # noqa: E402
from strop.result import Result  # noqa: E402


def picked(x, i, by=0.5):
    return x[i] * by


class Decorator(unittest.TestCase):
    def setUp(self):
        decorate = strop.kernel({"x": "float32[N, 3]", "i": "int64[B] integers < 5"}, {"a": {"N": 5, "B": 4}}, parameters={"by": 2.0})
        self.function = decorate(picked)
        self.x = np.arange(15, dtype=np.float32).reshape(5, 3)
        self.i = np.array([0, 4, 1, 2])

    def runs(self, x=None, i=None):
        return self.function._may_run((self.x if x is None else x, self.i if i is None else i))

    def test_the_kernel_is_called_with_what_it_was_made_for(self):
        self.assertTrue(self.runs())

    def test_all_else_is_left_to_the_original(self):
        self.assertFalse(self.runs(x=np.asfortranarray(self.x)))
        self.assertFalse(self.runs(x=np.ones((5, 4), np.float32)))
        self.assertFalse(self.runs(x=np.ones((6, 3), np.float32)))
        self.assertFalse(self.runs(x=self.x.astype(np.float64)))
        self.assertFalse(self.runs(x=np.ma.masked_array(self.x, self.x > 3)))
        self.assertFalse(self.runs(x=self.x.tolist()))
        self.assertFalse(self.runs(i=np.array([0, 5, 1, 2])))
        self.assertFalse(self.runs(i=np.array([0, -1, 1, 2])))

    def test_whole_numbers_from_elsewhere(self):
        function = strop.kernel({"i": "int64[B] -3 <= integers < 5"}, {"a": {"B": 4}})(picked)
        self.assertTrue(function._may_run((np.array([-3, 0, 4, 1]),)))
        self.assertFalse(function._may_run((np.array([-4, 0, 4, 1]),)))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_tensors(self):
        import torch

        x = torch.from_numpy(self.x)
        self.assertTrue(self.runs(x=x))
        self.assertFalse(self.runs(x=x.clone().requires_grad_()))
        self.assertFalse(self.runs(x=torch._neg_view(x)))
        self.assertFalse(self.runs(x=x.t().contiguous().t()))

    def test_the_original_has_the_same_parameters(self):
        small = np.ones((2, 3), np.float32)
        np.testing.assert_array_equal(self.function(small, np.array([1])), picked(small, np.array([1]), 2.0))
        np.testing.assert_array_equal(self.function(small, np.array([1]), 3.0), picked(small, np.array([1]), 3.0))
        np.testing.assert_array_equal(self.function(small, i=np.array([1]), by=4.0), picked(small, np.array([1]), 4.0))

    def test_inputs_by_name_and_parameters_that_say_the_same(self):
        calls = []
        self.function._result = mock.Mock(improved=True, side_effect=lambda *inputs: calls.append(inputs))
        for arguments, named in (((self.x,), {"i": self.i}), ((), {"i": self.i, "x": self.x}),
                                 ((self.x, self.i, 2.0), {}), ((self.x,), {"by": 2, "i": self.i})):
            self.function(*arguments, **named)
            self.assertIs(calls[-1][0], self.x)
            self.assertIs(calls[-1][1], self.i)
        self.assertEqual(len(calls), 4)
        for by in (2.5, np.float32(2.0), np.ones(3, np.float32)):
            np.testing.assert_array_equal(self.function(self.x, self.i, by), picked(self.x, self.i, by))
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'j'"):
            self.function(self.x, self.i, j=1)
        with self.assertRaisesRegex(TypeError, "missing 1 required positional argument: 'i'"):
            self.function(self.x)
        self.assertEqual(len(calls), 4)

    def test_extents_that_are_expressions(self):
        function = strop.kernel({"x": "float32[2*N + 1]", "y": "float32[N]"}, {"a": {"N": 4}})(picked)
        self.assertTrue(function._may_run((np.ones(9, np.float32), np.ones(4, np.float32))))
        self.assertFalse(function._may_run((np.ones(8, np.float32), np.ones(4, np.float32))))


class Results(unittest.TestCase):
    def test_are_pickled_after_a_call_too(self):
        result = Result({"problem": "f", "outcome": "improved"}, "runs.db")
        result._function = lambda x: x
        self.assertEqual(pickle.loads(pickle.dumps(result)).report, result.report)

    def test_a_file_that_is_no_report(self):
        for text in ("", "[1]", "{}"):
            with self.subTest(text), mock.patch("pathlib.Path.is_file", return_value=True), \
                    mock.patch("pathlib.Path.read_text", return_value=text), self.assertRaises(strop.BadInput):
                Result.load("somewhere")


class Progress(unittest.TestCase):
    def test_a_callback_that_raises_is_told_at_the_end(self):
        said, failed = [], []

        def callback(line):
            raise ValueError(line)

        program._follow(["one\n", "two\n"], said, callback, failed)
        self.assertEqual((said, [str(error) for error in failed]), (["one", "two"], ["one"]))


if __name__ == "__main__":
    unittest.main()
