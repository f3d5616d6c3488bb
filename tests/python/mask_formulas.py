"""Elements that a boolean mask keeps; see formulas.py."""

import numpy as np


def masked_positives(x):
    """x: T N"""
    return x[x > 0].sum()


def masked_negated(x):
    """x: T N"""
    y = x.copy()
    m = y < 0
    y[m] = -y[m] * 2
    return y


def masked_stepped(x):
    """x: T N"""
    y = x.copy()
    y[x < 0] += 1
    y[x > 1] *= 0.5
    return y


def masked_mean_std(x):
    """x: T N"""
    v = x[np.abs(x) < 5]
    return v.mean(), v.std(), v.max(), v.min(), np.median(v)


def masked_clipped(x):
    """x: T N"""
    z = (x - x.mean()) / x.std()
    keep = np.abs(z) < 1.5
    return x[keep].mean() * np.ones(2, x.dtype)


def masked_rows(x):
    """x: T N"""
    m = x[:, 0] > -5
    return x[m].sum(axis=0), x[m, 1].mean(), x[m].max()


def masked_row_set(x):
    """x: T N"""
    y = x.copy()
    y[x[:, 0] > 0] = 0
    return y


def masked_row_set_row(x):
    """x: T N"""
    y = x.copy()
    y[x[:, 0] > 0] = x[0]
    return y


def masked_column_set(x):
    """x: T N"""
    y = x.copy()
    y[:, x[0] > 0] = 7
    y[x[:, 1] < 0, 0] = 3
    y[x[:, 1] < 0, :] += 1
    return y


def masked_causal(x):
    """x: B N N"""
    n = x.shape[1]
    mask = np.triu(np.ones((n, n), bool), 1)
    s = x.copy()
    s[..., mask] = -1e9
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def masked_kmeans(x, lab, c):
    """x: T N, lab: int64 T, c: 4 N"""
    new = np.zeros_like(c)
    for k in range(4):
        m = lab == k
        if m.any():
            new[k] = x[m].mean(axis=0)
        else:
            new[k] = c[k]
    return new


def masked_count(x):
    """x: T N"""
    return x[x > 0.5].size + len(x[x < 0]) + np.count_nonzero(x[x > 0] > 1)


def masked_two(x, y):
    """x: N, y: N"""
    m = x > 0
    return (x[m] * y[m]).sum(), np.dot(x[m], y[m]), np.linalg.norm(x[m]), (x[m] - y[m].mean()).sum()


def masked_twice(x):
    """x: N"""
    return np.sqrt(x[x > 0]).sum() + np.log(x[x > 0]).mean()


def masked_maxes(x):
    """x: T N"""
    it = np.zeros((x.shape[0], x.shape[1]), np.int64)
    z = np.zeros_like(x)
    for _ in range(5):
        m = np.abs(z) < 2
        z[m] = z[m] * z[m] + x[m]
        it[m] += 1
    return it


def masked_mask3(x):
    """x: B M N"""
    y = x.copy()
    m = x[:, :, 0] > 0
    y[m] = 0
    y[m, 1] = 5
    return y, x[m].sum(0)


def masked_rows_with_an_axis_more(x):
    """x: T N"""
    y = x.copy()
    size = np.sqrt((x * x).sum(1))
    large = size > 1
    y[large] /= size[large][:, None]
    return y, x[large][:, 0].sum()


def masked_put(x):
    """x: T N"""
    y = x.copy()
    np.putmask(y, y > 1, 1.0)
    np.place(y, y < -1, -1.0)
    np.putmask(y, x > 2, x * 3)
    return y


def set_where(x):
    """x: M N"""
    y = x.copy(); y[np.where(x > 0.5)] = 0
    return y


def negated_at_nonzero(x):
    """x: M N"""
    y = x.copy(); i = np.nonzero(x > 0.5); y[i] = -y[i]
    return y


def places_of_both_axes(x):
    """x: M N"""
    i, j = np.where(x > 0.5)
    y = np.zeros_like(x)
    y[i, j] = x[i, j] * 2
    return y


def places_of_one_axis(x):
    """x: M"""
    y = x.copy(); idx = np.where(x > 0.5)[0]; y[idx] = 1
    return y


def summed_where(x):
    """x: M"""
    return x[np.where(x > 0.5)].sum()


def how_many_were_found(x):
    """x: M"""
    return len(np.where(x > 0.5)[0]) + x


def set_at_flat_places(x):
    """x: M"""
    y = x.copy(); y[np.flatnonzero(x > 0.5)] = 1
    return y


def rows_found_by_sums(x):
    """x: M N"""
    y = x.copy(); rows = np.where(x.sum(axis=1) > 2)[0]; y[rows] = 0
    return y


def columns_found(x):
    """x: M N"""
    y = x.copy(); y[:, np.where(x[0] > 0.5)[0]] = 0
    return y


def numbers_of_places(x):
    """x: M"""
    i = np.flatnonzero(x > 0.5)
    return (i * x[i]).sum() / i.size + x


def mean_of_places(x):
    """x: M N"""
    i, j = (x > 0.5).nonzero()
    return (i + j).mean() + x.max()


def rows_and_elements_of_rows(x):
    """x: M N"""
    rows = np.where(x.mean(axis=1) > 0.4)[0]
    return x[rows].sum(axis=0), x[rows, 0].sum()


def set_from_others_there(x, y):
    """x: M N, y: M N"""
    z = x.copy()
    i = np.where(x > y)
    z[i] = y[i] * 2 - x[i]
    return z


def sum_above_the_diagonal(x):
    """x: N N"""
    i, j = np.triu_indices(x.shape[0], k=1)
    return x[i, j].sum() + i.sum()


def triangles_set(x):
    """x: N N"""
    y = x.copy()
    y[np.triu_indices(len(x), 1)] = 0
    y[np.tril_indices_from(x, -2)] *= 3
    return y


def diagonals_set_by_ranges(x):
    """x: N N"""
    y = x.copy(); n = len(x)
    y[range(n), range(n)] = 1
    y[range(1, n), range(n - 1)] += 5
    return y
