"""Fourier transforms as products with their matrices, of real arrays and of complex ones (trace_complex).

The transforms are PyTorch's too (import_complex); the table is of NumPy's functions.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import Traced, astype, axis_of, lift, pointwise, transpose
from strop.trace_calls import HANDLERS
from strop.trace_complex import COMPLEX, Complex, conjugate, joined, lifted, of_parts, parts, product, transposed
from strop.trace_dims import looks_negative, same

# A result is divided by: nothing, the root of the number of elements, that number.
AS_IT_IS, BY_ROOT, BY_COUNT = 0, 1, 2


def turns(rows, columns, extent, dtype) -> Complex:
    """exp(-2 pi i j k / extent) of rows j and columns k; whole turns are left out in whole numbers."""
    j, k = layout.expand_dims(layout.arange(rows), 1), layout.expand_dims(layout.arange(columns), 0)
    turn = astype(j * k % extent, dtype) * (2 * math.pi) / astype(lift(extent), dtype)
    return Complex(pointwise("cos", turn), -pointwise("sin", turn))


def _axis_last(value, axis) -> tuple[list, list]:
    """The order of axes that has this one last, and the one that puts it back."""
    order = [one for one in range(value.ndim) if one != axis] + [axis]
    return order, [order.index(one) for one in range(value.ndim)]


def _along(value, axis, matrix):
    order, back = _axis_last(value, axis_of(axis, value.ndim))
    return transposed(product(HANDLERS["matmul"], transposed(value, order), matrix), back)


def scaled(value, shape, axes, how):
    """By the extents of these axes of `shape`."""
    if how == AS_IT_IS:
        return value
    re, im = parts(value)
    count = 1
    for axis in axes:
        count = count * shape[axis_of(axis, len(shape))]
    divisor = astype(lift(count), re.dtype)
    divisor = pointwise("sqrt", divisor) if how == BY_ROOT else divisor
    return re / divisor if im is None else Complex(re / divisor, im / divisor)


def transform(z, axes, forward=True) -> Complex:
    for axis in axes:
        extent = z.shape[axis_of(axis, z.ndim)]
        matrix = turns(extent, extent, extent, parts(z)[0].dtype)
        z = _along(z, axis, matrix if forward else conjugate(matrix))
    return z if isinstance(z, Complex) else joined(z, None)


def transform_of_real(x, axes, onesided=True) -> Complex:
    """Of the last of these axes the first half."""
    extent = x.shape[axis_of(axes[-1], x.ndim)]
    matrix = turns(extent, extent // 2 + 1 if onesided else extent, extent, x.dtype)
    return transform(_along(x, axes[-1], matrix), axes[:-1])


def real_transform(z, axes, extent) -> Traced:
    """Back, of the first half. The elements behind the middle are the conjugates of those before it: all but the first
    and, of an even extent, the last count twice."""
    z = transform(z, axes[:-1], forward=False)
    axis = axis_of(axes[-1], z.ndim)
    order, back = _axis_last(z, axis)
    k = layout.arange(z.shape[axis])
    once = pointwise("logical_or", pointwise("equal", k, 0), pointwise("equal", k * 2, extent))
    weight = layout.expand_dims(pointwise("where", once, lift(1.0), lift(2.0)), 1)
    matrix, moved, matmul = turns(z.shape[axis], extent, extent, z.re.dtype), transposed(z, order), HANDLERS["matmul"]
    weighted = [astype(one * weight, z.re.dtype) for one in (matrix.re, matrix.im)]
    return transpose(matmul(moved.re, weighted[0]) + matmul(moved.im, weighted[1]), back)


# ---- NumPy's names -----------------------------------------------------------------------------------------


def _transformed(value):
    """float32 stays what it is since NumPy 2."""
    re, im = parts(value)
    narrow = re.dtype == np.float32 and not re.weak and int(np.__version__.partition(".")[0]) >= 2
    dtype = np.dtype(np.float32 if narrow else np.float64)
    return astype(re, dtype) if im is None else Complex(astype(re, dtype), astype(im, dtype))


def _resized(value, extents, axes):
    """Cut off, or with zeros behind."""
    for extent, axis in zip(extents, axes):
        axis = axis_of(axis, value.ndim)
        more = 0 if extent is None else extent - value.shape[axis]
        if extent is None or same(extent, value.shape[axis]):
            continue
        if looks_negative(more):
            value = value[(slice(None),) * axis + (slice(0, extent),)]
        else:
            width = [(0, more if one == axis else 0) for one in range(value.ndim)]
            pad = lambda one, width=width: HANDLERS["pad"](one, width)  # noqa: E731
            value = of_parts(pad, (value,), {}) if isinstance(value, Complex) else pad(value)
    return value


def _norm(norm, forward) -> int:
    if norm == "ortho":
        return BY_ROOT
    return BY_COUNT if (norm == "forward") == forward else AS_IT_IS


def _axes(value, s, axes, count) -> list:
    if axes is not None:
        return [axes] if isinstance(axes, int) else list(axes)
    return list(range(-(count or (len(s) if s is not None else value.ndim)), 0))


def _to(x, s, axes, norm, forward, real=False):
    x = _resized(_transformed(x), s or [None] * len(axes), axes)
    z = transform_of_real(x, axes) if real else transform(x, axes, forward)
    return scaled(z, x.shape, axes, _norm(norm, forward))


def _from_half(z, s, axes, norm):
    z = _transformed(z)
    z = joined(z, None) if isinstance(z, Traced) else z
    s = list(s) if s is not None else [None] * len(axes)
    last = axis_of(axes[-1], z.ndim)
    extent = 2 * (z.shape[last] - 1) if s[-1] is None else s[-1]
    z = _resized(z, [*s[:-1], extent // 2 + 1], axes)
    result = real_transform(z, axes, extent)
    return scaled(result, result.shape, axes, _norm(norm, False))


def _one_axis(x, n=None, axis=-1, norm=None, *, forward, real):
    return _to(lifted(x), [n], [axis], norm, forward, real)


def _several_axes(x, s=None, axes=None, norm=None, *, count, forward, real):
    x = lifted(x)
    return _to(x, s, _axes(x, s, axes, count), norm, forward, real)


def _half_of_one_axis(z, n=None, axis=-1, norm=None):
    return _from_half(lifted(z), [n], [axis], norm)


def _half_of_several_axes(z, s=None, axes=None, norm=None, *, count):
    z = lifted(z)
    return _from_half(z, s, _axes(z, s, axes, count), norm)


for _name, _forward, _real in (("fft", True, False), ("ifft", False, False), ("rfft", True, True)):
    COMPLEX[f"fft.{_name}"] = partial(_one_axis, forward=_forward, real=_real)
    COMPLEX[f"fft.{_name}2"] = partial(_several_axes, count=2, forward=_forward, real=_real)
    COMPLEX[f"fft.{_name}n"] = partial(_several_axes, count=0, forward=_forward, real=_real)
COMPLEX |= {"fft.irfft": _half_of_one_axis, "fft.irfft2": partial(_half_of_several_axes, count=2)}
COMPLEX |= {"fft.irfftn": partial(_half_of_several_axes, count=0)}
