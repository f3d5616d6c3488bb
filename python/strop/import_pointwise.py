"""PyTorch's elementwise operations as nodes of the graph."""

from __future__ import annotations

import math

import numpy as np

from strop import trace_angles as angles
from strop import trace_special as special
from strop.import_values import OPERATIONS, as_dtype, as_tensor, compute, imports, promoted
from strop.trace_array import Traced, astype, bitwise, inverted, lift, pointwise
from strop.trace_calls import HANDLERS
from strop.trace_dims import Untraceable
from strop.trace_elementwise import has_sign, logit, truncated, truncated_remainder, with_sign, x_log_y
from strop.trace_numpy import hypot, logaddexp

# ---- one operand, same name or another ---------------------------------------------------------------


def _register():
    same = "exp exp2 expm1 log log2 log1p sqrt rsqrt reciprocal tanh erf atan lgamma sin cos sigmoid"
    unary = {name: name for name in same.split()}
    unary |= {"floor": "floor", "ceil": "ceil", "abs": "absolute", "neg": "negative"}
    unary |= {"_neg_view": "negative", "_neg_view_copy": "negative"}
    unary |= {"sign": "sign", "sgn": "sign", "square": "square", "special_expit": "sigmoid", "special_erf": "erf"}
    unary |= {"special_gammaln": "lgamma"}
    binary = {"mul": "multiply", "maximum": "maximum", "minimum": "minimum", "fmax": "maximum", "fmin": "minimum"}
    binary |= {"max.other": "maximum", "min.other": "minimum", "remainder": "remainder", "pow": "power"}
    binary |= {"floor_divide": "floor_divide", "true_divide": "divide", "__rpow__": "power"}
    comparison = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal"}
    comparison |= {"ne": "not_equal"}
    for name, op in unary.items():
        OPERATIONS[name] = lambda out, x, op=op, **_: compute(op, out, x)
    for name, op in binary.items():
        OPERATIONS[name] = lambda out, a, b, op=op: compute(op, out, a, b)
    for name, op in comparison.items():
        OPERATIONS[name] = lambda out, a, b, op=op: _compared(op, a, b)


def _compared(op, a, b) -> Traced:
    dtype = promoted(a, b)
    return pointwise(op, as_dtype(a, dtype), as_dtype(b, dtype))


_register()


def _sum_of(op):
    def apply(out, a, b, alpha=1):
        return compute(op, out, a, b if alpha == 1 else compute("multiply", out, b, alpha))

    return apply


OPERATIONS["add"], OPERATIONS["sub"] = _sum_of("add"), _sum_of("subtract")
OPERATIONS["rsub"] = lambda out, a, b, alpha=1: OPERATIONS["sub"](out, b, a, alpha)


@imports("round")
def _round(out, a, decimals=0):
    if decimals == 0 or out.kind != "f":
        return compute("round", out, a)
    scale = 10.0 ** abs(decimals)
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return compute(back, out, compute("round", out, compute(there, out, a, scale)), scale)


@imports("div")
def _div(out, a, b, rounding_mode=None):
    if rounding_mode == "floor":
        return compute("floor_divide", out, a, b)
    if rounding_mode == "trunc":
        return as_tensor(truncated(compute("divide", np.dtype(np.float32) if out.kind != "f" else out, a, b)), out)
    return compute("divide", out, a, b)


@imports("fmod")
def _fmod(out, a, b):
    return truncated_remainder(as_dtype(a, out), as_dtype(b, out))


OPERATIONS["trunc"] = OPERATIONS["fix"] = lambda out, x: truncated(x)
OPERATIONS["frac"] = lambda out, x: x - truncated(x)
OPERATIONS["log10"] = lambda out, x: compute("multiply", out, compute("log", out, x), 1 / math.log(10))
OPERATIONS["tan"] = lambda out, x: compute("sin", out, x) / compute("cos", out, x)
OPERATIONS["erfc"] = OPERATIONS["special_erfc"] = lambda out, x: special.erfc(as_dtype(x, out))
OPERATIONS["erfinv"] = OPERATIONS["special_erfinv"] = lambda out, x: special.inverse_erf(as_dtype(x, out))
OPERATIONS["digamma"] = OPERATIONS["special_digamma"] = lambda out, x: special.digamma(as_dtype(x, out))
OPERATIONS["polygamma"] = OPERATIONS["special_polygamma"] = lambda out, n, x: special.polygamma(n, as_dtype(x, out))
OPERATIONS["i0"] = lambda out, x: HANDLERS["i0"](as_dtype(x, out))
for _name in "i0 i0e i1 i1e ndtr log_ndtr ndtri erfcx".split():
    OPERATIONS[f"special_{_name}"] = lambda out, x, name=_name: HANDLERS[f"special.{name}"](as_dtype(x, out))
