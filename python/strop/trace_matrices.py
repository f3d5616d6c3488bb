"""NumPy's linear algebra of small matrices, and products that are layouts: written out over the elements."""

from __future__ import annotations

import numpy as np

from strop import trace_contraction as product_of
from strop import trace_layout as layout
from strop.trace_array import Traced, astype, axis_of, full, lift, pointwise, result_type
from strop.trace_calls import HANDLERS, handles
from strop.trace_dims import Untraceable, is_int

LARGEST = 6  # what is written out grows as the cube
LARGEST_ROOT = 8


def _elements(x, name: str, largest: int) -> list[list[Traced]]:
    """Rows of the last two axes, of a literal extent."""
    x = astype(lift(x), np.float64)  # what is left of the pivots loses digits
    rows, columns = x.shape[-2:]
    if not is_int(rows) or not is_int(columns) or rows != columns or rows > largest:
        raise Untraceable(f"'{name}' of matrices that are larger than {largest} x {largest} has no graph operation")
    return [[x[..., i, j] for j in range(columns)] for i in range(rows)]


def _matrix(rows: list[list[Traced]]) -> Traced:
    return layout.stack([layout.stack(row, -1) for row in rows], -2)


def _eliminated(rows, right):
    """Gauss-Jordan with the largest pivot of each column: the pivots, the sign of the exchanges, and `right` in the same
    steps, which becomes the solution."""
    count, pivots, sign = len(rows), [], None
    rows = [list(row) + list(more) for row, more in zip(rows, right)]
    for k in range(count):
        for i in range(k + 1, count):
            exchanged = pointwise("absolute", rows[i][k]) > pointwise("absolute", rows[k][k])
            turn = pointwise("where", exchanged, -1.0, 1.0)
            sign = turn if sign is None else sign * turn
            both = [(pointwise("where", exchanged, b, a), pointwise("where", exchanged, a, b))
                    for a, b in zip(rows[k], rows[i])]
            rows[k], rows[i] = [one for one, _ in both], [other for _, other in both]
        pivots.append(rows[k][k])
        rest = range(k + 1, len(rows[k]))
        for j in rest:
            rows[k][j] = rows[k][j] / pivots[k]
        for i in range(count):
            if i == k or (not right[0] and i < k):
                continue
            for j in rest:
                rows[i][j] = rows[i][j] - rows[i][k] * rows[k][j]
    return pivots, sign, [row[count:] for row in rows]


def _determinant(x, name: str) -> Traced:
    rows = _elements(x, name, LARGEST)
    if len(rows) == 1:
        return rows[0][0]
    pivots, result, _ = _eliminated(rows, [[] for _ in rows])
    for pivot in pivots:
        result = result * pivot
    return result


@handles("linalg.det")
def determinant(x):
    return astype(_determinant(x, "linalg.det"), _kind(x))


@handles("linalg.slogdet")
def log_determinant(x):
    value = _determinant(x, "linalg.slogdet")
    log = pointwise("log", pointwise("absolute", value))
    return astype(pointwise("sign", value), _kind(x)), astype(log, _kind(x))


def _kind(x):
    return lift(x).dtype if lift(x).dtype.kind == "f" else np.dtype(np.float64)


@handles("linalg.inv")
def inverse(x):
    rows = _elements(x, "linalg.inv", LARGEST)
    unit = [[full((), 1.0 if i == j else 0.0, np.float64) for j in range(len(rows))] for i in range(len(rows))]
    return astype(_matrix(_eliminated(rows, unit)[2]), _kind(x))


@handles("linalg.solve")
def solve(a, b):
    b = lift(b)
    matrix = layout.expand_dims(b, -1) if b.ndim == 1 else b
    rows = _elements(a, "linalg.solve", LARGEST)
    columns = matrix.shape[-1]
    if not is_int(columns) or columns > LARGEST:
        return product_of.matmul(inverse(a), b)
    right = [[astype(matrix[..., i, j], np.float64) for j in range(columns)] for i in range(len(rows))]
    found = astype(_matrix(_eliminated(rows, right)[2]), result_type([lift(a), b])[0])
    return found[..., 0] if b.ndim == 1 else found


@handles("linalg.cholesky")
def cholesky(x, upper=False):
    """By rows (Cholesky-Banachiewicz), of the lower triangle."""
    a = _elements(x, "linalg.cholesky", LARGEST_ROOT)
    zero = a[0][0] * 0
    root: list[list[Traced]] = [[zero] * len(a) for _ in a]
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i][j]
            for k in range(j):
                rest = rest - root[i][k] * root[j][k]
            root[i][j] = pointwise("sqrt", rest) if i == j else rest / root[j][j]
    return astype(_matrix([list(row) for row in zip(*root)] if upper else root), _kind(x))


