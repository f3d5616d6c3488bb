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
