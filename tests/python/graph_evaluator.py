"""Computes a graph document with NumPy, so that tests can compare it with its reference."""

import math

import numpy as np
import scipy.special
from numpy.lib.stride_tricks import sliding_window_view

ERF = np.vectorize(math.erf, otypes=[np.float64])
POINTWISE = {
    "square": np.square,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "round": np.rint,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "atan": np.arctan,
    "lgamma": lambda x: scipy.special.gammaln(x).astype(x.dtype),
    "erf": lambda x: ERF(x).astype(x.dtype),
}
REDUCTIONS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "any": np.any, "all": np.all}
SCANS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def evaluate_extent(text, bindings):
    return eval(str(text), {"min": min, "max": max}, bindings)


def evaluate(document, inputs, bindings, parameters):
    """The outputs; checks every node's declared shape and dtype on the way."""
    values = []
    for index, node in enumerate(document["nodes"]):
        operands = [values[i] for i in node["operands"]]
        assert all(i < index for i in node["operands"])
        value = compute(node, operands, inputs, bindings, parameters)
        shape = tuple(evaluate_extent(extent, bindings) for extent in node["shape"])
        assert value.shape == shape, f"node {index} {node}: {value.shape} is not {shape}"
        if node["family"] != "constant":
            assert value.dtype == np.dtype(node["dtype"]), f"node {index} {node}: {value.dtype}"
        values.append(value)
    return [values[i] for i in document["outputs"]]


def repeated(node, operands, bindings, parameters):
    """A loop: the states after its last step, or what each step stacks."""
    states, body, count = node["states"], node["body"], evaluate_extent(node["count"], bindings)
    assert count >= 0 and node["step"] not in bindings, (node["step"], count)
    inputs, stacked = list(operands), []
    declared = [one for one in body["nodes"] if one["family"] == "input"]
    assert sorted(int(one["op"]) for one in declared) == list(range(len(operands)))
    for step in range(count):
        bound = bindings | {node["step"]: step}
        outputs = evaluate(body, {str(k): value for k, value in enumerate(inputs)}, bound, parameters)
        for old, new in zip(inputs, outputs[:states]):
            assert old.shape == new.shape and old.dtype == new.dtype
        inputs[:states] = outputs[:states]
        stacked.append(outputs[node["result"]])
    for one in declared:
        value = operands[int(one["op"])]
        assert value.shape == tuple(evaluate_extent(e, bindings) for e in one["shape"]), (value.shape, one)
        assert value.dtype == np.dtype(one["dtype"]), (value.dtype, one)
    if node["op"] == "last":
        assert node["result"] < states
        return inputs[node["result"]]
    if not count:
        return np.zeros([evaluate_extent(extent, bindings) for extent in node["shape"]], node["dtype"])
    return np.stack(stacked)


def compute(node, operands, inputs, bindings, parameters):
    family, op, dtype = node["family"], node["op"], np.dtype(node["dtype"])

    def extents(key):
        return [evaluate_extent(text, bindings) for text in node[key]]

    if family == "input":
        return inputs[op]
    if family == "parameter":
        return np.asarray(parameters[op], dtype)
    if family == "constant":
        value = evaluate_extent(node["dim"], bindings) if "dim" in node else float(node["value"])
        return np.asarray(value, dtype)
    if family == "repeat":
        return repeated(node, operands, bindings, parameters)
    if family == "pointwise":
        if op == "cast":
            return operands[0].astype(dtype)
        function = POINTWISE.get(op) or getattr(np, op)
        return np.asarray(function(*operands))
    if family == "reduction":
        if not operands[0].size and op in ("max", "min", "argmax", "argmin"):  # of a side that is not taken
            return np.zeros(np.sum(operands[0], axis=tuple(node["axes"]), keepdims=node["keepdims"]).shape, dtype)
        if op in ("argmax", "argmin"):
            return np.asarray(getattr(np, op)(operands[0], axis=node["axes"][0], keepdims=node["keepdims"]))
        return np.asarray(REDUCTIONS[op](operands[0], axis=tuple(node["axes"]), keepdims=node["keepdims"]))
    if family == "contraction":
        a, b, result = node["labels"]
        return np.einsum(f"{a},{b}->{result}", *operands)
    if family == "scan":
        return SCANS[op].accumulate(operands[0], axis=node["axes"][0])
    if family == "gather":
        function = np.take if op == "take" else np.take_along_axis
        return function(operands[0], operands[1], axis=node["axes"][0])
    if family == "scatter":
        return scattered(op, node["axes"][0], *operands)
    assert family == "layout", family
    return layout(node, op, operands, extents)


def scattered(op, axis, target, indices, source):
    result = target.copy()
    places = list(np.indices(source.shape, sparse=True))
    places[axis] = np.broadcast_to(indices, source.shape)
    {"sum": np.add, "max": np.maximum, "min": np.minimum}[op].at(result, tuple(places), source)
    return result


def layout(node, op, operands, extents):
    x = operands[0]
    if op == "reshape":
        return x.reshape(extents("shape"))
    if op == "transpose":
        return x.transpose(node["axes"])
    if op == "broadcast":
        return np.broadcast_to(x, extents("shape"))
    if op == "slice":
        return x[tuple(slice(*bounds) for bounds in zip(extents("begin"), extents("end"), extents("step")))]
    if op == "pad":
        return np.pad(
            x, list(zip(extents("begin"), extents("end"))), constant_values=float(node["pad_value"])
        )
    if op == "window":
        return sliding_window_view(x, extents("window"), axis=tuple(node["axes"]))
    if op == "concatenate":
        return np.concatenate(operands, axis=node["axes"][0])
    assert op == "reverse", op
    return np.flip(x, axis=tuple(node["axes"]))