@handles("linalg.matrix_power")
def matrix_power(x, n):
    x = lift(x)
    if not is_int(n):
        raise Untraceable("a power of a matrix that is no literal")
    if n < 0:
        x, n = inverse(x), -n
    if n == 0:
        i, j = layout.index_grid(x.shape[-2], x.shape[-1])
        return pointwise("where", pointwise("equal", i, j), x * 0 + 1, x * 0)
    result = None
    while n:
        if n & 1:
            result = x if result is None else product_of.matmul(result, x)
        n >>= 1
        x = product_of.matmul(x, x) if n else x
    return result


@handles("kron")
def kron(a, b):
    a, b = lift(a), lift(b)
    rank = max(a.ndim, b.ndim)
    shapes = [(1,) * (rank - x.ndim) + x.shape for x in (a, b)]
    one = layout.reshape(a, [extent for e in shapes[0] for extent in (e, 1)])
    other = layout.reshape(b, [extent for e in shapes[1] for extent in (1, e)])
    return layout.reshape(one * other, [p * q for p, q in zip(*shapes)])


@handles("cross", "linalg.cross")
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a, b = layout.moveaxis(lift(a), axisa, -1), layout.moveaxis(lift(b), axisb, -1)
    if not all(is_int(x.shape[-1]) and x.shape[-1] == 3 for x in (a, b)):
        raise Untraceable("'np.cross' of vectors that have not three elements has no graph operation")
    (x, y, z), (u, v, w) = ([side[..., i] for i in range(3)] for side in (a, b))
    result = layout.stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)
    return layout.moveaxis(result, -1, axis_of(axisc, result.ndim))


HANDLERS["matvec"] = lambda a, x: product_of.einsum("...ij,...j->...i", a, x)
HANDLERS["vecmat"] = lambda x, a: product_of.einsum("...i,...ij->...j", x, a)


@handles("linalg.matrix_norm")
def matrix_norm(x, ord="fro", keepdims=False):  # noqa: A002
    return HANDLERS["linalg.norm"](x, ord, (-2, -1), keepdims)


# ---- polynomials ---------------------------------------------------------------------------------------


def refuse_varying(coefficients, name: str):
    if isinstance(coefficients, Traced) and not (coefficients.ndim and is_int(coefficients.shape[0])):
        raise Untraceable(f"'{name}' with a varying number of coefficients has no graph operation")
    return coefficients


@handles("polyval")
def polynomial(coefficients, x):
    """By Horner's rule, the highest power first."""
    refuse_varying(coefficients, "np.polyval")
    few = [coefficients[i] for i in range(len(coefficients))]
    x = lift(x)
    result = x * 0 + few[0]
    for coefficient in few[1:]:
        result = result * x + (coefficient.item() if isinstance(coefficient, np.generic) else coefficient)
    return result


@handles("polyder")
def derivative(p, m=1):
    """The highest power first."""
    p = refuse_varying(lift(p), "np.polyder")
    for _ in range(m):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1) if p.shape[0] > 1 else p[:0]
    return p


@handles("polyint")
def antiderivative(p, m=1, k=None):
    p = refuse_varying(lift(p), "np.polyint")
    if isinstance(k, Traced):
        raise Untraceable("'np.polyint' with constants that are computed has no graph operation")
    for constant in np.broadcast_to(0 if k is None else k, m):
        p = layout.concatenate([p / np.arange(p.shape[0], 0, -1), lift(p * 0)[:1] + float(constant)], 0)
    return p


@handles("polynomial.polynomial.polyval")
def rising_polynomial(x, c):
    return polynomial([c[i] for i in range(len(c))][::-1], x)


@handles("polynomial.chebyshev.chebval")
def chebyshev_series(x, c):
    """By Clenshaw's recurrence."""
    refuse_varying(c, "chebval")
    x, terms = lift(x), [c[i] for i in range(len(c))]
    newer = older = x * 0
    for term in terms[:0:-1]:
        newer, older = 2 * x * newer - older + term, newer
    return x * newer - older + terms[0]


@handles("vander")
def powers(x, N=None, increasing=False):  # noqa: N803
    x = lift(x)
    count = x.shape[0] if N is None else N
    if not is_int(count):
        raise Untraceable("'np.vander' with a varying number of columns has no graph operation")
    columns = [x * 0 + 1]
    for _ in range(count - 1):
        columns.append(columns[-1] * x)
    return layout.stack(columns if increasing else columns[::-1], -1)
