"""Complex arrays as pairs of traced arrays; Fourier transforms of them are in trace_fourier.

The graph has real numbers only: neither inputs nor outputs are complex, what is computed between them may be. The
arithmetic here is PyTorch's too (import_complex); the table is of NumPy's functions.
"""

from __future__ import annotations

import weakref

import numpy as np

from strop import trace_angles as angles
from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, astype, full, lift, pointwise, result_type, transpose
from strop.trace_calls import HANDLERS, METHODS
from strop.trace_creation import broadcast_arrays, shape_where_taken
from strop.trace_dims import Untraceable
from strop.trace_operators import BINARY, Operators

COMPLEX: dict = {}  # by NumPy's names, where an operand or the result is complex


CHANGED = "complex numbers are changed in place through a view"
UNKNOWN = object()  # a view that somebody may still have


class Complex(Operators):
    """Slices and parts can change it, and it them; of other views (a transpose) whoever is alive keeps the rest from
    being changed."""

    def __init__(self, re: Traced, im: Traced, base: Complex | None = None, key=None):
        self._re, self._im = re, im
        self._base, self._key = base, key  # a slice of another, whose parts it shows
        self._owns = False  # its parts, which are nobody else's then and change in place
        self._born = GRAPH.tick()
        self._peers: list = []  # weak: views that are no slices, and what they are of; all of them have one list

    re = property(lambda self: self._part(0))
    im = property(lambda self: self._part(1))

    def _part(self, place: int) -> Traced:
        if self._base is None and not self._owns:
            return (self._re, self._im)[place]
        return copied(self.owned()[place])

    def owned(self) -> tuple:
        """The parts, to write into."""
        if self._base is not None:
            return tuple(part[self._key] for part in self._base.owned())
        if not self._owns:
            self._re, self._im, self._owns = copied(self._re), copied(self._im), True
            self._re.born = self._im.born = self._born
        return self._re, self._im

    def _view_of_part(self, place: int) -> Traced:
        if not self.whole._peers:
            return self.owned()[place]
        self.whole._peers.append(lambda: UNKNOWN)
        part = copied((self.re, self.im)[place])
        part._storage.frozen = CHANGED
        return part

    def _set_part(self, place: int, value):
        self._check_views()
        self._view_of_part(place)[...] = value

    @property
    def whole(self) -> Complex:
        """What it is a slice of."""
        return self if self._base is None else self._base.whole

    def _changed_to(self, value) -> Complex:
        if not self.shape:
            return value  # a number is another one then
        self[...] = value
        return self

    def _check_views(self):
        if any(one is not None and one is not self for one in (peer() for peer in self.whole._peers)):
            raise Untraceable(CHANGED)

    shape = property(lambda self: self.re.shape)
    ndim = property(lambda self: self.re.ndim)
    size = property(lambda self: self.re.size)
    real = property(lambda self: self._view_of_part(0), lambda self, value: self._set_part(0, value))
    imag = property(lambda self: self._view_of_part(1), lambda self, value: self._set_part(1, value))
    T = property(lambda self: shared(self.whole, transposed(self, tuple(reversed(range(self.ndim))))))
    dtype = property(lambda self: np.dtype(np.complex64 if self.re.dtype == np.float32 else np.complex128))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return Traced.__array_ufunc__(self, ufunc, method, *inputs, **options)  # type: ignore[arg-type]

    def __array_function__(self, function, types, arguments, options):
        return Traced.__array_function__(self, function, types, arguments, options)  # type: ignore[arg-type]

    def __getitem__(self, key):
        found = Complex(*(copied(part[key]) for part in self.owned()))
        if not found.shape or not is_slice(key):
            return found  # a number, or what an index array gives: a copy
        return Complex(found.re, found.im, self, key)

    def __setitem__(self, key, value):
        if isinstance(value, Complex) and value._base is self and value._key is key:
            return  # z[i] *= 2 puts back the slice that it has changed
        self._check_views()
        for part, new in zip(self.owned(), parts(value)):
            part[key] = 0.0 if new is None else new

    # Followed through loops and branches as an object with two entries (trace_states).
    def entries(self) -> dict | None:
        return dict(zip(("re", "im"), self.owned())) if self._base is None else None

    def refill(self, entries: dict):
        self._re, self._im = entries["re"], entries["im"]

    def rebuilt(self, entries: dict) -> Complex:
        return Complex(entries["re"], entries["im"])

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
    peers = [*base._peers, *view._peers, weakref.ref(base), weakref.ref(view)]
    for one in [peer() for peer in peers]:
        if one is not None:
            one._peers = peers
    return view


def is_slice(key) -> bool:
    """An index array makes a copy."""
    return not any(isinstance(one, list) or getattr(one, "ndim", 0) > 0
                   for one in (key if isinstance(key, tuple) else (key,)))


def copied(part: Traced) -> Traced:
    return Traced(part.node, part.shape, part.dtype, part.weak)


