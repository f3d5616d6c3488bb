"""Special functions and what depends on single digits of a place, scaled so that a comparison sees relative errors; see
formulas.py."""

import numpy as np
import scipy.integrate
import scipy.signal
import scipy.spatial.distance
import scipy.special
import scipy.stats


def tails(x):
    """x: M N"""
    y = np.abs(x) + 3
    return scipy.special.erfc(y) * np.exp(y * y), scipy.special.erfc(-y), scipy.special.ndtr(-y) * np.exp(y * y / 2)


def tails_in_double(x):
    """x: float64 M N"""
    y = np.abs(x) * 6
    return scipy.special.erfc(y) * np.exp(y * y), scipy.special.ndtr(-y) * np.exp(y * y / 2)


def scaled_tails(x):
    """x: M N"""
    y = np.abs(x) * 5
    return (
        scipy.special.erfcx(y),
        scipy.special.erfcx(x),
        scipy.special.log_ndtr(x * 8),
        scipy.special.log_ndtr(y) * np.exp(y * y / 2),
    )


def inverses_of_tails(x):
    """x: M N"""
    p = scipy.special.expit(x * 9)
    special = scipy.special
    return special.erfinv(np.tanh(x)), special.erfinv(x * 1e-6) * 1e6, special.ndtri(p), special.erfcinv(p)


def ends_of_inverses(x):
    """x: M N"""
    return scipy.special.erfinv(np.sign(x)), scipy.special.erfinv(np.abs(x) + 2), scipy.special.ndtri((x > 0) * 1.0)


def bessel_functions(x):
    """x: M N"""
    return (
        np.i0(x),
        scipy.special.i1(x * 8) * np.exp(-np.abs(x * 8)),
        scipy.special.i0e(x * 50),
        scipy.special.i1e(x * 50),
        scipy.special.i0e(x) - scipy.special.i1e(x),
    )


def windows_of_bessel_functions(x):
    """x: M N"""
    return x * np.kaiser(x.shape[1], 8.6), x * np.kaiser(7, 14), np.kaiser(x.shape[0], 0.0) + x[0, 0]


def digammas(x):
    """x: M N"""
    psi, y = scipy.special.psi, x * 4
    return scipy.special.digamma(np.abs(x)) * np.abs(x), psi(y) * np.sin(y * np.pi), psi(np.exp(x * 9))


def a_place_that_jumps(x):
    """x: M 25*K+1"""
    return np.percentile(x, 29, axis=1, method="lower")


def places_that_jump(x):
    """x: M 25*K+1"""
    methods = ("higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf")
    return *(np.percentile(x, 29, axis=1, method=m) for m in methods), np.quantile(x, 0.5, axis=1, method="nearest", keepdims=True)


def places_of_a_given_extent(x):
    """x: M 101"""
    return np.percentile(x, [29, 57], axis=1, method="lower"), np.quantile(x, 0.123456789, axis=1), np.quantile(x, 1 / 3)


def quantiles_of_samples(x):
    """x: float64 M N"""
    return [np.quantile(x, 0.3, axis=1, method=m) for m in ("hazen", "weibull", "median_unbiased", "normal_unbiased")]


def waves_over_even_steps(x):
    """x: M N"""
    t = np.linspace(0, 1, x.shape[1])
    return np.sin(2 * np.pi * 10000 * t) + 0 * x, np.cos((t[None, :] + 0.3) * 10000) * np.ones_like(x)


def jumps_of_varying_even_steps(x):
    """x: 7*B+1 31*K+1"""
    m, n = x.shape
    t = np.linspace(0, n - 1, m)
    return x[:, t.astype(np.int64)], np.floor(t * 7), t % 0.7 < 0.35, np.linspace(-1, 1, m).astype(np.float32) >= np.float32(0.1)


def interpolated_at_even_steps(x):
    """x: 300*N"""
    n = x.shape[0]
    return np.interp(np.linspace(0, 1, 2 * n), np.linspace(0, 1, n), x)


def halved_steps(x):
    """x: M N"""
    t = np.linspace(0, 1, x.shape[1])
    return np.sin(np.float32(1e5) * t.astype(np.float32)) * x, np.sin(np.asarray(t, dtype=np.float32) * 0.5), t.astype(np.float64) * 3


def decimals(x):
    """x: M N"""
    return np.round(x * 9, 2), np.round(x * 900, -1), np.around(x, decimals=1)


def even_spacings(x):
    """x: M N"""
    m, n = x.shape
    return (
        np.logspace(-1, 1, n) * x, np.geomspace(1, 100, n) * x, np.fft.fftfreq(n, 0.5) * x, np.fft.fftfreq(m) * x[:, 0],
        np.fft.rfftfreq(n) + x[0, 0], np.bartlett(n) * x, np.bartlett(m) + x[0, 0],
    )


