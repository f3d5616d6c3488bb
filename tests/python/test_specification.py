"""A problem folder out of a function: its source, its tensors, its results' shapes."""

import pathlib
import tempfile
import unittest

import numpy as np

from strop.program import BadInput
from strop.source import source_of
from strop.specification import from_arrays, infer_outputs, tensor, write_problem
from strop.whole_numbers import drawn

FACTOR = 2.5


def clipped(x):
    return np.maximum(x, 0.0) * FACTOR


def uses_others(x, gamma, eps=1e-5):
    return clipped(x) * gamma / np.sqrt(x.var(axis=1, keepdims=True) + eps)


def pooled(x):
    return x.reshape(x.shape[0], x.shape[1] // 2, 2).mean(axis=2), x.sum()


def ragged(x):
    return np.zeros((x.shape[0] * x.shape[0] + 1,), np.float32)


TABLE = np.ones(3000)


def uses_an_array(x):
    return x * TABLE[0]


class Source(unittest.TestCase):
    def test_stands_alone_with_what_it_uses(self):
        names = {}
        exec(source_of(uses_others), names)
        x, gamma = np.random.rand(3, 4), np.random.rand(4)
        np.testing.assert_array_equal(names["uses_others"](x, gamma, 1e-5), uses_others(x, gamma))

    def test_of_a_lambda_is_refused(self):
        with self.assertRaisesRegex(BadInput, "source of '<lambda>' cannot be read"):
            source_of(lambda x: x)

    def test_refuses_arrays_from_outside(self):
        with self.assertRaisesRegex(BadInput, "uses 'TABLE', a ndarray outside of it"):
            source_of(uses_an_array)


class Tensors(unittest.TestCase):
    def test_are_written_as_people_write_them(self):
        self.assertEqual(tensor("x", "float32[M, 2*N]"), {"dtype": "float32", "shape": ["M", "2*N"]})
        self.assertEqual(tensor("i", "int64[B] integers < 50"),
                         {"dtype": "int64", "shape": ["B"], "fill": "integers", "limit": 50})
        self.assertEqual(tensor("i", "int32[B] -8 <= integers < -2"),
                         {"dtype": "int32", "shape": ["B"], "fill": "integers", "from": -8, "limit": -2})

    def test_that_are_none_are_named(self):
        with self.assertRaisesRegex(BadInput, "x is 'float32', which is not a description"):
            tensor("x", "float32")
        with self.assertRaisesRegex(BadInput, "x needs a dtype and a shape"):
            tensor("x", {"dtype": "float32"})


class WholeNumbers(unittest.TestCase):
    def test_are_drawn_as_the_example_is(self):
        for values, low, limit in (
                (range(-100, 100), -100, 100),    # also below 0
                ([3, 60, 999], None, 1000),       # indices, of which a few were drawn
                ([1, 2, 3, 4, 5, 6] * 50, 1, 7),  # a divisor, say
                ([0] * 300, None, 1), ([7] * 300, None, 8), ([-3] * 300, -3, 1)):
            values = np.array(values, np.int64)
            fill = drawn("int64", int(values.min()), int(values.max()), values.size)
            self.assertEqual((fill.get("from"), fill["limit"]), (low, limit), values)
            self.assertEqual(from_arrays({"i": values})[0]["i"], {"dtype": "int64", "shape": ["D0"], **fill})
        self.assertEqual(drawn("int8", -3, 100, 10), {"fill": "integers", "limit": 101})


class Outputs(unittest.TestCase):
    def test_extents_are_expressions_of_the_inputs_dimensions(self):
        inputs = {"x": tensor("x", "float32[M, N]")}
        self.assertEqual(infer_outputs(pooled, inputs, {}, [{"M": 3, "N": 8}, {"M": 5, "N": 6}]),
                         {"out0": {"dtype": "float32", "shape": ["M", "N//2"]}, "out1": {"dtype": "float32", "shape": []}})

    def test_that_fit_no_expression_have_to_be_given(self):
        with self.assertRaisesRegex(BadInput, "no simple expression"):
            infer_outputs(ragged, {"x": tensor("x", "float32[M]")}, {}, [])

    def test_a_function_that_always_fails_is_an_error(self):
        def fails(x):
            raise RuntimeError("on purpose")
        with self.assertRaisesRegex(BadInput, "fails at every shape that was tried: on purpose"):
            infer_outputs(fails, {"x": tensor("x", "float32[M]")}, {}, [])


class Problems(unittest.TestCase):
    def write(self, function, inputs, **more):
        with tempfile.TemporaryDirectory() as folder:
            write_problem(pathlib.Path(folder), function, inputs, **more)
            return (pathlib.Path(folder) / "problem.yaml").read_text(encoding="utf-8")

    def test_arrays_stand_for_their_types_and_shapes(self):
        text = self.write(uses_others, {"x": np.zeros((6, 4), np.float32), "gamma": np.zeros(4, np.float32)})
        self.assertIn('"shape": ["D0", "D1"]', text)
        self.assertIn('shapes: {"given": {"D0": 6, "D1": 4}}', text)
        self.assertIn('parameters: {"eps": {"dtype": "float32", "value": 1e-05}}', text)

    def test_parameters_have_the_types_of_pythons_numbers(self):
        def moved(x, by=16777217, eps=0.1, flag=True):
            return x * eps + by if flag else x

        shapes = [{"N": 4}]
        text = self.write(moved, {"x": "float64[N]"}, shapes=shapes)
        self.assertIn('"by": {"dtype": "int64", "value": 16777217}', text)
        self.assertIn('"eps": {"dtype": "float64", "value": 0.1}', text)
        self.assertIn('"flag": {"dtype": "bool", "value": true}', text)
        text = self.write(moved, {"x": "float32[N]"}, shapes=shapes, parameters={"by": {"dtype": "int32", "value": 3}})
        self.assertIn('"by": {"dtype": "int32", "value": 3}, "eps": {"dtype": "float32", "value": 0.1}', text)
        with self.assertRaisesRegex(BadInput, "beyond 2"):
            self.write(moved, {"x": "float64[N]"}, shapes=shapes, parameters={"by": 2**53 + 1})

    def test_what_is_not_known_is_named(self):
        with self.assertRaisesRegex(BadInput, "x is of dtype float65, which is not known"):
            self.write(clipped, {"x": "float65[N]"}, shapes=[{"N": 4}])
        with self.assertRaisesRegex(BadInput, "'large' has no value for 'N'"):
            self.write(clipped, {"x": "float32[N]"}, shapes={"large": {"M": 4}})

    def test_inputs_are_named_as_the_function_does(self):
        with self.assertRaisesRegex(BadInput, r"inputs are \['y'\], clipped takes \['x'\]"):
            self.write(clipped, {"y": "float32[N]"}, shapes=[{"N": 4}])

    def test_shapes_are_needed(self):
        with self.assertRaisesRegex(BadInput, "no shapes were given"):
            self.write(clipped, {"x": "float32[N]"})


if __name__ == "__main__":
    unittest.main()
