"""Lists of numbers of varying length, as in Python: [0.0] * n; see fork_formulas.py."""

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
