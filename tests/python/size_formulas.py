"""Branches on sizes: what they read and write is there at the sizes that take them."""

import numpy as np


def pairs_and_the_rest(x):
    """x: T N"""
    n = x.shape[0]
    total = np.zeros_like(x[0])
    for i in range(n // 2):
        total += x[2 * i] * x[2 * i + 1]
    rest = 2 * (n // 2)
    if rest < n:
        total += x[rest]
    return total


def behind_the_middle(x):
    """x: T N"""
    n = x.shape[0]
    out = x.copy()
    if n // 2 + 2 < n:
        out[n // 2 + 2] = out[n // 2] * 3
    elif n - 3 >= 0:
        out[n - 3] = 1
    return out * x[n - 1]


def what_is_left_of_long_ones(x):
    """x: T N"""
    n = x.shape[0]
    if n > 2:
        return x[2:].sum(0) - x[: n - 2].max(0)
    return x.sum(0)


def without_ends(x):
    """x: T N"""
    return x[1:-1].mean(0) + (x[-3:] * 2).sum(0) if x.shape[0] >= 3 else x[0] * 0


def smoothed_inside(x):
    """x: T N"""
    out = x.copy()
    if x.shape[0] > 2:
        out[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    return out


def means_of_windows(x):
    """x: T N"""
    n, width = x.shape[0], 3
    out = np.zeros_like(x)
    if n < width:
        return out
    out[: n - width + 1] = (x[: n - 2] + x[1 : n - 1] + x[2:]) / width
    return out


def steps_inside(x):
    """x: T N"""
    n = x.shape[0]
    y = np.zeros_like(x)
    if n > 3:
        for i in range(1, n - 1):
            y[i] = x[i - 1] + x[i + 1]
    else:
        y[:] = x
    return y


def steps_apart_from_ends(x):
    """x: T N"""
    n = x.shape[0]
    s = np.zeros_like(x[0])
    if n > 4:
        for i in range(2, n - 2):
            s = 0.9 * s + x[i] * x[i - 2] - x[i + 2]
    return s


def ends_of_each(x):
    """x: T N"""
    n = x.shape[0]
    if n > 5:
        return np.concatenate([x[:2], x[-3:]]).mean(0)
    elif n > 1:
        return x[: n // 2].mean(0)
    else:
        return x[0]
