"""Prints the computations of computations.py, recurrences.py or loops.py as JSON: graph, inputs and what NumPy says in
float64.

    python export_computations.py [--recurrences | --loops] [NAME...]
"""

import importlib
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "python")]

import numpy as np  # noqa: E402

KINDS = {"--recurrences": "recurrences", "--loops": "loops"}
computations = importlib.import_module(KINDS.get("".join(sys.argv[1:2]), "computations"))
if sys.argv[1:2] and sys.argv[1] in KINDS:
    del sys.argv[1]
from strop import trace  # noqa: E402


def parse_inputs(text):
    for part in text.split(";"):
        name, dtype, limit, shape = re.fullmatch(r"(\w+) (\w+?)(?:<(\w+))?\[(.*)\]", part.strip()).groups()
        yield {"name": name, "dtype": dtype, "limit": limit, "shape": shape.split(",")}


def draw(generator, entry, dims):
    shape = [eval(extent, {}, dims) for extent in entry["shape"]]
    if entry["dtype"] == "bool":
        return generator.random(shape) < 0.6
    if entry["dtype"] == "int64":
        return generator.integers(0, dims[entry["limit"]], shape)
    if entry["dtype"] == "int8":
        return generator.integers(-128, 128, shape, np.int8)
    return generator.standard_normal(shape).astype(entry["dtype"])


def flat(array):
    return {"shape": list(array.shape), "values": array.astype(np.float64).reshape(-1).tolist()}


def export(name):
    inputs, points = computations.COMPUTATIONS[name]
    inputs = list(parse_inputs(inputs))
    spec = {"reference": computations.__file__, "function": name, "inputs": inputs, "parameters": []}
    document = trace.document(lambda: spec)
    result = {"name": name, "inputs": inputs, "graph": json.dumps(document), "points": []}
    function = getattr(computations, name)
    generator = np.random.default_rng(7)
    for point in points:
        dims = {key: int(value) for key, value in (pair.split("=") for pair in point.split(","))}
        arrays = [draw(generator, entry, dims) for entry in inputs]
        wide = [a.astype(np.float64) if a.dtype == np.float32 else a for a in arrays]
        with np.errstate(all="ignore"):
            values = function(*wide)
            narrow = function(*arrays)
        values = values if isinstance(values, tuple) else (values,)
        narrow = narrow if isinstance(narrow, tuple) else (narrow,)
        result["outputs"] = [np.asarray(value).dtype.name for value in narrow]
        expected = [flat(np.asarray(value)) for value in values]
        result["points"].append({"dims": dims, "inputs": [flat(a) for a in arrays], "expected": expected})
    return result


if __name__ == "__main__":
    json.dump([export(name) for name in sys.argv[1:] or computations.COMPUTATIONS], sys.stdout)
