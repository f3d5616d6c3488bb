"""Loops that end where a condition holds; see fork_formulas.py."""

import numpy as np


def newton_until_small(x):
    """x: N"""
    y = np.ones_like(x)
    for _ in range(20):
        new = 0.5 * (y + np.abs(x) / y)
        if np.max(np.abs(new - y)) < 1e-3:
            break
        y = new
    return y


def first_above(x):
    """x: T"""
    k = 0
    for i in range(len(x)):
        if x[i] > 0.5:
            k = i
            break
    return k


def until_negative(x):
    """x: T N"""
    s = x[0] * 0
    for row in x:
        if row[0] < 0:
            break
        s = s + row
    return s


def jacobi_until_small(a, b):
    """a: N N, b: N"""
    d = np.abs(np.diag(a)) + 10
    r = a - np.diag(np.diag(a))
    x = np.zeros_like(b)
    for it in range(30):
        new = (b - r @ x) / d
        err = np.sqrt(np.sum((new - x)**2))
        x = new
        if err < 1e-4:
            break
    return x


def concrete_break(x):
    """x: M N"""
    for i in range(10):
        if i == 3:
            break
        x = x + i
    return x * i


def written_until(x):
    """x: T"""
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 1:
            break
        y[i] = x[i] * 2
    return y


def flag_of_a_loop(x):
    """x: T"""
    armed = True
    s = 0.0
    for v in x:
        if armed and v > 0:
            s = s + v
            armed = False
        elif v < 0:
            armed = True
    return s


def nested_break(x):
    """x: T N"""
    out = np.zeros_like(x[:, 0])
    for t in range(x.shape[0]):
        s = x[t, 0] * 0
        for j in range(x.shape[1]):
            if x[t, j] > 1:
                break
            s = s + x[t, j]
        out[t] = s
    return out


def bisection(x):
    """x: N"""
    lo, hi = -4.0, 4.0
    for _ in range(40):
        mid = (lo + hi) / 2
        f = np.sum(np.tanh(x - mid))
        if np.abs(f) < 1e-3:
            break
        if f > 0:
            lo = mid
        else:
            hi = mid
    return mid
