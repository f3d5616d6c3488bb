"""NumPy's arithmetic on traced arrays: elementwise functions, reductions, scans and products."""

from __future__ import annotations

import math

import numpy as np

from strop import trace_angles as angles
from strop import trace_contraction as product_of
from strop import trace_layout as layout
from strop.trace_array import (
    Traced,
    astype,
    axes_of,
    axis_of,
    bitwise,
    broadcast_to,
    inverted,
    is_number,
    lift,
    mean,
    pointwise,
    product,
    real,
    reduce,
    scan,
    variance,
)
from strop.trace_calls import HANDLERS, handles
from strop.trace_dims import SymInt, Untraceable, extremum, is_int
from strop.trace_index_arrays import set_by_indices
from strop.trace_indexing import expand_key, has_mask
from strop.trace_order import log_cumulative_sum

# ---- pointwise ---------------------------------------------------------------------------------------


def _register_pointwise():
    same_name = (
        "negative exp exp2 expm1 log log2 log1p sqrt square reciprocal tanh sin cos floor ceil sign isnan "
        "logical_not absolute add subtract multiply divide maximum minimum less less_equal greater "
        "greater_equal equal not_equal logical_and logical_or floor_divide remainder power"
    ).split()
    spelled = {name: name for name in same_name}
    spelled |= {
        "abs": "absolute",
        "fabs": "absolute",
        "true_divide": "divide",
        "rint": "round",
        "mod": "remainder",
        "pow": "power",
        "special.erf": "erf",
        "special.expit": "sigmoid",
        "math.erf": "erf",
        "arctan": "atan",
        "math.atan": "atan",
        "special.gammaln": "lgamma",
        "special.expm1": "expm1",
        "special.log1p": "log1p",
        "special.exp2": "exp2",
        "math.lgamma": "lgamma",
    }
    for name in "exp expm1 log2 log1p sqrt tanh sin cos floor ceil pow exp2".split():
        spelled[f"math.{name}"] = "power" if name == "pow" else name
    spelled |= {"math.fabs": "absolute", "math.isnan": "isnan"}

    def handler(op):
        def apply(*operands, dtype=None):
            if dtype is None:
                return pointwise(op, *operands)
            operands = [astype(lift(operand), dtype) for operand in operands]  # which it is computed in
            return astype(pointwise(op, *operands), dtype)

        return apply

    for name, op in spelled.items():
        HANDLERS[name] = handler(op)


_register_pointwise()


def _register_scatters():
    """`np.add.at(target, index, values)`: what meets in one place is added."""

    def handler(op, sign=1):
        def apply(target, index, values):
            if not isinstance(target, Traced) or has_mask(index):
                raise Untraceable("this form of ufunc.at has no graph operation")
            set_by_indices(target, expand_key(index, target.ndim), values if sign > 0 else pointwise("negative", values), op)

        return apply

    for name, op in (("add", "sum"), ("maximum", "max"), ("minimum", "min")):
        HANDLERS[f"{name}.at"] = handler(op)
    HANDLERS["subtract.at"] = handler("sum", -1)


_register_scatters()


HANDLERS["positive"] = lift


@handles("round", "around")
def round_(x, decimals=0):
    x = lift(x)
    if not is_int(decimals) or (decimals < 0 and x.dtype.kind != "f"):
        raise Untraceable("this form of 'np.round' has no graph operation")
    if decimals == 0 or x.dtype.kind != "f":
        return pointwise("round", x)
    power = 10.0 ** abs(decimals)
    wide = astype(x, np.float64)  # a rounded product may be half-way between two where the number is not
    wide = pointwise("round", wide * power) / power if decimals > 0 else pointwise("round", wide / power) * power
    return astype(wide, x.dtype)


@handles("math.log")
def log(x, base=None):
    return (
        pointwise("log", x)
        if base is None
        else pointwise("divide", pointwise("log", x), pointwise("log", base))
    )