def normal_distributions(x):
    """x: M N"""
    norm = scipy.stats.norm
    return (
        norm.pdf(x), norm.logpdf(x, 0.5, 2.0), norm.cdf(x), norm.cdf(x, loc=1.0, scale=0.5), norm.sf(np.abs(x) + 3) * 1e4,
        norm.logcdf(x * 5), norm.ppf(norm.cdf(x)), norm.isf(norm.cdf(x), scale=2.0),
    )


def moments_by_scipy(x):
    """x: M N"""
    stats = scipy.stats
    return (
        stats.zscore(x, axis=1), stats.skew(x, axis=1), stats.kurtosis(x), stats.kurtosis(x, axis=1, fisher=False),
        stats.sem(x, axis=1), stats.gmean(np.abs(x) + 0.1, axis=1), stats.hmean(np.abs(x) + 0.1),
    )


def distances_by_scipy(x, y):
    """x: M K, y: N K"""
    distance = scipy.spatial.distance
    few = [distance.cdist(x, y, metric) for metric in ("euclidean", "sqeuclidean", "cityblock", "chebyshev")]
    return *few, distance.cdist(x, y, "minkowski", p=3), distance.pdist(x), distance.pdist(y, "cityblock"), distance.cdist(x, x)


def integrals_by_scipy(y, x):
    """y: M 9, x: 9"""
    integrate = scipy.integrate
    return (
        integrate.trapezoid(y, dx=0.5, axis=1), integrate.cumulative_trapezoid(y, dx=0.1), integrate.simpson(y, dx=0.2),
        integrate.cumulative_trapezoid(y, x, initial=0), integrate.cumulative_trapezoid(y, axis=0, initial=0),
    )


def gamma_and_beta(x, y):
    """x: M N, y: M N"""
    p, q = np.abs(x) + 0.1, np.abs(y) + 0.1
    return scipy.special.gamma(x * 3), scipy.special.beta(p, q), scipy.special.betaln(p * 9, q), scipy.special.gamma(p + 9) / 1e5


def more_special_functions(x):
    """x: M N"""
    special = scipy.special
    return (
        special.exprel(x), special.exprel(x * 1e-12), special.softplus(x * 9), special.polygamma(1, np.abs(x)) * x * x,
        special.polygamma(1, x * 4) * np.sin(x * 4 * np.pi) ** 2, special.polygamma(0, np.exp(x)), special.log1p(x * x),
        special.logsumexp(x, axis=1, b=np.abs(x)),
    )


def centred_row(row, shift=0.0):
    row = row - row.mean()
    return row / np.linalg.norm(row) + shift


def applied_along_axes(x):
    """x: B M N"""
    return (
        np.apply_along_axis(centred_row, 1, x), np.apply_along_axis(centred_row, -1, x, shift=2.0),
        np.apply_along_axis(np.sum, 0, x), np.apply_along_axis(lambda row, k: np.cumsum(row)[k:], 2, x, 2),
        np.apply_along_axis(lambda row: np.outer(row, row), 1, x), np.apply_along_axis(lambda v: v.max() - v.min(), 0, x[0, 0]),
    )


def recursive_filters(x):
    """x: M N"""
    signal = scipy.signal
    return (
        signal.lfilter([0.1], [1, -0.9], x), signal.lfilter([0.2, 0.3, 0.1], [2.0, -0.5, 0.2], x, axis=0),
        signal.lfilter([0.25, 0.5, 0.25], [1.0], x), signal.detrend(x),
        signal.detrend(x, axis=0, type="constant"),
    )


def windows_by_scipy(x):
    """x: M N"""
    n, windows = x.shape[1], scipy.signal.windows
    return (
        x * windows.hann(n), x * windows.hann(n, sym=False), x * windows.gaussian(n, 2.0), x * windows.blackman(n, False),
        x * windows.kaiser(n, 8.0),
    )


def quantiles_without_holes(x):
    """x: M N"""
    y = np.where(x > 1, np.nan, x)
    return np.nanpercentile(y, 30, axis=1), np.nanquantile(y, 0.7), np.nanquantile(y, 0.5, axis=0, keepdims=True)


def truth_values_as_numbers(m):
    """m: bool M N"""
    return np.argmax(m, axis=1), np.argmin(m, axis=0), m.max(axis=1), m.min(), np.logical_xor.reduce(m, axis=1)


def other_polynomials(x):
    """x: M N"""
    c = [1.0, 0.5, 0.25, 0.125]
    return np.polynomial.polynomial.polyval(x, c), np.polynomial.chebyshev.chebval(x, c), np.polynomial.chebyshev.chebval(x, [1.0, 2.0])


