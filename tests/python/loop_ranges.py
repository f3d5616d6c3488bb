"""Loops inside of loops whose number of steps changes: for j in range(i); see formulas.py."""

import numpy as np


def pairs_below(x):
    """x: T N"""
    n = x.shape[0]
    d = np.zeros((n, n), dtype=x.dtype)
    for i in range(n):
        for j in range(i):
            d[i, j] = d[j, i] = np.sum((x[i] - x[j])**2)
    return d


def energy(x):
    """x: T N"""
    e = 0.0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            e += np.exp(-np.sum((x[i] - x[j])**2))
    return e


def lower(x):
    """x: T T"""
    y = x.copy()
    for i in range(x.shape[0]):
        for j in range(i):
            y[i, j] = 0
    return y


def cholesky_loops(a):
    """a: T T"""
    n = a.shape[0]
    a = a @ a.T + n * np.eye(n, dtype=a.dtype)
    l = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - np.dot(l[i, :j], l[j, :j])
            l[i, j] = np.where(i == j, np.sqrt(np.maximum(s, 1e-3)), s / np.maximum(l[j, j], 1e-2))
    return l


def count_pairs(x):
    """x: T"""
    c = 0
    s = x[0] * 0
    for i in range(len(x)):
        for j in range(i):
            s = s + x[i] * x[j] * c
            c += 1
    return s


def windows(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        for s in range(max(0, t - 2), t + 1):
            y[t] += x[s] * 0.5
    return y


def bubble(x):
    """x: T"""
    y = x.copy()
    n = len(y)
    for i in range(n):
        for j in range(0, n - i - 1):
            a, b = np.minimum(y[j], y[j+1]), np.maximum(y[j], y[j+1])
            y[j] = a
            y[j+1] = b
    return y


def backwards(u, b):
    """u: T T, b: T"""
    n = len(b)
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s = s - u[i, j] * x[j]
        x[i] = s / (3 + np.abs(u[i, i]))
    return x


def matrix_chain(p):
    """p: T"""
    n = len(p)
    m = np.zeros((n, n), dtype=p.dtype)
    for l in range(1, n):
        for i in range(0, n - l):
            m[i, i + l] = m[i + 1, i + l] + p[i] * p[i + l]
    return m


def nested_sum(x):
    """x: T N"""
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        acc = x[i] * 0
        for j in reversed(range(i)):
            acc = acc * 0.9 + x[j]
        y[i] = acc
    return y


def lagged(x, h):
    """x: T, h: T"""
    y = np.zeros_like(x)
    for n in range(len(x)):
        for k in range(n + 1):
            y[n] += h[k] * x[n - k]
    return y


def every_other_step(x):
    """x: T N"""
    h = x[0] * 0
    for t in range(x.shape[0]):
        h = h + np.where(t % 2 == 0, x[t], -x[t]) + (t != 3) * x[0]
    return h
