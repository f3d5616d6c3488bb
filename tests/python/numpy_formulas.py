"""NumPy's and SciPy's functions that are formulas over others, as users call them; see formulas.py."""

import numpy as np
import scipy.special


def gradient_rows(x):
    """x: M N"""
    return np.gradient(x, axis=1)


def gradient_both(x):
    """x: M N"""
    return np.gradient(x, 0.5, 2.0)


def trapezoid_dx(x):
    """x: M N"""
    return np.trapezoid(x, dx=0.1, axis=1)


def trapezoid_x(y, x):
    """y: M N, x: N"""
    return np.trapezoid(y, x)


def differences(x):
    """x: M N"""
    return np.diff(x, n=2, axis=0), np.diff(x, prepend=0.0), np.ediff1d(x)


def borders(x):
    """x: M N"""
    return (
        np.pad(x, 2, mode="edge"),
        np.pad(x, ((1, 2), (3, 0)), mode="reflect"),
        np.pad(x, ((2, 1), (0, 3)), mode="symmetric"),
        np.pad(x, ((0, 0), (2, 2)), mode="wrap"),
    )


def rolled(x):
    """x: M N"""
    return np.roll(x, 2), np.roll(x, (1, -2), (0, 1)), np.roll(x, 1, axis=0), np.roll(x, -3, axis=1)