OPERATIONS["sinh"] = lambda out, x: angles.hyperbolic_sine(as_dtype(x, out))
OPERATIONS["cosh"] = lambda out, x: angles.hyperbolic_cosine(as_dtype(x, out))
OPERATIONS["asin"] = lambda out, x: angles.arc_sine(as_dtype(x, out))
OPERATIONS["acos"] = lambda out, x: angles.arc_cosine(as_dtype(x, out))
OPERATIONS["atan2"] = lambda out, y, x: angles.angle_of(as_dtype(y, out), as_dtype(x, out))
OPERATIONS["asinh"] = lambda out, x: angles.area_sine(as_dtype(x, out))
OPERATIONS["acosh"] = lambda out, x: angles.area_cosine(as_dtype(x, out))
OPERATIONS["atanh"] = lambda out, x: angles.area_tangent(as_dtype(x, out))
OPERATIONS["logit"] = lambda out, x, eps=None: _logit(x, eps)
OPERATIONS["deg2rad"] = lambda out, x: compute("multiply", out, x, math.pi / 180)
OPERATIONS["rad2deg"] = lambda out, x: compute("multiply", out, x, 180 / math.pi)


def _logit(x, eps):
    x = x if eps is None else pointwise("minimum", pointwise("maximum", x, eps), 1 - eps)
    return logit(x)


# ---- questions and logic -------------------------------------------------------------------------------

OPERATIONS["isnan"] = lambda out, x: pointwise("isnan", x)
OPERATIONS["isinf"] = lambda out, x: pointwise("equal", pointwise("absolute", x), math.inf)
OPERATIONS["isfinite"] = lambda out, x: pointwise("less", pointwise("absolute", x), math.inf)
OPERATIONS["logical_not"] = lambda out, x: pointwise("logical_not", x)
OPERATIONS["logical_and"] = lambda out, a, b: pointwise("logical_and", a, b)
OPERATIONS["logical_or"] = lambda out, a, b: pointwise("logical_or", a, b)
OPERATIONS["logical_xor"] = lambda out, a, b: pointwise(
    "not_equal", pointwise("not_equal", a, 0), pointwise("not_equal", b, 0)
)
OPERATIONS["bitwise_and"] = OPERATIONS["__and__"] = lambda out, a, b: bitwise("and", a, b)
OPERATIONS["bitwise_or"] = OPERATIONS["__or__"] = lambda out, a, b: bitwise("or", a, b)
OPERATIONS["bitwise_xor"] = OPERATIONS["__xor__"] = lambda out, a, b: bitwise("xor", a, b)
OPERATIONS["bitwise_not"] = lambda out, a: inverted(a)
OPERATIONS["bitwise_left_shift"] = OPERATIONS["__lshift__"] = lambda out, a, b: compute("left_shift", out, a, b)
OPERATIONS["bitwise_right_shift"] = OPERATIONS["__rshift__"] = lambda out, a, b: compute("right_shift", out, a, b)


@imports("where")
def _where(out, condition, *choices):
    if len(choices) != 2:
        raise Untraceable("'aten.where' with one argument gives a shape that depends on values")
    return as_tensor(pointwise("where", condition, *(as_dtype(choice, out) for choice in choices)), out)


@imports("masked_fill")
def _masked_fill(out, x, mask, value):
    return _where(out, mask, value, x)


# ---- activations ---------------------------------------------------------------------------------------


@imports("relu")
def _relu(out, x):
    return compute("maximum", out, x, 0)


@imports("clamp")
def clamp(out, x, low=None, high=None):
    x = as_dtype(x, out)
    x = x if low is None else compute("maximum", out, x, low)
    return x if high is None else compute("minimum", out, x, high)