@handles("log10", "math.log10")
def log10(x):
    return pointwise("multiply", pointwise("log", x), 1 / math.log(10))


@handles("tan")
def tan(x):
    return pointwise("divide", pointwise("sin", x), pointwise("cos", x))


@handles("isinf", "math.isinf")
def isinf(x):
    return pointwise("equal", pointwise("absolute", x), math.inf)


@handles("isfinite", "math.isfinite")
def isfinite(x):
    return pointwise("less", pointwise("absolute", x), math.inf)


@handles("nan_to_num")
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = lift(x)
    if x.dtype.kind != "f":
        return Traced(x.node, x.shape, x.dtype) if copy else x
    top = float(np.finfo(x.dtype).max)
    finite = pointwise("where", x == math.inf, top if posinf is None else posinf, x)
    finite = pointwise("where", finite == -math.inf, -top if neginf is None else neginf, finite)
    finite = pointwise("where", pointwise("isnan", finite), nan, finite)
    return finite if copy else x.assign(finite)


@handles("float_power")
def float_power(x, y):
    x = lift(x)
    return pointwise("power", x if x.weak else astype(x, np.float64), y)


@handles("logaddexp")
def logaddexp(a, b):
    top = pointwise("maximum", a, b)
    return top + pointwise("log1p", pointwise("exp", -pointwise("absolute", pointwise("subtract", a, b))))


@handles("hypot", "math.hypot")
def hypot(a, b):
    """Without squares of large values, which do not fit."""
    a, b = pointwise("absolute", a), pointwise("absolute", b)
    large, small = pointwise("maximum", a, b), pointwise("minimum", a, b)
    scaled = large * pointwise("sqrt", 1 + pointwise("square", small / large))
    same = pointwise("logical_or", pointwise("equal", small, 0), pointwise("equal", large, math.inf))
    return pointwise("where", same, large, scaled)


@handles("logical_xor")
def logical_xor(a, b):
    return pointwise("not_equal", pointwise("not_equal", a, 0), pointwise("not_equal", b, 0))


HANDLERS["bitwise_and"] = lambda a, b: bitwise("and", a, b)
HANDLERS["bitwise_or"] = lambda a, b: bitwise("or", a, b)
HANDLERS["bitwise_xor"] = lambda a, b: bitwise("xor", a, b)
HANDLERS["invert"] = HANDLERS["bitwise_not"] = HANDLERS["bitwise_invert"] = inverted
for _name in ("left_shift", "right_shift"):
    HANDLERS[_name] = HANDLERS[f"bitwise_{_name}"] = lambda a, b, op=_name: pointwise(op, a, b)
for _spellings, _function in (
    ("arcsin asin math.asin", angles.arc_sine),
    ("arccos acos math.acos", angles.arc_cosine),
    ("arctan2 atan2 math.atan2", angles.angle_of),
    ("sinh math.sinh", angles.hyperbolic_sine),
    ("cosh math.cosh", angles.hyperbolic_cosine),
    ("arcsinh asinh math.asinh", angles.area_sine),
    ("arccosh acosh math.acosh", angles.area_cosine),
    ("arctanh atanh math.atanh", angles.area_tangent),
):
    for _name in _spellings.split():
        HANDLERS[_name] = _function


@handles("where")
def where(condition, *choices):
    if not choices:
        return HANDLERS["nonzero"](condition)
    if len(choices) != 2:
        raise Untraceable("'np.where' with two arguments has no graph operation")
    return pointwise("where", condition, *choices)


@handles("select")
def select(conditions, choices, default=0):
    result = default
    for condition, choice in reversed(list(zip(conditions, choices))):
        result = pointwise("where", condition, choice, result)
    return result


@handles("clip")
def clip(x, a_min=None, a_max=None, min=None, max=None):  # noqa: A002
    low, high = a_min if a_min is not None else min, a_max if a_max is not None else max
    x = x if low is None else pointwise("maximum", x, low)
    return x if high is None else pointwise("minimum", x, high)


