"""Lists of numbers of varying length, as in Python: [0.0] * n, tables, and results that go into parts of arrays; see
fork_formulas.py."""

import math

import numpy as np


def list_lst0(x):
    """x: T"""
    out = [0.0] * len(x)
    for i in range(len(x)):
        out[i] = x[i] * 2 + (out[i - 1] if i > 0 else 0)
    return np.array(out)


def list_counts(x):
    """x: T N"""
    n = [0] * x.shape[0]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                n[i] += 1
    return np.array(n), sum(n), max(n)


def list_lcs(a, b):
    """a: int64 T, b: int64 N"""
    n, m = len(a), len(b)
    L = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(m):
            L[i + 1][j + 1] = L[i][j] + 1 if a[i] == b[j] else max(L[i][j + 1], L[i + 1][j])
    return np.array([L[n][m]])


def list_lol(x):
    """x: T"""
    d = [[0.0] * len(x) for _ in range(2)]
    for i in range(len(x)):
        d[0][i] = x[i]
        d[1][i] = -x[i]
    return np.array(d[0]) + np.array(d[1]) * 2


def list_flags(x):
    """x: T"""
    seen = [False] * len(x)
    for i in range(len(x)):
        seen[i] = x[i] > 0
    return np.array(seen)


def list_copied(x):
    """x: T"""
    a = [1.0] * len(x)
    b = a[:]
    for i in range(len(x)):
        b[i] = x[i]
    return np.array(a) + np.array(b)


def list_functions_of_an_array(x):
    """x: T"""
    return np.array([sum(x), max(x), min(x), sum(x, 2.0)]), np.array([any(x > 1), all(x > -1)])


def part_confus(p, y):
    """p: int64 T, y: int64 T"""
    c = np.zeros((5, 5), dtype=np.int64)
    for a, b in zip(y, p):
        c[a][b] += 1
    return c


def part_cc2(x, k):
    """x: T, k: int64 T"""
    c = np.zeros((4, 4))
    for i in range(len(x)):
        c[k[i]][2] += x[i]
        c[k[i], 1] -= x[i]
    return c


def part_cumret(r):
    """r: T N"""
    w = np.ones((r.shape[0] + 1, r.shape[1]), dtype=r.dtype)
    np.cumprod(1 + r, axis=0, out=w[1:])
    return w, w[-1]


def part_outv2(x):
    """x: T"""
    y = np.zeros(len(x) + 1)
    np.cumsum(x, out=y[1:])
    np.add(x, 1, out=y[:-1])
    return y


def part_columns(x, y):
    """x: T, y: T"""
    return np.c_[x, y, np.c_[x * 2, y]], np.r_[x, 1.0, y], np.r_[np.c_[x, y], np.c_[y, x]]


def part_out_of_a_row(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        np.multiply(x[t], t, out=y[t])
    return y


def element_by_element_vec1(x):
    """x: T N"""
    def f(a, b):
        if a > b:
            return a - b
        return a + b
    return np.vectorize(f)(x, 0.5), np.vectorize(f)(x, x[0])


def element_by_element_gcd2(a, b):
    """a: int64 T, b: int64 T"""
    def gcd1(a, b):
        for _ in range(20):
            if b == 0:
                break
            a, b = b, a % b
        return a
    f = np.vectorize(gcd1)
    return f(a * 6, b * 4)


def element_by_element_plain(x):
    """x: T N"""
    return np.vectorize(lambda v: v * 2 + 1)(x)


def element_by_element_conditional(x):
    """x: T"""
    return np.vectorize(lambda v: 1.0 if v > 1 else v)(x)


def element_by_element_a_number(x):
    """x: T N"""
    return np.vectorize(lambda v: 2.0)(x) + x


def numbers_that_are_finite(x):
    """x: T"""
    y = np.zeros(x.shape[0], x.dtype)
    for i in range(x.shape[0]):
        y[i] = 0 if math.isnan(x[i]) or not math.isfinite(x[i]) or math.isinf(x[i]) else x[i]
    return y