OPERATIONS["hardtanh"] = lambda out, x, low=-1, high=1: clamp(out, x, low, high)
OPERATIONS["relu6"] = lambda out, x: clamp(out, x, 0, 6)
OPERATIONS["clamp_min"] = lambda out, x, low: clamp(out, x, low)
OPERATIONS["clamp_max"] = lambda out, x, high: clamp(out, x, None, high)
OPERATIONS["hardsigmoid"] = lambda out, x: clamp(out, x + 3, 0, 6) / 6
OPERATIONS["hardswish"] = lambda out, x: x * clamp(out, x + 3, 0, 6) / 6
OPERATIONS["silu"] = lambda out, x: x * pointwise("sigmoid", x)
OPERATIONS["leaky_relu"] = lambda out, x, slope=0.01: _where(out, x > 0, x, x * slope)
OPERATIONS["_prelu_kernel"] = lambda out, x, slope: _where(out, x > 0, x, x * slope)
OPERATIONS["threshold"] = lambda out, x, threshold, value: _where(out, x > threshold, x, value)
OPERATIONS["softshrink"] = lambda out, x, by=0.5: _where(out, x > by, x - by, _where(out, x < -by, x + by, 0 * x))
OPERATIONS["hardshrink"] = lambda out, x, by=0.5: _where(out, pointwise("absolute", x) > by, x, 0.0)
OPERATIONS["heaviside"] = lambda out, x, at_zero: _where(
    out, pointwise("equal", x, 0), at_zero, astype(pointwise("greater", x, 0), out)
)


@imports("gelu")
def _gelu(out, x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + pointwise("tanh", math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))
    return 0.5 * x * (1 + pointwise("erf", x * math.sqrt(0.5)))


@imports("elu")
def _elu(out, x, alpha=1, scale=1, input_scale=1):
    below = pointwise("expm1", x if input_scale == 1 else x * input_scale) * (alpha * scale)
    return _where(out, x > 0, x if scale == 1 else x * scale, below)


OPERATIONS["selu"] = lambda out, x: _elu(out, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)
OPERATIONS["celu"] = lambda out, x, alpha=1.0: _elu(out, x, alpha, 1, 1 / alpha)


@imports("softplus")
def softplus(out, x, beta=1, threshold=20):
    scaled = x if beta == 1 else x * beta
    plus = _log1p_exp(scaled)
    return _where(out, scaled > threshold, x, plus if beta == 1 else plus / beta)


def _log1p_exp(x) -> Traced:
    return pointwise("maximum", x, 0) + pointwise("log1p", pointwise("exp", -pointwise("absolute", x)))


OPERATIONS["mish"] = lambda out, x: x * pointwise("tanh", _log1p_exp(x))
OPERATIONS["log_sigmoid"] = lambda out, x: -_log1p_exp(-x)
OPERATIONS["log_sigmoid_forward"] = lambda out, x: (-_log1p_exp(-x), None)
OPERATIONS["softsign"] = lambda out, x: x / (1 + pointwise("absolute", x))
OPERATIONS["tanhshrink"] = lambda out, x: x - pointwise("tanh", x)

# ---- several operands ----------------------------------------------------------------------------------

OPERATIONS["addcmul"] = lambda out, x, a, b, value=1: x + _scaled(a * b, value)
OPERATIONS["addcdiv"] = lambda out, x, a, b, value=1: x + _scaled(a / b, value)
OPERATIONS["lerp"] = lambda out, a, b, weight: a + as_dtype(weight, out) * (b - a)
OPERATIONS["hypot"] = lambda out, a, b: hypot(as_dtype(a, out), as_dtype(b, out))
OPERATIONS["copysign"] = lambda out, x, sign: with_sign(as_dtype(x, out), sign)
OPERATIONS["signbit"] = lambda out, x: has_sign(x)
OPERATIONS["logaddexp"] = lambda out, a, b: logaddexp(a, b)
OPERATIONS["xlogy"] = lambda out, a, b: as_tensor(x_log_y(as_dtype(a, out), as_dtype(b, out)), out)


def _scaled(x, factor):
    return x if factor == 1 else x * factor


@imports("nan_to_num")
def _nan_to_num(out, x, nan=None, posinf=None, neginf=None):
    top = float(np.finfo(out).max)
    x = _where(out, pointwise("equal", x, math.inf), top if posinf is None else posinf, x)
    x = _where(out, pointwise("equal", x, -math.inf), -top if neginf is None else neginf, x)
    return _where(out, pointwise("isnan", x), 0.0 if nan is None else nan, x)


# ---- types ---------------------------------------------------------------------------------------------


@imports("_to_copy", "to", "type_as", "clone", "contiguous", "alias", "detach", "lift_fresh_copy", "lift_fresh")
def _converted(out, x, *_, **__):
    return as_tensor(x, out)


OPERATIONS["positive"] = OPERATIONS["_conj"] = OPERATIONS["resolve_conj"] = OPERATIONS["resolve_neg"] = _converted


@imports("scalar_tensor")
def _scalar_tensor(out, value, **_):
    return as_tensor(lift(value), out)
