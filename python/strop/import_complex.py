"""Complex tensors of PyTorch as pairs of traced arrays, and Fourier transforms as products with their matrices.

Complex numbers have no place in the graph: neither inputs nor outputs are complex, what is computed between them may be.
An entry is called as those of import_values are; of a complex result `out` is the type of its parts.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import torch

from strop import trace_angles as angles
from strop import trace_layout as layout
from strop.import_values import OPERATIONS, as_dtype, as_tensor, compute, numpy_dtype
from strop.trace_array import Traced, axis_of, lift, pointwise, transpose
from strop.trace_contraction import einsum
from strop.trace_creation import broadcast_arrays
from strop.trace_dims import Untraceable

PARTS = {torch.complex64: np.dtype(np.float32), torch.complex128: np.dtype(np.float64)}
COMPLEX: dict = {}  # as OPERATIONS, of operations that make or take complex tensors


@dataclasses.dataclass
class Complex:
    re: Traced
    im: Traced

    @property
    def shape(self):
        return self.re.shape

    @property
    def ndim(self):
        return self.re.ndim


def of_complex(*names):
    def register(function):
        for name in names:
            COMPLEX[name] = function
        return function

    return register


def is_complex(value) -> bool:
    if isinstance(value, (list, tuple)):
        return any(is_complex(one) for one in value)
    return isinstance(value, (Complex, complex))


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
    results = [entry(out, *(part_of(one, place) for one in arguments), **options) for place in ("re", "im")]
    if isinstance(results[0], (list, tuple)):
        return [Complex(*parts) for parts in zip(*results)]
    return Complex(*results)


# What moves elements does the same to both parts.
MOVES = set(
    "view reshape _unsafe_view _reshape_alias view_copy permute transpose swapaxes t movedim unsqueeze flatten expand "
    "expand_as broadcast_to squeeze cat concatenate stack flip repeat repeat_interleave roll slice select narrow split "
    "split_with_sizes unbind chunk index index_select gather clone contiguous detach alias lift_fresh_copy pad "
    "constant_pad_nd sum mean cumsum diagonal unfold as_strided tril triu slice_copy select_copy unsqueeze_copy "
    "permute_copy expand_copy detach_ lift_fresh select_scatter slice_scatter".split()
)


def part_of(value, place: str):
    if isinstance(value, (list, tuple)):
        return [part_of(one, place) for one in value]
    if isinstance(value, Complex):
        return getattr(value, place)
    return value if not isinstance(value, Traced) or place == "re" or value.dtype.kind != "f" else value * 0.0


def parts(value, out) -> tuple[Traced, Traced]:
    """Of a real value the imaginary part is 0."""
    if isinstance(value, Complex):
        return as_dtype(value.re, out), as_dtype(value.im, out)
    if isinstance(value, complex):
        return lift(value.real), lift(value.imag)
    return as_dtype(value, out), lift(0.0)


def is_real(value) -> bool:
    return not isinstance(value, Complex) and not (isinstance(value, complex) and value.imag != 0)


# ---- what they are made of ---------------------------------------------------------------------------------


@of_complex("complex")
def _complex(out, re, im):
    return Complex(*broadcast_arrays(as_dtype(re, out), as_dtype(im, out)))


@of_complex("polar")
def _polar(out, length, angle):
    return Complex(*(compute("multiply", out, length, compute(op, out, angle)) for op in ("cos", "sin")))


@of_complex("view_as_complex", "view_as_complex_copy")
def _view_as_complex(out, x):
    return Complex(x[..., 0], x[..., 1])


@of_complex("view_as_real", "view_as_real_copy")
def _view_as_real(out, z):
    return layout.stack([z.re, z.im], -1)


@of_complex("real")
def _real(out, z):
    return z.re if isinstance(z, Complex) else z


@of_complex("imag")
def _imag(out, z):
    return z.im


@of_complex("_to_copy", "to")
def _to_copy(out, z, *_, **__):
    return Complex(*(as_tensor(part, out) for part in broadcast_arrays(*parts(z, out))))


@of_complex("conj", "_conj", "conj_physical", "_conj_physical", "_conj_copy")
def _conj(out, z):
    return Complex(z.re, -z.im)


@of_complex("resolve_conj", "resolve_neg", "clone", "contiguous", "detach", "alias", "lift_fresh_copy")
def _same(out, z, *_, **__):
    return z


@of_complex("abs")
def _abs(out, z):
    return pointwise("sqrt", z.re * z.re + z.im * z.im)


@of_complex("angle")
def _angle(out, z):
    return angles.angle_of(z.im, z.re)


# ---- arithmetic --------------------------------------------------------------------------------------------


def _joined(re, im, out) -> Complex:
    return Complex(*broadcast_arrays(as_tensor(re, out), as_tensor(im, out)))


@of_complex("add")
def _add(out, a, b, alpha=1):
    (a_re, a_im), (b_re, b_im) = parts(a, out), parts(b if alpha == 1 else _mul(out, b, alpha), out)
    return _joined(a_re + b_re, a_im + b_im, out)


@of_complex("sub")
def _sub(out, a, b, alpha=1):
    (a_re, a_im), (b_re, b_im) = parts(a, out), parts(b if alpha == 1 else _mul(out, b, alpha), out)
    return _joined(a_re - b_re, a_im - b_im, out)


@of_complex("rsub")
def _rsub(out, a, b, alpha=1):
    return _sub(out, b, a, alpha)


@of_complex("neg")
def _neg(out, z):
    return Complex(-z.re, -z.im)


@of_complex("mul")
def _mul(out, a, b):
    (a_re, a_im), (b_re, b_im) = parts(a, out), parts(b, out)
    if is_real(b):
        return _joined(a_re * b_re, a_im * b_re, out)
    if is_real(a):
        return _joined(a_re * b_re, a_re * b_im, out)
    return _joined(a_re * b_re - a_im * b_im, a_re * b_im + a_im * b_re, out)


@of_complex("div", "true_divide")
def _div(out, a, b, rounding_mode=None):
    (a_re, a_im), (b_re, b_im) = parts(a, out), parts(b, out)
    if is_real(b):
        return _joined(a_re / b_re, a_im / b_re, out)
    length = b_re * b_re + b_im * b_im
    return _joined((a_re * b_re + a_im * b_im) / length, (a_im * b_re - a_re * b_im) / length, out)


@of_complex("reciprocal")
def _reciprocal(out, z):
    length = z.re * z.re + z.im * z.im
    return Complex(z.re / length, -z.im / length)


@of_complex("exp")
def _exp(out, z):
    return _polar(out, pointwise("exp", z.re), z.im)


@of_complex("log")
def _log(out, z):
    return Complex(pointwise("log", _abs(out, z)), _angle(out, z))


@of_complex("square")
def _square(out, z):
    return _mul(out, z, z)


@of_complex("pow")
def _pow(out, z, exponent):
    if not isinstance(exponent, int) or not 0 < exponent <= 16:
        raise Untraceable(f"'aten.pow' of complex numbers with {exponent!r} has no graph operation")
    result = z
    for _ in range(exponent - 1):
        result = _mul(out, result, z)
    return result


@of_complex("where")
def _where(out, condition, a, b):
    return _joined(*(pointwise("where", condition, x, y) for x, y in zip(parts(a, out), parts(b, out))), out)


@of_complex("eq")
def _eq(out, a, b):
    (a_re, a_im), (b_re, b_im) = (parts(one, np.dtype(np.float32)) for one in (a, b))
    return pointwise("logical_and", pointwise("equal", a_re, b_re), pointwise("equal", a_im, b_im))


def _product(entry):
    """Of two tensors, from four products of their parts."""

    def apply(out, a, b):
        if not isinstance(a, Complex):
            return Complex(entry(out, a, b.re), entry(out, a, b.im))
        if not isinstance(b, Complex):
            return Complex(entry(out, a.re, b), entry(out, a.im, b))
        return Complex(entry(out, a.re, b.re) - entry(out, a.im, b.im), entry(out, a.re, b.im) + entry(out, a.im, b.re))

    return apply


for _name in ("mm", "bmm", "matmul", "mv", "dot"):
    COMPLEX[_name] = _product(lambda out, a, b, name=_name: OPERATIONS[name](out, a, b))


@of_complex("einsum")
def _einsum(out, equation, operands, **_):
    if len(operands) == 1:
        return Complex(*(einsum(equation, part) for part in (operands[0].re, operands[0].im)))
    return _product(lambda out, a, b: einsum(equation, a, b))(out, *operands)


# ---- Fourier transforms ------------------------------------------------------------------------------------


def _turns(rows, columns, extent, out) -> Complex:
    """exp(-2 pi i j k / extent) of rows j and columns k; whole turns are left out in whole numbers."""
    j, k = layout.expand_dims(layout.arange(rows), 1), layout.expand_dims(layout.arange(columns), 0)
    angle = as_tensor(j * k % extent, out) * (2 * math.pi) / as_dtype(lift(extent), out)
    return Complex(pointwise("cos", angle), -pointwise("sin", angle))


def _transposed(value, order):
    if isinstance(value, Complex):
        return Complex(transpose(value.re, order), transpose(value.im, order))
    return transpose(value, order)


def _axis_last(value, axis) -> tuple[list, list]:
    """The order of axes that has this one last, and the one that puts it back."""
    order = [one for one in range(value.ndim) if one != axis] + [axis]
    return order, [order.index(one) for one in range(value.ndim)]


def _along(value, axis, matrix, out):
    order, back = _axis_last(value, axis_of(axis, value.ndim))
    return _transposed(COMPLEX["matmul"](out, _transposed(value, order), matrix), back)


def _scaled(value, shape, axes, normalization, out):
    """By 1 (0), by the root of the number of elements (1) or by that number (2), of the axes of `shape`."""
    if normalization == 0:
        return value
    count = 1
    for axis in axes:
        count = count * shape[axis_of(axis, len(shape))]
    scale = as_tensor(as_dtype(lift(count), out), out)
    scale = pointwise("sqrt", scale) if normalization == 1 else scale
    return Complex(value.re / scale, value.im / scale) if isinstance(value, Complex) else value / scale


@of_complex("_fft_c2c")
def _fft_c2c(out, z, axes, normalization, forward):
    result = z
    for axis in axes:
        extent = z.shape[axis_of(axis, z.ndim)]
        matrix = _turns(extent, extent, extent, out)
        result = _along(result, axis, matrix if forward else _conj(out, matrix), out)
    return _scaled(result, z.shape, axes, normalization, out)


@of_complex("_fft_r2c")
def _fft_r2c(out, x, axes, normalization, onesided):
    extent = x.shape[axis_of(axes[-1], x.ndim)]
    result = _along(x, axes[-1], _turns(extent, extent // 2 + 1 if onesided else extent, extent, out), out)
    if len(axes) > 1:
        result = _fft_c2c(out, result, axes[:-1], 0, True)
    return _scaled(result, x.shape, axes, normalization, out)


@of_complex("_fft_c2r")
def _fft_c2r(out, z, axes, normalization, extent):
    """The elements behind the middle are the conjugates of those before it: all but the first and, of an even extent,
    the last count twice."""
    if len(axes) > 1:
        z = _fft_c2c(out, z, axes[:-1], 0, False)
    axis = axis_of(axes[-1], z.ndim)
    order, back = _axis_last(z, axis)
    count = z.shape[axis]
    k = layout.arange(count)
    once = pointwise("logical_or", pointwise("equal", k, 0), pointwise("equal", k * 2, extent))
    weight = layout.expand_dims(pointwise("where", once, lift(1.0), lift(2.0)), 1)
    turns = _turns(count, extent, extent, out)
    moved, multiply = _transposed(z, order), OPERATIONS["matmul"]
    re = multiply(out, moved.re, as_tensor(turns.re * weight, out))
    im = multiply(out, moved.im, as_tensor(turns.im * weight, out))
    shape = tuple(extent if one == axis else z.shape[one] for one in range(z.ndim))
    return _scaled(transpose(re + im, back), shape, axes, normalization, out)
