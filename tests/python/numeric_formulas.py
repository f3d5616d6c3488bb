"""Special functions and what depends on single digits of a place, scaled so that a comparison sees relative errors; see
formulas.py."""

import numpy as np
import scipy.special


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
    return scipy.special.erfinv(np.tanh(x)), scipy.special.erfinv(x * 1e-6) * 1e6, scipy.special.ndtri(p), scipy.special.erfcinv(p)


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
    return scipy.special.digamma(np.abs(x)) * np.abs(x), scipy.special.psi(x * 4) * np.sin(x * 4 * np.pi), scipy.special.psi(np.exp(x * 9))


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