def divergences_of_neighbours(x):
    """x: M N"""
    p = scipy.special.expit(x) + 1
    return scipy.special.kl_div(p, p * 1.001) * 1e6, scipy.special.kl_div(p, p[::-1]), scipy.special.kl_div(p - 1, p)


def computed_in_another_type(k, x):
    """k: uint8 M N, x: M N"""
    return np.add(k * 80, k * 80, dtype=np.int32), np.multiply(x, 2, dtype=np.float64), np.subtract(k, 3, dtype=np.int64)


def compared_with_even_steps(x):
    """x: 20*K+11"""
    at = np.linspace(0, 0.9, x.shape[0]).astype(np.float32)
    return np.digitize(at, np.linspace(0, 0.9, x.shape[0])), at[:, None] >= np.linspace(0, 0.9, x.shape[0])


def of_small_whole_numbers(k, i):
    """k: uint8 M Q, i: int8 M Q"""
    k, special = k * 60, scipy.special
    return (
        np.median(k, axis=1), np.percentile(k, 30, axis=1), np.quantile(i, 0.4, axis=0), np.median(i),
        np.quantile(k, 0.3, axis=1, method="midpoint"), np.quantile(k, 0.3, axis=1, method="lower"), np.gradient(k, axis=1),
        np.linalg.norm(k, axis=1), special.logsumexp(k * 1, axis=1), scipy.spatial.distance.cdist(k, i),
    )


def losses_of_small_errors(x):
    """x: M N"""
    return scipy.special.pseudo_huber(1.0, x * 1e-4) * 1e8, scipy.special.pseudo_huber(0.5, x)


def numbers_beside_whole_ones(k):
    """k: int64 N"""
    steps = np.zeros(k.shape[0]) + 0.1 / 3
    exact = np.abs(np.linspace(0, 0.1, k.shape[0])[1] * (k.shape[0] - 1) - 0.1) < 1e-12
    return (steps * 3 + k - k - 0.1) * 1e10, exact, (np.percentile(k * 0 + np.arange(k.shape[0]), 30) - 1.8) * 1e9


def numbers_of_a_type_beside_whole_ones(k, i):
    """k: uint8 M Q, i: int64 M Q"""
    single = np.float32
    half = k * single(0.5) + i * single(0.25)
    return half, (k * single(0.3) + k * single(0.7)).astype(np.uint8), np.rint(k * 25 / single(3)), single(0.1) * k.sum()


def at_the_edges_of_bins(x):
    """x: M N"""
    whole, tenths = np.round(x * 3), np.round(x * 10) / np.float32(10)
    return (
        np.histogram(whole, bins=10, range=(-3, 3))[0], np.histogram(tenths, bins=20, range=(-1.0, 1.0))[0],
        np.histogram(whole)[0], *np.histogram(tenths, bins=7, range=(-0.7, 0.7)),
    )


def quotients_rounded_down(x, k):
    """x: M N, k: uint8 M N"""
    whole, tenths = np.round(x * 30), np.round(x * 20) / np.float32(10)
    pair = np.divmod(tenths, np.float32(0.7))
    return whole // 0.1, whole % 3, *pair, np.fmod(tenths, np.float32(0.3)), k // np.float32(0.1), whole // -7, whole % 1


def bytes_and_a_typed_number(x):
    """x: uint8 N"""
    return x + np.int64(1000)


def small_ones_and_a_typed_number(x):
    """x: int8 N"""
    return x * np.int32(70000)


def sum_that_begins_with_a_typed_number(x):
    """x: int32 N"""
    s = np.int64(0)
    for i in range(x.shape[0]):
        s = s + x[i] * 100
    return s


def hash_of_bytes(x):
    """x: uint8 N"""
    h = np.int64(5381)
    for i in range(x.shape[0]):
        h = (h * 33 + x[i]) % 1000003
    return h


def typed_and_other_numbers(x):
    """x: int32 N"""
    return (x + np.int64(2)) * 3 + True


def uneven_parts(x):
    """x: M 8"""
    a, b, c = np.array_split(x, 3, axis=1)
    return a.sum(1) - b.max(1), c.min(1)


def product_of_bytes_in_int32(a, b):
    """a: int8 M K, b: int8 K N"""
    return np.matmul(a, b, dtype=np.int32)


def convolved_with_a_longer_one(x, k):
    """x: K, k: N"""
    return np.convolve(x, k)


def inside_of_a_longer_filter(x, k):
    """x: 5, k: 12"""
    return np.convolve(x, k, "valid")


def correlated_with_a_longer_one(x, k):
    """x: 5, k: 12"""
    return np.correlate(x, k)
