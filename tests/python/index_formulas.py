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
