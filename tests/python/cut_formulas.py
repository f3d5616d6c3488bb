"""Slices with bounds that lie behind an end of their axis at small sizes."""

import numpy as np


def first_four(x):
    """x: T N"""
    return x[:4].sum(0)


def last_four(x):
    """x: T N"""
    return x[-4:].sum(0)


def but_two(x):
    """x: T N"""
    return x[2:].sum(0) + x[:-2].sum(0)


def inside(x):
    """x: T N"""
    return x[1:-1].sum(0) * x[:, 2:4].sum()


def two_to_five(x):
    """x: T N"""
    return x[2:5].sum(0)


def put(x):
    """x: T N"""
    y = x.copy()
    y[:3] = 0
    y[-2:] += 1
    return y


def lags(x):
    """x: T N"""
    return (x[3:] - x[:-3]).sum(0)


def in_loop(x):
    """x: T N"""
    s = np.zeros_like(x[0])
    for i in range(x.shape[0]):
        s = s * 0.5 + x[i, :4].sum() + x[i, -2:].mean()
    return s