def rolled_back(x):
    """x: M N"""
    return np.roll(x, -1), np.roll(x, (-(x.shape[0] // 2), -(x.shape[1] // 2)), axis=(0, 1)), np.roll(x, -9, axis=1)


def constants_beside(x):
    """x: M N"""
    return x * 2, np.ones(5, dtype=x.dtype), np.linspace(0, 1, x.shape[0]), np.full(x.shape[1], 3)


def inner_part(x):
    """x: M N"""
    y = x.copy()
    y[1:-1, 1:-1] += 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1])
    y[0, 2:4] = 7
    return y


def meshes(x):
    """x: M N"""
    m, n = x.shape
    i, j = np.mgrid[0:m, 0:n]
    p, q = np.ogrid[0:m, 1 : n + 1]
    return x * i + j, (x + p) / q


def hyperbolic(x):
    """x: M N"""
    return np.sinh(x), np.cosh(x), np.sinh(x * 1e-4) * 1e4, np.sinh(x * 40), np.cosh(x * 40)


def larger_systems(x, b):
    """x: B 6 6, b: B 6 2"""
    return np.linalg.det(x), np.linalg.solve(x, b), np.linalg.inv(x)


def a_histogram_of_one_value(x):
    """x: 30"""
    return np.histogram(np.round(x * 0.01), bins=4)[0]


def turned(x):
    """x: M N"""
    return np.rot90(x), np.rot90(x, 2), np.rot90(x, -1), np.rot90(x, 1, (1, 0))


def grids(a, b):
    """a: M, b: N"""
    p, q = np.meshgrid(a, b)
    r, s = np.meshgrid(a, b, indexing="ij", sparse=True)
    return p * q, r + s


def index_grids(x):
    """x: M N"""
    rows, columns = np.indices(x.shape)
    return x * rows + columns, np.fromfunction(lambda i, j: i * 2 + j, x.shape) + x


def blocks(a, b):
    """a: M M, b: M"""
    return np.block([[a, a.T], [a * 2, a]]), np.column_stack((b, b * 2, a)), np.append(a, a), np.dstack((a, a))


def pieces(x):
    """x: Q C"""
    top, bottom = np.vsplit(x, 2)
    left, right = np.hsplit(x, 2)
    return top + bottom, left - right


def diagonals_beside(v, a):
    """v: M, a: M M"""
    b = a.copy()
    np.fill_diagonal(b, 3.0)
    return np.diag(v, 2), np.diag(v, -1), np.diagflat(v), b


def steps_between(x):
    """x: M N"""
    return x * np.linspace(0, 1, x.shape[1]) + np.linspace(2, 5, x.shape[1], endpoint=False)


def a_long_table(x):
    """x: M 100"""
    return x * np.linspace(-1.5, 2, 100).astype(np.float32)


def covariances(x, y):
    """x: M N, y: M N"""
    return np.cov(x), np.cov(x, rowvar=False, bias=True), np.corrcoef(x), np.cov(x[0]), np.corrcoef(x[0], y[0])


def quantiles(x):
    """x: M N"""
    return (
        np.percentile(x, 90, axis=1),
        np.quantile(x, [0.25, 0.5, 1.0], axis=0),
        np.quantile(x, 0.3, keepdims=True, axis=1),
        np.percentile(x, 40),
        np.quantile(x, 0.3, axis=1, method="lower"),
        np.quantile(x, 0.3, axis=1, method="higher"),
    )


def smallest(x):
    """x: M N"""
    return np.sort(np.partition(x, 2, axis=1)[:, :3], axis=1)


def with_holes(x):
    """x: M N"""
    y = np.where(x > 1, np.nan, x)
    return (
        np.nanmean(y, axis=1),
        np.nansum(y, axis=0),
        np.nanmax(y, axis=1),
        np.nanmin(y, axis=1),
        np.nanstd(y, axis=1),
        np.nanvar(y),
        np.nanprod(y, axis=1),
        np.nancumsum(y, axis=1),
        np.nanargmax(y, axis=1),
    )


def where_it_holds(x):
    """x: M N"""
    mask = x > 0
    return (
        np.sum(x, axis=1, where=mask),
        x.max(axis=1, where=mask, initial=-9.0),
        np.mean(x, axis=0, where=x > -9),
        np.any(x > 1, axis=1, where=mask),
        np.divide(x, x + 1, out=np.zeros_like(x), where=mask),
    )


def counted(i, w):
    """i: int64 Q, w: Q"""
    return np.bincount(i, minlength=5), np.bincount(i, weights=w, minlength=5)


def histograms(x):
    """x: 400"""
    counts, edges = np.histogram(x, bins=8, range=(-2, 2))
    density, _ = np.histogram(x, bins=5, density=True)
    return counts, edges, density


def convolved(x, k):
    """x: 40, k: 5"""
    return np.convolve(x, k), np.convolve(x, k, "same"), np.convolve(k, x, "valid"), np.correlate(x, k, "full"), np.correlate(x, k[:4], "same")


def smoothed(x, k):
    """x: N, k: 3"""
    return np.convolve(x, k, mode="same")


def interpolated(x):
    """x: M N"""
    places = np.linspace(-3, 3, 25)
    return np.interp(x, places, np.tanh(places)), np.interp(x, [-1.0, 0.0, 2.0], [3.0, 1.0, 2.0], left=-7.0)


def sums_of_blocks(x):
    """x: 24"""
    return np.add.reduceat(x, np.arange(0, 24, 4))


def products(a, b):
    """a: M K, b: H S"""
    return np.kron(a, b), np.kron(a[0], b[0])


def crossed(a, b):
    """a: M 3, b: M 3"""
    return np.cross(a, b), np.cross(a.T, b.T, axis=0)


def small_matrices(x, b):
    """x: B 3 3, b: B 3"""
    x = x + 4 * np.eye(3, dtype=np.float32)
    sign, log = np.linalg.slogdet(x)
    return np.linalg.det(x), np.linalg.inv(x), np.linalg.solve(x, b[..., None]), sign, log, np.linalg.matrix_power(x, 5)


def roots_of_matrices(x):
    """x: B 4 4"""
    return np.linalg.cholesky(x @ x.transpose(0, 2, 1) + 2 * np.eye(4, dtype=np.float32))


def orders_of_norms(x):
    """x: M N"""
    return np.linalg.norm(x, 1), np.linalg.norm(x, np.inf), np.linalg.norm(x, 3, axis=1), np.linalg.norm(x, axis=0)


def polynomials(x):
    """x: M N"""
    return np.polyval([0.1, -0.2, 0.3, 0.5], x), np.vander(x[0], 4), np.vander(x[1], 3, increasing=True)


def chosen(x):
    """x: M N"""
    i = (x > 0).astype(np.int64) + (x > 1)
    return (
        np.choose(i, [x, -x, x * 2]),
        np.piecewise(x, [x < -1, x > 1], [lambda v: v * 0.1, 3.0, lambda v: v * v]),
        np.piecewise(x, [x < 0], [lambda v: v * 2]),
        np.isin(i, [0, 2]),
    )


def parts_of_numbers(x, y):
    """x: M N, y: M N"""
    fraction, whole = np.modf(x * 3)
    quotient, rest = np.divmod(x, y)
    return (
        np.trunc(x * 3),
        np.fix(x * 3),
        np.fmod(x * 3, y),
        fraction,
        whole,
        quotient,
        rest,
        np.copysign(x, y),
        np.signbit(x),
        np.heaviside(x, 0.5),
        np.cbrt(x),
        np.ldexp(x, 3),
    )


def extrema_without_nan(x, y):
    """x: M N, y: M N"""
    x = np.where(x > 1, np.nan, x)
    return np.fmax(x, y), np.fmin(y, x), np.isclose(y, y + 1e-9), np.isclose(x, y, equal_nan=True)


def degrees_and_sinc(x, y):
    """x: M N, y: M N"""
    return np.deg2rad(x), np.degrees(x), np.sinc(x), np.logaddexp2(x, y)


def of_probabilities(x, y):
    """x: M N, y: M N"""
    p, q = scipy.special.expit(x), scipy.special.expit(y)
    return (
        scipy.special.xlogy(p, q),
        scipy.special.entr(p),
        scipy.special.rel_entr(p, q),
        scipy.special.kl_div(p, q),
        scipy.special.logit(p),
        scipy.special.log_expit(x),
        scipy.special.ndtr(x),
        scipy.special.huber(0.7, x),
    )


def places(x):
    """x: M N"""
    flat = np.argmax(x)
    row, column = np.unravel_index(flat, x.shape)
    return row, column, np.ravel_multi_index((row, column), x.shape)


TABLE = np.array([0.1, 0.5, 0.9, 2.0], dtype=np.float32)


def looked_up(x):
    """x: M N"""
    i = np.clip((x * 2).astype(np.int64), 0, 3)
    return TABLE[i], np.asarray([1.0, 3.0, 2.0, 5.0], dtype=np.float32).take(i), TABLE[1:][i % 3], TABLE[0] * x


def at_computed_places(x):
    """x: M N"""
    row, column = np.unravel_index(np.argmax(x), x.shape)
    best = np.argmax(x[:, 0])
    return x[best], x[row, column], x[:, np.argmin(x[2])], x[best, 1:], x[best, :, None]


def median_without_holes(x):
    """x: M N"""
    y = np.where(x > 1, np.nan, x)
    return np.nanmedian(y, axis=1), np.nanmedian(y), np.nanmedian(y, axis=0, keepdims=True)


def histogram_between(x, w):
    """x: 60, w: 60"""
    edges = [-1.0, -0.5, 0.25, 0.5, 2.0]
    return np.histogram(x, bins=edges)[0], np.histogram(x, bins=np.array(edges), weights=w)[0]


def slopes_of_second_order(x):
    """x: M N"""
    return np.gradient(x, 0.5, axis=1, edge_order=2), np.gradient(x, axis=0, edge_order=2)


def unwrapped_phase(x):
    """x: M N"""
    return np.unwrap(x * 5, axis=1), np.unwrap(x * 3)


def shifted_spectrum(x):
    """x: M N"""
    return np.fft.fftshift(x), np.fft.ifftshift(x, axes=1)


def windows_of_extents(x):
    """x: M N"""
    n = x.shape[1]
    return x * np.hanning(n), x * np.hamming(n), x * np.blackman(n)


def filter_written_step_by_step(x, a):
    """x: M 9, a: M"""
    y = np.empty_like(x)
    h = np.zeros(x.shape[0], dtype=x.dtype)
    for t in range(x.shape[1]):
        h = a * h + x[:, t]
        y[:, t] = h
    return y


def filter_that_reads_what_it_wrote(x):
    """x: M 9"""
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    for t in range(1, 9):
        y[:, t] = 0.5 * y[:, t - 1] + x[:, t]
    return y, y.sum(axis=1), y[:, 3]


def filter_in_place(x):
    """x: 9 N"""
    y = x.copy()
    for t in range(2, 9):
        y[t] += 0.3 * y[t - 1] - 0.2 * y[t - 2]
    return y


def table_of_distances(x, y):
    """x: B 4, y: B 5"""
    d = np.zeros((x.shape[0], 5, 6), dtype=np.float32)
    for i in range(1, 5):
        d[:, i, 0] = d[:, i - 1, 0] + 1
    for j in range(1, 6):
        d[:, 0, j] = d[:, 0, j - 1] + 1
    for i in range(1, 5):
        for j in range(1, 6):
            cost = np.abs(x[:, i - 1] - y[:, j - 1])
            d[:, i, j] = np.minimum(np.minimum(d[:, i - 1, j], d[:, i, j - 1]), d[:, i - 1, j - 1]) + cost
    return d[:, -1, -1], d


def parts_that_overlap(x):
    """x: 10 N"""
    y = np.ones_like(x)
    y[2:5] = x[0:3]
    y[3] = 7
    y[3:4] *= x[3:4]
    y[4:8] = y[3:7] + 1
    z = y.copy()
    z[0] = y[1] + y[9]
    y[0] = 3
    return y, z, z[1:3] + y[7:9]


def parts_of_two_axes(x, y):
    """x: M N, y: 6 7"""
    a = np.zeros((6, 7), dtype=np.float32)
    a[1:3, 2:5] = y[:2, :3]
    a[1:3, 5] = y[3, 3]
    a[4, 2:5] = y[4, 4:7]
    a[2:5, 1] = 1
    b = np.zeros((x.shape[0] + 2, x.shape[1] + 3), dtype=np.float32)
    b[1:-1, 2:-1] = x
    b[0, 1:-2] = x[0]
    return a, b


def parts_of_lists(x):
    """x: 3 N"""
    out = np.full((4, x.shape[1]), -1.0, dtype=np.float32)
    for k, row in enumerate(x):
        out[k] = row * k
    out[0] = 5
    return out, out[1, 0:1]


def members_in_a_long_loop(x):
    """x: 20 N"""
    gains, h = {3: 2.0, 17: -1.0}, x[0] * 0
    for t in range(20):
        h = h * (0.1 if t in {2, 5} else 0.9) + x[t] * gains.get(t, 0.5) * len(str(t))
    return h


def positions(x):
    """x: M N"""
    p = np.zeros((x.shape[0], 6), dtype=x.dtype)
    pos = np.arange(x.shape[0])[:, None]
    div = np.exp(np.arange(0, 6, 2) * -(np.log(10000.0) / 6))
    p[:, 0::2] = np.sin(pos * div)
    p[:, 1::2] = np.cos(pos * div)
    return p


def interleave(x, y):
    """x: M N, y: M N"""
    z = np.zeros((x.shape[0], 2 * x.shape[1]), dtype=x.dtype)
    z[:, ::2] = x
    z[:, 1::2] = y
    return z


def red_black(x):
    """x: M N"""
    y = x.copy()
    y[1:-1:2, 1:-1] = 0.25 * (x[:-2:2, 1:-1] + x[2::2, 1:-1])[: (x.shape[0] - 3) // 2 + 1]
    return y


def inserted_columns(x):
    """x: B M"""
    return np.insert(x, 0, 0.5, axis=1), np.insert(x, 2, x[:, 1], axis=1), np.insert(x, -1, x[0], axis=0), np.insert(x[0], 1, 9)


def inserted_rows(x):
    """x: B M"""
    return np.insert(x[0], 1, x[1]), np.insert(x, 1, [1.5], axis=0)


def logarithms_of_running_sums(x):
    """x: B M"""
    return np.logaddexp.accumulate(x, axis=1), np.logaddexp.accumulate(x * 50)


def bits_that_are_set(x):
    """x: int64 N"""
    return np.bitwise_count(x), np.bitwise_count(x * 123456789), np.bitwise_count(x > 0), np.bitwise_count((x & 255).astype(np.uint8))


def derivatives_of_polynomials(x, c):
    """x: N, c: 5"""
    return np.polyval(c, x), np.polyval(np.polyder(c), x), np.polyval(np.polyint(c, 2, k=[1, 2]), x), np.polyder(c, 2), np.polyval(np.polyder(np.array([1., 2, 3])), x)


def short_polynomials(c):
    """c: 3"""
    return np.polyint(c), np.polyder(c)


def inserted_in_three_axes(x, y):
    """x: B M N, y: M N"""
    return np.insert(x, 1, y, axis=0), np.insert(x, -1, 2.0, axis=2), np.insert(y, 1, y[:, :2].T, axis=1), np.insert(x, 0, y[0], axis=0)
