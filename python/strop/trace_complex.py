"""Complex arrays as pairs of traced arrays, and Fourier transforms as products with their matrices.

The graph has real numbers only: neither inputs nor outputs are complex, what is computed between them may be. The
arithmetic here is PyTorch's too (import_complex); the table is of NumPy's functions.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from strop import trace_angles as angles
from strop import trace_layout as layout
from strop.trace_array import Traced, astype, axis_of, lift, pointwise, result_type, transpose
from strop.trace_calls import HANDLERS, METHODS
from strop.trace_creation import broadcast_arrays
from strop.trace_dims import Untraceable, looks_negative, same
from strop.trace_operators import BINARY, Operators

COMPLEX: dict = {}  # by NumPy's names, where an operand or the result is complex


class Complex(Operators):
    """Its parts are never changed through others: who has a view of it, or of a part, keeps it from being changed."""

    def __init__(self, re: Traced, im: Traced):
        self._re, self._im = re, im
        self.is_shared = False  # has views, or is one
        self._given: list[tuple[Traced, int]] = []  # parts that somebody may write into, and their version then

    re = property(lambda self: self._unchanged(self._re))
    im = property(lambda self: self._unchanged(self._im))

    def _unchanged(self, part: Traced) -> Traced:
        if any(one._storage.version != version for one, version in self._given):
            raise Untraceable("a part of complex numbers is changed in place")
        return part

    def _give(self, part: Traced) -> Traced:
        own = Traced(part.node, part.shape, part.dtype, part.weak)
        self._given.append((own, own._storage.version))
        self.is_shared = True
        return own

    def _changed_to(self, value) -> Complex:
        re, im = parts(value)
        if self.is_shared or im is None or re.shape != self.shape:
            raise Untraceable("complex numbers are changed in place through a view")
        self._re, self._im = re, im
        return self

    shape = property(lambda self: self.re.shape)
    ndim = property(lambda self: self.re.ndim)
    size = property(lambda self: self.re.size)
    real = property(lambda self: self._give(self.re))
    imag = property(lambda self: self._give(self.im))
    T = property(lambda self: shared(self, transposed(self, tuple(reversed(range(self.ndim))))))
    dtype = property(lambda self: np.dtype(np.complex64 if self.re.dtype == np.float32 else np.complex128))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return Traced.__array_ufunc__(self, ufunc, method, *inputs, **options)  # type: ignore[arg-type]

    def __array_function__(self, function, types, arguments, options):
        return Traced.__array_function__(self, function, types, arguments, options)  # type: ignore[arg-type]

    def __getitem__(self, key):
        return shared(self, Complex(self.re[key], self.im[key]))

    def __setitem__(self, key, value):
        raise Untraceable("an assignment to complex elements has no graph operation")

    def __len__(self):
        return len(self.re)

    def __getattr__(self, name):
        if name in METHODS:
            entry = {"conj": "conjugate", "conjugate": "conjugate"}.get(name, METHODS[name])
            return lambda *arguments, **options: call_complex(entry, (self, *arguments), options)
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            raise Untraceable(f"'ndarray.{name}' of complex numbers has no graph operation")
        raise AttributeError(f"arrays have no attribute '{name}'")


for _operator, _function in BINARY.items():
    setattr(Complex, f"__i{_operator}__", lambda self, other, name=_function: self._changed_to(
        call_complex(name, (self, other), {})))


def shared(base: Complex, view: Complex) -> Complex:
    base.is_shared = view.is_shared = True
    return view


def is_complex(value) -> bool:
    if isinstance(value, (list, tuple)):
        return any(is_complex(one) for one in value)
    return isinstance(value, (Complex, complex, np.complexfloating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "c")


def concerns(name: str, arguments, options) -> bool:
    if is_complex(arguments):
        return True
    if name in ("astype", "array", "asarray"):
        dtype = options.get("dtype", arguments[1] if len(arguments) > 1 else None)
        return dtype is not None and not isinstance(dtype, str) and np.dtype(dtype).kind == "c"
    return name in COMPLEX and name.startswith("fft.")


def call_complex(name: str, arguments, options):
    if name in COMPLEX:
        return COMPLEX[name](*arguments, **options)
    if name not in MOVES or name not in HANDLERS:
        raise Untraceable(f"'np.{name}' of complex numbers has no graph operation")
    result = of_parts(HANDLERS[name], arguments, options)
    for one in [*arguments, *(result if isinstance(result, list) else [result])]:
        if isinstance(one, Complex):
            one.is_shared = True  # it may be a view
    return result


# What moves elements, or adds them up, does the same to both parts.
MOVES = set(
    "reshape transpose permute_dims swapaxes moveaxis squeeze expand_dims concatenate stack hstack vstack flip fliplr "
    "flipud roll rot90 broadcast_to tile repeat take take_along_axis ravel copy ndarray.copy ndarray.flatten diagonal "
    "trace atleast_1d atleast_2d split array_split sum add.reduce mean cumsum cumulative_sum tril triu fft.fftshift "
    "fft.ifftshift".split()
)


def of_parts(entry, arguments, options):
    results = [entry(*(part_of(one, place) for one in arguments), **options) for place in ("re", "im")]
    if isinstance(results[0], (list, tuple)):
        return [Complex(*pair) for pair in zip(*results)]
    return Complex(*results)


def part_of(value, place: str):
    """Of a real array among complex ones the imaginary part is 0."""
    if isinstance(value, (list, tuple)):
        return [part_of(one, place) for one in value]
    if isinstance(value, Complex):
        return getattr(value, place)
    return value if not isinstance(value, Traced) or place == "re" or value.dtype.kind != "f" else value * 0.0


# ---- arithmetic --------------------------------------------------------------------------------------------


def parts(value) -> tuple:
    """The imaginary part of a real value is None."""
    if isinstance(value, Complex):
        return value.re, value.im
    if isinstance(value, (complex, np.complexfloating)):
        return lift(float(value.real)), lift(float(value.imag)) if value.imag != 0 else None
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        return lift(np.ascontiguousarray(value.real)), lift(np.ascontiguousarray(value.imag))
    if isinstance(value, (list, tuple)) and is_complex(value):
        return parts(of_parts(HANDLERS["stack"], ([lifted(one) for one in value],), {}))
    return lift(value), None


def joined(re, im) -> Complex:
    im = _or_0(im)
    dtype, weak = result_type([re, im])
    if not weak:
        re, im = (one if one.dtype == dtype and not one.weak else astype(one, dtype) for one in (re, im))
    return Complex(*broadcast_arrays(re, im))


def _plus(a, b):
    return a if b is None else b if a is None else a + b


def _minus(a, b):
    return a if b is None else -b if a is None else a - b


def _times(a, b):
    return None if a is None or b is None else a * b


def add(a, b):
    (a_re, a_im), (b_re, b_im) = parts(a), parts(b)
    return joined(a_re + b_re, _plus(a_im, b_im))


def subtract(a, b):
    (a_re, a_im), (b_re, b_im) = parts(a), parts(b)
    return joined(a_re - b_re, _minus(a_im, b_im))


def multiply(a, b):
    (a_re, a_im), (b_re, b_im) = parts(a), parts(b)
    return joined(_minus(a_re * b_re, _times(a_im, b_im)), _plus(_times(a_re, b_im), _times(a_im, b_re)))


def divide(a, b):
    (a_re, a_im), (b_re, b_im) = parts(a), parts(b)
    if b_im is None:
        return joined(a_re / b_re, None if a_im is None else a_im / b_re)
    above, length = multiply(a, Complex(b_re, -b_im)), b_re * b_re + b_im * b_im
    return joined(above.re / length, above.im / length)


def negative(z):
    return Complex(-z.re, -z.im)


def square(z):
    return multiply(z, z)


def reciprocal(z):
    return divide(1.0, z)


def conjugate(z):
    re, im = parts(z)
    return joined(re, None if im is None else -im)


def absolute(z):
    re, im = parts(z)
    return pointwise("sqrt", re * re + im * im)


def angle(z, deg=False):
    if deg:
        raise Untraceable("'np.angle' in degrees has no graph operation")
    return angles.angle_of(z.im, z.re)


def polar(length, turn):
    return joined(length * pointwise("cos", turn), length * pointwise("sin", turn))


def exponential(z):
    return polar(pointwise("exp", z.re), z.im)


def logarithm(z):
    return joined(pointwise("log", absolute(z)), angle(z))


def power(z, exponent):
    if not isinstance(exponent, (int, np.integer)) or not 0 < exponent <= 16:
        raise Untraceable(f"complex numbers to the power of {exponent} have no graph operation")
    result = z
    for _ in range(int(exponent) - 1):
        result = multiply(result, z)
    return result


def where(condition, a, b):
    (a_re, a_im), (b_re, b_im) = parts(a), parts(b)
    return joined(pointwise("where", condition, a_re, b_re), pointwise("where", condition, _or_0(a_im), _or_0(b_im)))


def equal(a, b):
    (a_re, a_im), (b_re, b_im) = parts(a), parts(b)
    return pointwise("logical_and", pointwise("equal", a_re, b_re), pointwise("equal", _or_0(a_im), _or_0(b_im)))


def _or_0(im):
    return lift(0.0) if im is None else im


def product(entry, a, b):
    """Of two tensors, from products of their parts; `entry` is linear in both."""
    (a_re, a_im), (b_re, b_im) = parts(a), parts(b)
    return joined(
        _minus(entry(a_re, b_re), None if a_im is None or b_im is None else entry(a_im, b_im)),
        _plus(None if b_im is None else entry(a_re, b_im), None if a_im is None else entry(a_im, b_re)),
    )


def transposed(value, order):
    if isinstance(value, Complex):
        return Complex(transpose(value.re, order), transpose(value.im, order))
    return transpose(value, order)


# ---- Fourier transforms ------------------------------------------------------------------------------------

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

COMPLEX |= {"add": add, "subtract": subtract, "multiply": multiply, "divide": divide, "true_divide": divide}
COMPLEX |= {"conjugate": conjugate, "conj": conjugate, "absolute": absolute, "abs": absolute, "angle": angle}
COMPLEX |= {"exp": exponential, "log": logarithm, "power": power, "where": where, "equal": equal}
COMPLEX |= {
    "negative": negative,
    "positive": lambda z: z,
    "square": square,
    "reciprocal": reciprocal,
    "not_equal": lambda a, b: pointwise("logical_not", equal(a, b)),
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "isnan": lambda z: pointwise("logical_or", pointwise("isnan", z.re), pointwise("isnan", z.im)),
    "linalg.norm": lambda z, ord=None, axis=None, keepdims=False: _norm_of(z, ord, axis, keepdims),
    "iscomplexobj": lambda z: True,
    "isrealobj": lambda z: False,
    "vdot": lambda a, b: product(HANDLERS["vdot"], conjugate(a), b),
}
for _name in "matmul dot inner outer kron tensordot convolve".split():
    COMPLEX[_name] = lambda a, b, *rest, name=_name, **options: product(
        lambda x, y: HANDLERS[name](x, y, *rest, **options), a, b)


def _norm_of(z, order, axis, keepdims):
    return HANDLERS["linalg.norm"](absolute(z), order, axis, keepdims)


def einsum(equation, *operands):
    if len(operands) == 1:
        return of_parts(lambda one: HANDLERS["einsum"](equation, one), operands, {})
    if len(operands) != 2:
        raise Untraceable("'np.einsum' of more than two complex operands has no graph operation")
    return product(lambda a, b: HANDLERS["einsum"](equation, a, b), *operands)


def _astype(value, dtype=None, **_):
    re, im = parts(value)
    if dtype is None:
        return joined(re, im)
    dtype = np.dtype(dtype)
    if dtype.kind != "c":
        return astype(re, dtype)
    part = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
    return joined(astype(re, part), None if im is None else astype(im, part))


COMPLEX |= {"einsum": einsum, "astype": _astype, "array": _astype, "asarray": _astype}


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


def lifted(value):
    return value if isinstance(value, Complex) else joined(*parts(value)) if is_complex(value) else lift(value)


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