# ---- reductions and scans ------------------------------------------------------------------------------


def _register_reductions():
    names = {
        "sum": "sum",
        "prod": "prod",
        "max": "max",
        "min": "min",
        "amax": "max",
        "amin": "min",
        "any": "any",
        "all": "all",
        "add.reduce": "sum",
        "multiply.reduce": "prod",
        "maximum.reduce": "max",
        "minimum.reduce": "min",
        "logical_and.reduce": "all",
        "logical_or.reduce": "any",
    }
    combine = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}

    def handler(op, default_axis):
        def apply(x, axis=default_axis, dtype=None, keepdims=False, initial=None):
            if isinstance(x, (list, tuple)) and all(isinstance(item, (SymInt, int)) for item in x):
                return product(x) if op == "prod" else sum(x) if op == "sum" else extremum(op, x)
            result = reduce(op, x, axis, keepdims, dtype)
            return result if initial is None else pointwise(combine[op], result, initial)

        return apply

    for name, op in names.items():
        HANDLERS[name] = handler(op, 0 if "." in name else None)
    for name in ("argmax", "argmin"):
        HANDLERS[name] = lambda x, axis=None, keepdims=False, name=name: reduce(name, x, axis, keepdims)


_register_reductions()
HANDLERS["logical_xor.reduce"] = lambda x, axis=0, keepdims=False: pointwise(
    "not_equal", pointwise("remainder", count_nonzero(x, axis, keepdims), 2), 0
)
HANDLERS["mean"] = lambda x, axis=None, dtype=None, keepdims=False: mean(x, axis, keepdims, dtype)


@handles("var")
def var(x, axis=None, dtype=None, ddof=0, keepdims=False, mean=None, correction=None):
    x = lift(x) if dtype is None else astype(lift(x), dtype)
    return variance(x, axis, keepdims, ddof if correction is None else correction, mean)


@handles("std")
def std(x, axis=None, dtype=None, ddof=0, keepdims=False, mean=None, correction=None):
    return pointwise("sqrt", var(x, axis, dtype, ddof, keepdims, mean, correction))


@handles("average")
def average(x, axis=None, weights=None, keepdims=False):
    if weights is None:
        return mean(x, axis, keepdims)
    x, weights = lift(x), lift(weights)
    if weights.ndim == 1 and x.ndim > 1:
        place = axis_of(axis, x.ndim)
        weights = layout.reshape(weights, [weights.size if i == place else 1 for i in range(x.ndim)])
    return reduce("sum", x * weights, axis, keepdims) / reduce(
        "sum", broadcast_to(weights, x.shape), axis, keepdims
    )


@handles("ptp")
def ptp(x, axis=None, keepdims=False):
    return reduce("max", x, axis, keepdims) - reduce("min", x, axis, keepdims)


@handles("count_nonzero")
def count_nonzero(x, axis=None, keepdims=False):
    return reduce("sum", pointwise("not_equal", x, 0), axis, keepdims)


@handles("linalg.norm", "linalg.vector_norm")
def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    x = real(x)
    count = len(axes_of(axis, x.ndim))
    if ord == math.inf and count == 1:
        return reduce("max", pointwise("absolute", x), axis, keepdims)
    if ord == 1 and count == 1:
        return reduce("sum", pointwise("absolute", x), axis, keepdims)
    if ord in (1, math.inf) and count == 2:
        row, column = axes_of(axis, x.ndim)
        summed, largest = (row, column) if ord == 1 else (column, row)
        result = reduce("max", reduce("sum", pointwise("absolute", x), summed, True), largest, True)
        return result if keepdims else layout.squeeze(result, (row, column))
    if count == 1 and is_number(ord) and ord > 0 and ord != 2:
        powers = reduce("sum", pointwise("power", pointwise("absolute", x), ord), axis, keepdims)
        return pointwise("power", powers, 1 / ord)
    if not (ord is None or ord == "fro" or (ord == 2 and count == 1)):
        raise Untraceable(f"'np.linalg.norm' of order {ord} has no graph operation")
    return pointwise("sqrt", reduce("sum", pointwise("square", x), axis, keepdims))