def is_complex(value) -> bool:
    if isinstance(value, (list, tuple)):
        return any(is_complex(one) for one in value)
    return isinstance(value, (Complex, complex, np.complexfloating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "c")


def concerns(name: str, arguments, options) -> bool:
    if is_complex(arguments):
        return True
    if name in ("astype", "array", "asarray", *CREATED):
        place = 2 if name.startswith("full") else 1
        dtype = options.get("dtype", arguments[place] if len(arguments) > place else None)
        return dtype is not None and not isinstance(dtype, str) and np.dtype(dtype).kind == "c"
    return name in COMPLEX and name.startswith("fft.")


def call_complex(name: str, arguments, options):
    if name in COMPLEX:
        return COMPLEX[name](*arguments, **options)
    if name not in MOVES or name not in HANDLERS:
        raise Untraceable(f"'np.{name}' of complex numbers has no graph operation")
    result = of_parts(HANDLERS[name], arguments, options)
    for one in arguments:
        for view in result if isinstance(result, list) else [result]:
            if isinstance(one, Complex) and isinstance(view, Complex) and name not in ("copy", "ndarray.copy"):
                shared(one.whole, view)  # it may be one
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
    """As NumPy's, without squares of large values, which do not fit."""
    return HANDLERS["hypot"](*parts(z))


def angle(z, deg=False):
    if deg:
        raise Untraceable("'np.angle' in degrees has no graph operation")
    return angles.angle_of(z.im, z.re)


def root(z):
    """The principal one. Of the sum, never of a difference: length and |re| can be nearly the same."""
    length = absolute(z)
    larger = pointwise("sqrt", (length + pointwise("absolute", z.re)) * 0.5)
    zero = pointwise("equal", length, 0.0)
    smaller = pointwise("absolute", z.im) / pointwise("where", zero, 1.0, larger * 2.0)
    is_right = pointwise("greater_equal", z.re, 0.0)
    im = pointwise("where", is_right, smaller, larger)
    return joined(pointwise("where", is_right, larger, smaller), pointwise("where", pointwise("less", z.im, 0.0), -im, im))


def sine(z):
    return joined(
        pointwise("sin", z.re) * pointwise("cosh", z.im), pointwise("cos", z.re) * pointwise("sinh", z.im)
    )


def cosine(z):
    return joined(
        pointwise("cos", z.re) * pointwise("cosh", z.im), -(pointwise("sin", z.re) * pointwise("sinh", z.im))
    )


def hyperbolic_sine(z):
    return _turned_back(sine(_turned(z)))


def hyperbolic_cosine(z):
    return cosine(_turned(z))


def hyperbolic_tangent(z):
    """sinh(re) cosh(re) + i sin(im) cos(im) over sinh(re)^2 + cos(im)^2; it is 1 or -1 long before the squares overflow."""
    bounded = pointwise("minimum", pointwise("maximum", z.re, -20.0), 20.0)
    sinh, sin, cos = pointwise("sinh", bounded), pointwise("sin", z.im), pointwise("cos", z.im)
    below = sinh * sinh + cos * cos
    return joined(sinh * pointwise("cosh", bounded) / below, sin * cos / below)


def _turned(z):
    """Times i: sinh(z) is -i sin(iz), cosh(z) is cos(iz)."""
    return Complex(-z.im, z.re)


def _turned_back(z):
    return Complex(z.im, -z.re)


def sign(z):
    length = absolute(z)
    length = pointwise("where", pointwise("equal", length, 0.0), 1.0, length)
    return joined(z.re / length, z.im / length)


def polar(length, turn):
    return joined(length * pointwise("cos", turn), length * pointwise("sin", turn))


def exponential(z):
    return polar(pointwise("exp", z.re), z.im)


def logarithm(z):
    return joined(pointwise("log", absolute(z)), angle(z))


def power(z, exponent):
    if not isinstance(exponent, (int, float, np.number)) or exponent != 0.5 and (
        exponent != int(exponent) or not 0 < abs(exponent) <= 16
    ):
        raise Untraceable(f"complex numbers to the power of {exponent} have no graph operation")
    if exponent == 0.5:
        return root(z)
    result = z
    for _ in range(abs(int(exponent)) - 1):
        result = multiply(result, z)
    return result if exponent > 0 else reciprocal(result)


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


# ---- NumPy's names -----------------------------------------------------------------------------------------

COMPLEX |= {"add": add, "subtract": subtract, "multiply": multiply, "divide": divide, "true_divide": divide}
COMPLEX |= {"conjugate": conjugate, "conj": conjugate, "absolute": absolute, "abs": absolute, "angle": angle}
COMPLEX |= {"exp": exponential, "log": logarithm, "power": power, "where": where, "equal": equal}
COMPLEX |= {
    "negative": negative,
    "positive": lambda z: z,
    "sqrt": root,
    "sin": sine,
    "cos": cosine,
    "sinh": hyperbolic_sine,
    "cosh": hyperbolic_cosine,
    "tanh": hyperbolic_tangent,
    "sign": sign,
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


# ---- creation ----------------------------------------------------------------------------------------------

CREATED = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like")


def filled(name, like, *arguments, dtype=None, shape=None, order="C"):
    """`arguments`: the value of those that have one, then the type."""
    re, im = parts(arguments[0]) if name.startswith("full") else (lift(float(name.startswith("ones"))), None)
    dtype = dtype or (arguments[-1] if len(arguments) > name.startswith("full") else None)
    dtype = np.dtype(dtype or like.dtype if name.endswith("_like") else dtype or complex)
    extents = like.shape if name.endswith("_like") and shape is None else shape_where_taken(like if shape is None else shape)
    part = np.dtype(np.float32) if dtype == np.complex64 else np.dtype(np.float64)
    return Complex(*(full(extents, 0.0 if one is None else one, part) for one in (re, im)))


for _name in CREATED:
    COMPLEX[_name] = lambda *arguments, name=_name, **options: filled(name, *arguments, **options)


def lifted(value):
    return value if isinstance(value, Complex) else joined(*parts(value)) if is_complex(value) else lift(value)
