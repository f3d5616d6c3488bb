"""Other ways to say what loops and comprehensions say: map, np.ndindex, np.ndenumerate, list()."""

import numpy as np


def ndindex(x):
    """x: T N"""
    y = np.empty_like(x)
    for i, j in np.ndindex(x.shape):
        y[i, j] = x[i, j] * (i + j)
    return y


def ndindex2(x):
    """x: T N C"""
    y = np.empty((x.shape[0], x.shape[1]), x.dtype)
    for idx in np.ndindex(*y.shape):
        y[idx] = x[idx].sum()
    return y


def ndenum(x):
    """x: T N"""
    y = np.zeros_like(x)
    for (i, j), v in np.ndenumerate(x):
        y[i, j] = v * i
    return y


def maps(x):
    """x: T N"""
    return np.array(list(map(lambda row: row.max() - row.min(), x)))


def map_sum(x):
    """x: T N"""
    return sum(map(np.abs, x))


def list_range(x):
    """x: T N"""
    idx = list(range(x.shape[0]))
    return x[idx[::-1]]


def list_rows(x):
    """x: T N"""
    rows = list(x)
    return rows[0] + rows[-1], np.array(rows[::-1])


def list_range2(x):
    """x: T N"""
    order = list(range(x.shape[0]))
    y = np.zeros_like(x)
    for k, i in enumerate(reversed(order)):
        y[k] = x[i] * k
    return y


def map_two(x, z):
    """x: T N, z: T N"""
    return np.stack(list(map(lambda a, b: a * b.sum(), x, z)))


def map_max(x):
    """x: T N"""
    return max(map(np.sum, x))


def map_int(x):
    """x: 3 N"""
    a, b, c = map(np.sum, x)
    return a * b - c


def map_tuple(x):
    """x: T N"""
    m, n = map(int, x.shape)
    return x.reshape(n, m)


def ndindex_acc(x, w):
    """x: T N, w: 3 3"""
    y = np.zeros_like(x)
    for i, j in np.ndindex(w.shape):
        y += w[i, j] * np.roll(x, (i - 1, j - 1), (0, 1))
    return y


def ndindex_conv(x, w):
    """x: T+2 N+2, w: 3 3"""
    y = np.zeros((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
    for i, j in np.ndindex(*y.shape):
        y[i, j] = (x[i:i + 3, j:j + 3] * w).sum()
    return y


def ndenum1(x):
    """x: T"""
    y = np.zeros_like(x)
    for i, v in np.ndenumerate(x):
        y[i] = v * v
    return y
