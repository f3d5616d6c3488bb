"""What loops do with the number of their step, as users write it; see loop_formulas.py."""

import numpy as np


def distances(x):
    """x: T N"""
    h = x[0] * 0
    for t in range(x.shape[0]):
        h = h * 0.9 + x[t] * abs(t - 2) + x[t] * abs(-1 - t)
    return h


def distances_in_a_long_loop(x):
    """x: 20 N"""
    h = x[0] * 0
    for t in range(20):
        h = h * 0.9 + x[t] * abs(t - 10)
    return h


def counter_below_zero(x):
    """x: T N"""
    k, h = -3, x[0] * 0
    for row in x:
        h = h + row * abs(k)
        k += 1
    return h


def powers(x):
    """x: T N"""
    h = x[0] * 0
    for t in range(x.shape[0]):
        h = h + x[t] * 2**-t + x[t] * (t + 1) ** -1 + x[t] * 0.5**t
    return h


def kinds(x):
    """x: T N"""
    h, first = x[0] * 0, 0
    for t in range(x.shape[0]):
        h = h * 0.9 + x[t] * (2 if type(t) is int else 1) + x[t] * (5 if t is first else 1)
    return h


def bits(x):
    """x: T N"""
    h = x[0] * 0
    for t in range(x.shape[0]):
        h = h * 0.9 + x[t] * (t & 1) + x[t] * (t ^ 3)
    return h


def angles(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[t] * np.cos(300.1 * t) + x[t] * 0.99 ** (100 * t)
    return y


def same_arrays(x):
    """x: T N"""
    h = x[0] * 0
    known, again, view = np.asarray(h), h.astype(h.dtype, copy=False), np.array(h, copy=False)
    other = np.array(h)
    for row in x:
        h += row
    return known, again * 2, view * 3, other, h
