"""Functions are copied into files of their own: with all that they use, or with a line that says what cannot be."""

import functools
import importlib
import math
import os
import pathlib
import sys
import tempfile
import unittest

import numpy
import numpy as np
from numpy.typing import NDArray

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python")]

from strop.program import BadInput  # noqa: E402
from strop.source import source_of  # noqa: E402
from strop.specification import write_problem  # noqa: E402

SCALE = 2.0
LOWEST = -np.inf
NOTHING = math.nan
EPSILON = np.float64(1e-5)
TAPS = [0.25, 0.5, 0.25]
WEIGHTS = np.array([[1, 2], [3, 4]], dtype=np.float32)
SHAPE = (2, 3)
mean = np.ones(5000)  # of the name of a method


def square(x):
    return x * x


def in_comprehension(x):
    return sum([square(x + i) for i in range(3)])


def in_lambda(x):
    return (lambda v: square(v) * SCALE)(x)


def in_nested(x):
    def inner(v):
        return square(v) + EPSILON

    return inner(x)


def with_default(x, s=SCALE, low=LOWEST):
    return np.maximum(x * s, low)


def annotated(x: NDArray, s: "numpy.float32" = 2.0) -> NDArray:
    return x * s


def with_infinity(x):
    return np.where(x > LOWEST, x, NOTHING)


def with_arrays(x):
    return x[:2] @ WEIGHTS + TAPS[1] + SHAPE[0]


def with_method(x):
    return x.mean() + x


def recursive(x, n=3):
    return x if n == 0 else recursive(x * 2, n - 1)


@np.errstate(all="ignore")
def decorated(x):
    return np.log(x)


def doubled(function):
    @functools.wraps(function)
    def apply(x):
        return 2 * function(x)

    return apply


@doubled
def changed(x):
    return x + 1


def made(scale):
    def helper(x):
        return np.tanh(x * scale)

    return helper


helper = made(2.0)
scale = 10.0


def of_two_scales(x):
    return helper(x) * scale


def of_a_closure():
    offset = np.float32(3)

    def shifted(x):
        return x + offset + sum(TAPS[i] * offset for i in range(3))

    return shifted


class Owner:
    def method(self, x):
        return x


class Source(unittest.TestCase):
    def copy_of(self, function):
        space = {"__name__": "copy"}
        exec(compile(source_of(function), "copy.py", "exec"), space)
        return space[function.__name__]

    def refused(self, phrase, function, *arguments, **named):
        with self.assertRaises(BadInput) as caught:
            function(*arguments, **named)
        self.assertIn(phrase, str(caught.exception))

    def test_a_copy_computes_the_same(self):
        x = np.array([0.5, -1.0, 2.0])
        for function in (in_comprehension, in_lambda, in_nested, with_default, annotated, with_infinity, with_arrays,
                         with_method, recursive, decorated, of_a_closure()):
            with self.subTest(function.__name__), np.errstate(all="ignore"):
                np.testing.assert_array_equal(self.copy_of(function)(x), function(x))
                self.assertEqual(self.copy_of(function)(x).dtype, function(x).dtype)

    def test_what_cannot_be_copied_is_named(self):
        self.refused("another 'scale' is used beside it", source_of, of_two_scales)
        self.refused("is a method", source_of, Owner().method)
        self.refused("a partial is no function", source_of, functools.partial(square, 2))
        self.refused("a ufunc is no function", source_of, np.tanh)
        self.refused("a class is no function", source_of, Owner)

    def test_helpers_in_a_file_of_the_user_are_copied_and_modules_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "strop_test_helpers.py").write_text("K = 3.0\n\ndef tripled(x):\n    return K * x\n")
            pathlib.Path(folder, "strop_test_user.py").write_text(
                "import strop_test_helpers\nfrom strop_test_helpers import tripled\n\n"
                "def by_name(x):\n    return tripled(x)\n\ndef by_module(x):\n    return strop_test_helpers.tripled(x)\n")
            sys.path.insert(0, folder)
            try:
                user = importlib.import_module("strop_test_user")
                self.assertEqual(self.copy_of(user.by_name)(2.0), 6.0)
                self.refused("uses the module 'strop_test_helpers', which is not installed", source_of, user.by_module)
            finally:
                sys.path.remove(folder)

    def test_the_copy_is_compared_with_the_function(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refused("by itself computes something else than changed does", write_problem, pathlib.Path(folder),
                         changed, {"x": "float32[N]"}, {"a": {"N": 8}})
            write_problem(pathlib.Path(folder, "right"), decorated, {"x": "float32[N]"}, {"a": {"N": np.int64(8)}})

    def test_functions_that_are_no_problem_are_refused(self):
        def only_by_name(x, *, s=0.5):
            return x * s

        def of_a_dictionary(x):
            return {"y": x}

        def of_nothing(x):
            del x

        def of_a_list(x):
            return [x, x + 1]

        with tempfile.TemporaryDirectory() as folder:
            def problem(function, shapes=None):
                write_problem(pathlib.Path(folder), function, {"x": "float32[N]"}, shapes or {"a": {"N": 8}})

            self.refused("takes 's' by its name only", problem, only_by_name)
            self.refused("returns a dict", problem, of_a_dictionary)
            self.refused("returns a NoneType", problem, of_nothing)
            self.refused("8 is no shape", problem, square, {"N": 8})
            problem(of_a_list)
            self.assertIn("out1", pathlib.Path(folder, "problem.yaml").read_text())


if __name__ == "__main__":
    unittest.main()
