"""Index arrays, in several axes and of what is written; see formulas.py."""

import numpy as np


def indexed_pairs(x, i, j):
    """x: M N, i: int64 K, j: int64 K"""
    return x[i, j]


def indexed_grid(x, i, j):
    """x: M N, i: int64 K, j: int64 P"""
    return x[i[:, None], j[None, :]] + x[np.ix_(i, j)]


def indexed_three(x, i, j):
    """x: B M N, i: int64 K, j: int64 K"""
    return x[:, i, j], x[i % 2, :, j], x[0, :, i]


def indexed_bilinear(x, r, c):
    """x: M N, r: float64 K, c: float64 K"""
    r0 = np.clip(np.floor(r).astype(np.int64), 0, x.shape[0] - 2)
    c0 = np.clip(np.floor(c).astype(np.int64), 0, x.shape[1] - 2)
    fr, fc = (r - r0).astype(x.dtype), (c - c0).astype(x.dtype)
    return x[r0, c0] * (1 - fr) * (1 - fc) + x[r0 + 1, c0 + 1] * fr * fc


def indexed_negative(x, i):
    """x: M N, i: int64 K"""
    return x[i - 2, -1 - i]


def indexed_onehot(x, i):
    """x: K 5, i: int64 K"""
    t = np.zeros_like(x)
    t[np.arange(x.shape[0]), i] = 1
    g = x.copy()
    g[np.arange(x.shape[0]), i] -= 1
    return t, g


def indexed_scattered(x, i, v):
    """x: M N, i: int64 K, v: K N"""
    y = x.copy()
    y[i] = v
    z = x.copy()
    z[i] += 1
    return y, z


def indexed_cells(x, i, j, v):
    """x: M N, i: int64 K, j: int64 K, v: K"""
    y = x.copy()
    y[i, j] = v
    y[i, i] += 1
    y[:, j] = 0
    return y


def indexed_swapped(x):
    """x: M N"""
    y = x.copy()
    y[[0, 1]] = y[[1, 0]]
    y[:, [0, 2]] *= 2
    return y


def indexed_ranks(x):
    """x: N"""
    order = np.argsort(x)
    r = np.empty(x.shape[0], np.int64)
    r[order] = np.arange(x.shape[0])
    return r


def indexed_adds(x, i, j, w):
    """x: M N, i: int64 K, j: int64 K, w: K"""
    y = x.copy()
    np.add.at(y, (i, j), w)
    np.subtract.at(y, i, 0.5)
    np.minimum.at(y, (i, slice(None)), w[:, None])
    return y


def indexed_triangle(x):
    """x: 5 5"""
    return x[np.tril_indices(5)].sum(), x[np.triu_indices(5, 1)]


def indexed_picked_rows(x, i):
    """x: K N 3, i: int64 K"""
    y = x.copy()
    y[np.arange(x.shape[0]), i] = 7
    return y


def indexed_interleaved(x):
    """x: N"""
    y = np.empty(2 * x.shape[0], x.dtype)
    y[0::2] = np.sin(x)
    y[1::2] = np.cos(x)
    return y


def indexed_product_of_a_type(x, y):
    """x: int8 M K, y: int8 K N"""
    return np.einsum("mk,kn->mn", x, y, dtype=np.int32)


def every_other_back(x):
    """x: M N"""
    y = np.zeros_like(x)
    y[:, ::-2] = x[:, ::-2] * 2
    return y


def every_third_back(x):
    """x: M N"""
    y = np.zeros_like(x)
    y[::-3] = x[: len(x[::3])]
    y[:, ::-1] += x
    return y


def back_between(x):
    """x: C N"""
    y = x.copy()
    y[4:0:-1] = x[:4]
    y[-1:-4:-2] *= 3
    return y, x[5:1:-2], x[-2:0:-2], x[4::-2], x[:1:-2]


def back_empty(x):
    """x: C N"""
    y = x.copy()
    y[1:3:-1] = 5
    return y, x[1:3:-1].sum(0), x[2:2:-2].sum(0)


def back_scalar(x):
    """x: M N"""
    y = np.ones_like(x)
    y[:, ::-1] = x[:, :1]
    y[::-2] = 7
    return y


def back_at_number(x):
    """x: M N"""
    y = x.copy()
    y[0, ::-1] = x[1]
    y[1, ::-2] = -1
    return y


def fold_back(x):
    """x: M N"""
    n = x.shape[1]
    return np.concatenate([x[:, n - 1:0:-1], x], 1), x[:, n - 2::-2]


def back_in_loop(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t, ::-1] = x[t] + t
        y[t, ::-2] += 1
    return y


def back_of_itself(x):
    """x: M N"""
    y = x.copy()
    y[:, ::-1] = y
    return y