def _logsumexp(x, axis=None, b=None, keepdims=False):
    x = real(x)
    top = reduce("max", x, axis, True)
    terms = pointwise("exp", x - top)
    total = reduce("sum", terms if b is None else terms * b, axis, True)
    result = pointwise("log", total) + top
    return result if keepdims else layout.squeeze(result, axes_of(axis, x.ndim))


HANDLERS["special.logsumexp"] = _logsumexp
HANDLERS["logaddexp.reduce"] = lambda x, axis=0, keepdims=False: _logsumexp(x, axis, None, keepdims)


@handles("special.softmax")
def softmax(x, axis=None):
    x = real(x)
    e = pointwise("exp", x - reduce("max", x, axis, True))
    return e / reduce("sum", e, axis, True)


@handles("special.log_softmax")
def log_softmax(x, axis=None):
    x = real(x)
    shifted = x - reduce("max", x, axis, True)
    return shifted - pointwise("log", reduce("sum", pointwise("exp", shifted), axis, True))


def _register_scans():
    names = {
        "cumsum": "sum",
        "cumprod": "prod",
        "add.accumulate": "sum",
        "multiply.accumulate": "prod",
        "maximum.accumulate": "max",
        "minimum.accumulate": "min",
    }

    def handler(op, default_axis):
        def apply(x, axis=default_axis, dtype=None):
            x = lift(x)
            if axis is None:
                x, axis = layout.reshape(x, (x.size,)), 0
            if op in ("sum", "prod"):
                wide = dtype if dtype is not None else x.dtype if x.dtype.kind == "f" else np.int64
                x = astype(x, wide)
            return scan(op, x, axis)

        return apply

    for name, op in names.items():
        HANDLERS[name] = handler(op, 0 if "." in name else None)


_register_scans()
HANDLERS["logaddexp.accumulate"] = lambda x, axis=0: log_cumulative_sum(lift(x), axis)


# ---- products ------------------------------------------------------------------------------------------



@handles("matmul")
def matmul(a, b, dtype=None):
    operands = [lift(a), lift(b)]
    return product_of.matmul(*(operands if dtype is None else [astype(one, dtype) for one in operands]))


HANDLERS["linalg.matmul"] = product_of.matmul
HANDLERS["dot"] = product_of.dot
HANDLERS["inner"] = product_of.inner
HANDLERS["outer"] = HANDLERS["linalg.outer"] = product_of.outer
HANDLERS["vdot"] = product_of.vdot
HANDLERS["tensordot"] = HANDLERS["linalg.tensordot"] = product_of.tensordot
HANDLERS["einsum"] = product_of.einsum
HANDLERS["vecdot"] = HANDLERS["linalg.vecdot"] = lambda a, b, axis=-1: reduce(
    "sum", pointwise("multiply", a, b), axis
)


@handles("linalg.multi_dot")
def multi_dot(arrays):
    result = arrays[0]
    for array in arrays[1:]:
        result = product_of.dot(result, array)
    return result


def _outer_ufunc(op):
    def apply(a, b):
        a, b = lift(a), lift(b)
        return pointwise(op, layout.reshape(a, a.shape + (1,) * b.ndim), b)

    return apply


for _name, _op in {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "divide": "divide",
    "maximum": "maximum",
    "minimum": "minimum",
    "equal": "equal",
    "less_equal": "less_equal",
    "greater_equal": "greater_equal",
    "less": "less",
    "greater": "greater",
}.items():
    HANDLERS[f"{_name}.outer"] = _outer_ufunc(_op)
