"""PyTorch's operations on complex tensors, as pairs of traced arrays (trace_complex).

An entry is called as those of import_values are; of a complex result `out` is the type of its parts.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from strop import trace_complex as pairs
from strop import trace_fourier as fourier
from strop import trace_layout as layout
from strop.import_values import OPERATIONS, as_dtype, as_tensor, numpy_dtype
from strop.trace_array import Traced
from strop.trace_complex import Complex, is_complex
from strop.trace_dims import Untraceable

PARTS = {torch.complex64: np.dtype(np.float32), torch.complex128: np.dtype(np.float64)}
COMPLEX: dict = {}  # as OPERATIONS, of operations that make or take complex tensors

# What moves elements, or adds them up, does the same to both parts.
MOVES = set(
    "view reshape _unsafe_view _reshape_alias view_copy permute transpose swapaxes t movedim unsqueeze flatten expand "
    "expand_as broadcast_to squeeze cat concatenate stack flip repeat repeat_interleave roll slice select narrow split "
    "split_with_sizes unbind chunk index index_select gather pad constant_pad_nd sum mean cumsum diagonal unfold "
    "as_strided tril triu slice_copy select_copy unsqueeze_copy permute_copy expand_copy select_scatter "
    "slice_scatter copy index_put _unsafe_index_put".split()
)


def of_complex(*names):
    def register(function):
        for name in names:
            COMPLEX[name] = function
        return function

    return register


def concerns(seen, arguments) -> bool:
    """Whether a call, whose (first) result is `seen` at the example, makes or takes a complex tensor."""
    return getattr(seen, "dtype", None) in PARTS or is_complex(arguments)


def call(name: str, entry, seen, arguments, options):
    """`entry`: what the operation is of real tensors; it serves those that only move elements."""
    out = PARTS.get(seen.dtype) or numpy_dtype(seen.dtype)
    if name in COMPLEX:
        return COMPLEX[name](out, *arguments, **options)
    if name not in MOVES or entry is None:
        raise Untraceable(f"'aten.{name}' of complex numbers has no graph operation")
    if "pad" in name and any(isinstance(one, (int, float)) and one != 0 for one in arguments[2:]):
        raise Untraceable(f"'aten.{name}' of complex numbers has no graph operation but with zeros")
    return pairs.of_parts(partial(entry, out), arguments, options)


def narrowed(value, out):
    """As PyTorch converts its operands first."""
    if isinstance(value, Complex):
        return Complex(as_dtype(value.re, out), as_dtype(value.im, out))
    return as_dtype(value, out) if isinstance(value, Traced) else value


def typed(value, out):
    if isinstance(value, Complex):
        return Complex(as_tensor(value.re, out), as_tensor(value.im, out))
    return as_tensor(value, out)


def _of(function):
    return lambda out, *operands: typed(function(*(narrowed(one, out) for one in operands)), out)


# ---- what they are made of ---------------------------------------------------------------------------------

COMPLEX |= {
    "complex": _of(pairs.joined),
    "polar": _of(pairs.polar),
    "real": lambda out, z: z.re if isinstance(z, Complex) else z,
    "imag": lambda out, z: z.im,
    "view_as_complex": lambda out, x: Complex(x[..., 0], x[..., 1]),
    "view_as_real": lambda out, z: layout.stack([z.re, z.im], -1),
}


@of_complex("_to_copy", "to")
def _to_copy(out, z, *_, **__):
    return typed(pairs.joined(*pairs.parts(narrowed(z, out))), out)


@of_complex("resolve_conj", "resolve_neg", "clone", "contiguous", "detach", "alias", "lift_fresh_copy")
def _same(out, z, *_, **__):
    return z


def _made_twice(*names):
    """Of two operations of real tensors, one for each part."""
    return lambda out, *arguments, **options: Complex(*(OPERATIONS[name](out, *arguments, **options) for name in names))


for _name in ("zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty"):
    COMPLEX[_name] = _made_twice(_name, _name)
for _name in ("ones", "ones_like", "new_ones"):
    COMPLEX[_name] = _made_twice(_name, _name.replace("ones", "zeros"))


@of_complex("full")
def _full(out, shape, value, **_):
    value = complex(value)
    return Complex(OPERATIONS["full"](out, shape, value.real), OPERATIONS["full"](out, shape, value.imag))


COMPLEX["new_full"] = lambda out, x, shape, value, **_: _full(out, shape, value)
COMPLEX["full_like"] = lambda out, x, value, **_: _full(out, x.shape, value)


# ---- arithmetic --------------------------------------------------------------------------------------------

COMPLEX |= {"neg": _of(pairs.negative), "mul": _of(pairs.multiply), "exp": _of(pairs.exponential)}
COMPLEX |= {"abs": _of(pairs.absolute), "angle": _of(pairs.angle), "log": _of(pairs.logarithm)}
COMPLEX |= {"square": _of(pairs.square), "reciprocal": _of(pairs.reciprocal), "sqrt": _of(pairs.root)}
COMPLEX |= {"sin": _of(pairs.sine), "cos": _of(pairs.cosine), "sinh": _of(pairs.hyperbolic_sine)}
COMPLEX |= {"cosh": _of(pairs.hyperbolic_cosine), "tanh": _of(pairs.hyperbolic_tangent)}
COMPLEX |= {"sgn": _of(pairs.sign), "sign": _of(pairs.sign)}
COMPLEX |= {"pow": lambda out, z, exponent: typed(pairs.power(narrowed(z, out), exponent), out)}
COMPLEX |= {"where": lambda out, condition, a, b: typed(pairs.where(condition, narrowed(a, out), narrowed(b, out)), out)}
COMPLEX |= {"masked_fill": lambda out, z, mask, value: COMPLEX["where"](out, mask, value, z)}
COMPLEX |= {"eq": lambda out, a, b: pairs.equal(a, b)}
for _name in ("conj", "_conj", "conj_physical", "_conj_physical"):
    COMPLEX[_name] = _of(pairs.conjugate)


def _sum_of(function):
    times = _of(pairs.multiply)
    return lambda out, a, b, alpha=1: _of(function)(out, a, b if alpha == 1 else times(out, b, alpha))


COMPLEX |= {"add": _sum_of(pairs.add), "sub": _sum_of(pairs.subtract)}
COMPLEX["rsub"] = lambda out, a, b, alpha=1: COMPLEX["sub"](out, b, a, alpha)
COMPLEX["div"] = COMPLEX["true_divide"] = lambda out, a, b, rounding_mode=None: _of(pairs.divide)(out, a, b)

for _name in ("mm", "bmm", "matmul", "mv", "dot", "outer"):
    COMPLEX[_name] = lambda out, a, b, name=_name: pairs.product(lambda x, y: OPERATIONS[name](out, x, y), a, b)
COMPLEX["vdot"] = lambda out, a, b: COMPLEX["dot"](out, pairs.conjugate(a), b)


@of_complex("linear")
def _linear(out, x, weights, bias=None):
    result = COMPLEX["matmul"](out, x, pairs.transposed(weights, (1, 0)))
    return result if bias is None else COMPLEX["add"](out, result, bias)


@of_complex("linalg_vector_norm", "norm")
def _norm(out, z, order=2, *arguments, **options):
    return OPERATIONS["linalg_vector_norm"](out, pairs.absolute(z), order, *arguments, **options)


COMPLEX["einsum"] = lambda out, equation, operands, **_: pairs.einsum(equation, *operands)


# ---- Fourier transforms ------------------------------------------------------------------------------------


@of_complex("_fft_c2c")
def _fft_c2c(out, z, axes, normalization, forward):
    return fourier.scaled(fourier.transform(z, axes, forward), z.shape, axes, normalization)


@of_complex("_fft_r2c")
def _fft_r2c(out, x, axes, normalization, onesided):
    x = as_dtype(x, out)
    return fourier.scaled(fourier.transform_of_real(x, axes, onesided), x.shape, axes, normalization)


@of_complex("_fft_c2r")
def _fft_c2r(out, z, axes, normalization, extent):
    result = fourier.real_transform(z, axes, extent)
    return fourier.scaled(result, result.shape, axes, normalization)
