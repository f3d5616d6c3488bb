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
