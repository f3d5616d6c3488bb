"""Loops whose steps read or write parts of arrays that grow, shrink or are cut off at an end, and arrays that steps
read and write anywhere; see formulas.py. The number of steps is a dimension T."""

import numpy as np


def expanding_mean(x):
    """x: T N"""
    y = np.empty_like(x)
    for t in range(x.shape[0]):
        y[t] = x[: t + 1].mean(axis=0)
    return y


def causal_attention(q, k, v):
    """q: T N, k: T N, v: T M"""
    out = np.zeros_like(v)
    for t in range(q.shape[0]):
        s = k[: t + 1] @ q[t] / np.sqrt(q.shape[1])
        p = np.exp(s - s.max())
        p /= p.sum()
        out[t] = p @ v[: t + 1]
    return out


def sliding(x):
    """x: B T"""
    y = np.empty_like(x)
    T = x.shape[1]
    for t in range(T):
        lo, hi = max(0, t-2), min(T, t+3)
        y[:, t] = x[:, lo:hi].sum(axis=1) / (hi - lo)
    return y


def clamped(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[t:t+3].max(axis=0)
    return y


def autocorr(x):
    """x: T"""
    n = x.shape[0]
    x = x - x.mean()
    r = np.empty_like(x)
    for k in range(n):
        r[k] = np.sum(x[:n - k] * x[k:]) / n
    return r


def suffix(x):
    """x: T N"""
    return np.stack([x[t:].sum(axis=0) for t in range(x.shape[0])])


def conv(x, h):
    """x: T, h: T"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = np.dot(x[: t + 1], h[: t + 1][::-1])
    return y


def triangle(x):
    """x: T T"""
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        y[i, :i+1] = x[i, :i+1] * 2
    return y


def mask_future(x):
    """x: T T"""
    y = x.copy()
    for i in range(x.shape[0]):
        y[i, i+1:] = 0
    return y


def blocks(x):
    """x: T N"""
    s = x[0] * 0
    for i in range(0, x.shape[0], 2):
        s = s + x[i:i + 2].sum(axis=0)**2
    return s


def drawdown(x):
    """x: T"""
    y = np.empty_like(x)
    for t in range(len(x)):
        y[t] = x[t] / np.max(x[: t + 1]) - 1
    return y


def decay(x):
    """x: T N"""
    h = np.zeros_like(x[0])
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        h = 0.9*h + x[: t + 1].std(axis=0)
        y[t] = h
    return y


def cumulate(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t:] += x[t]
    return y


def variogram(x):
    """x: T"""
    n = len(x)
    g = np.zeros(n, dtype=x.dtype)
    for h in range(1, n):
        d = x[h:] - x[:-h]
        g[h] = 0.5 * np.mean(d**2)
    return g


def cholesky(a):
    """a: T T"""
    a = a @ a.T + a.shape[0] * np.eye(a.shape[0], dtype=a.dtype)
    n = a.shape[0]
    l = np.zeros_like(a)
    for j in range(n):
        l[j:, j] = (a[j:, j] - l[j:, :j] @ l[j, :j]) / np.sqrt(a[j, j] - l[j, :j] @ l[j, :j])
    return l


def forward_substitution(l, b):
    """l: T T, b: T"""
    y = np.zeros_like(b)
    for i in range(len(b)):
        y[i] = (b[i] - l[i, :i] @ y[:i]) / (2 + l[i, i]**2)
    return y


def gram_schmidt(a):
    """a: P T"""
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (q[:, :j].T @ a[:, j])
        q[:, j] = v / np.linalg.norm(v)
    return q


def levinson(r):
    """r: T"""
    n = len(r)
    a = np.zeros_like(r)
    e = r[0] * r[0] + 1
    for k in range(1, n):
        lam = -(r[k] + a[1:k] @ r[k-1:0:-1]) / e
        a[1:k] = a[1:k] + lam * a[1:k][::-1]
        a[k] = lam
        e = e * (1 - lam * lam)
    return a, e


def running_median_less(x):
    """x: T N"""
    out = []
    for t in range(x.shape[0]):
        w = x[max(0, t-4): t + 1]
        out.append(w.max(axis=0) - w.min(axis=0))
    return np.array(out)


def drop_one(x):
    """x: T N"""
    out = np.zeros_like(x)
    for t in range(x.shape[0]):
        out[t] = np.concatenate([x[:t], x[t+1:]]).sum(axis=0)
    return out


def leave_one_out(x):
    """x: T N"""
    out = np.zeros_like(x)
    for t in range(x.shape[0]):
        out[t] = x[:t].sum(axis=0) + x[t+1:].sum(axis=0)
    return out


def kvdecode(q, k, v):
    """q: T N, k: T N, v: T M"""
    outs = []
    for t in range(q.shape[0]):
        logits = np.einsum('n,tn->t', q[t], k[: t + 1]) * 0.25
        w = np.exp(logits - logits.max())
        w = w / np.sum(w)
        outs.append(np.einsum('t,tm->m', w, v[: t + 1]))
    return np.stack(outs)


def heads_of_the_past(q, k, v):
    """q: B T N, k: B T N, v: B T N"""
    out = np.empty_like(q)
    for t in range(q.shape[1]):
        s = np.matmul(k[:, : t + 1], q[:, t, :, None])[..., 0]
        s = s - s.max(axis=-1, keepdims=True)
        e = np.exp(s)
        w = e / e.sum(axis=-1, keepdims=True)
        out[:, t] = (w[:, :, None] * v[:, : t + 1]).sum(axis=1)
    return out


def local_attention(q, k, v):
    """q: T N, k: T N, v: T N"""
    out = np.zeros_like(q)
    for t in range(q.shape[0]):
        lo = max(0, t - 8)
        s = k[lo: t + 1] @ q[t]
        w = np.exp(s - s.max())
        out[t] = (w / w.sum()) @ v[lo: t + 1]
    return out


def ewma_window(x):
    """x: T"""
    y = np.zeros_like(x)
    for t in range(len(x)):
        w = 0.9 ** np.arange(t + 1)[::-1]
        y[t] = (w * x[: t + 1]).sum() / w.sum()
    return y


def rank(x):
    """x: T"""
    y = np.zeros_like(x)
    for t in range(len(x)):
        y[t] = np.sum(x[:t] < x[t])
    return y


def zscore(x):
    """x: T N"""
    z = np.zeros_like(x)
    for t in range(1, x.shape[0]):
        past = x[:t]
        z[t] = (x[t] - past.mean(axis=0)) / (past.std(axis=0) + 1e-3)
    return z


def last_max(x):
    """x: T"""
    y = np.zeros(len(x), dtype=np.int64)
    for t in range(len(x)):
        y[t] = np.argmax(x[: t + 1])
    return y


def half(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[:t//2+1].sum(axis=0)
    return y


def chunked(x):
    """x: T N"""
    y = np.empty_like(x)
    for i in range(0, x.shape[0], 4):
        c = x[i:i+4]
        y[i:i+4] = c - c.mean(axis=0)
    return y


def centred(x):
    """x: T"""
    y = np.zeros_like(x)
    n = len(x)
    for i in range(n):
        r = min(i, n - 1 - i)
        y[i] = x[i-r:i+r+1].mean()
    return y


def outer_tri(x):
    """x: T"""
    c = np.zeros((x.shape[0], x.shape[0]), dtype=x.dtype)
    for i in range(x.shape[0]):
        c[i, i:] = x[i] * x[i:]
    return c


def survivors(x):
    """x: T N"""
    h = x[0]
    for t in range(1, x.shape[0]):
        h = h + x[t:].min(axis=0) * x[:t].max(axis=0)
    return h


def cdf(x):
    """x: T"""
    return np.array([np.mean(x <= x[t]) - x[:t].sum() for t in range(x.shape[0])])


def scan_dot(x, w):
    """x: T, w: T"""
    return np.array([np.dot(w[-(t+1):], x[: t + 1]) for t in range(x.shape[0])])


def gauss_seidel(a, b):
    """a: T T, b: T"""
    x = np.zeros_like(b)
    for it in range(3):
        for i in range(len(b)):
            s = a[i] @ x - a[i, i] * x[i]
            x[i] = (b[i] - s) / (5 + a[i, i]**2)
    return x


def smooth_in_place(x):
    """x: B T"""
    y = x.copy()
    for t in range(1, x.shape[1] - 1):
        y[:, t] = (y[:, t-1] + y[:, t] + y[:, t+1]) / 3
    return y


def floyd(d):
    """d: T T"""
    d = d.copy()
    for k in range(d.shape[0]):
        d[:] = np.minimum(d, d[:, k:k+1] + d[k:k+1, :])
    return d


def ring(x):
    """x: T N"""
    buf = np.zeros((4, x.shape[1]), dtype=x.dtype)
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[t] - buf[t % 4]
        buf[t % 4] = x[t]
    return y


def blocks_of_four(x):
    """x: M T"""
    y = np.zeros((x.shape[0], 4 * x.shape[1]), dtype=x.dtype)
    for t in range(x.shape[1]):
        y[:, 4*t:4*t+4] = x[:, t: t + 1] * np.arange(4)
    return y


def every_second(x):
    """x: T N"""
    y = np.zeros((2 * x.shape[0], x.shape[1]), dtype=x.dtype)
    for t in range(x.shape[0]):
        y[2*t] = x[t]
        y[2*t+1] = -x[t]
    return y


def edit(c):
    """c: M T"""
    m, n = c.shape
    d = np.zeros((m + 1, n + 1), dtype=c.dtype)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            d[i][j] = c[i-1][j-1] + min(d[i-1][j], d[i][j-1], d[i-1][j-1])
    return d[m][n]


def lu(a):
    """a: T T"""
    a = a + 4 * a.shape[0] * np.eye(a.shape[0], dtype=a.dtype)
    n = a.shape[0]
    for k in range(n - 1):
        a[k+1:, k] /= a[k, k]
        a[k+1:, k+1:] -= np.outer(a[k+1:, k], a[k, k+1:])
    return a


def back_substitution(u, b):
    """u: T T, b: T"""
    n = len(b)
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(u[i, i+1:], x[i+1:])) / (3 + np.abs(u[i, i]))
    return x


def sieve(x):
    """x: T N"""
    y = x.copy()
    for t in range(1, x.shape[0]):
        y[t] += y[:t].sum(axis=0) * 0.1
    return y


def insert_sorted(x):
    """x: T"""
    w = np.zeros(len(x), dtype=x.dtype)
    for t in range(len(x)):
        w[t] = np.sqrt(np.sum(w[:t] ** 2) + x[t] ** 2)
    return w


def jackknife(x):
    """x: T"""
    return np.array([np.sum(np.delete(x, i) ** 2) for i in range(len(x))])


def fib(x):
    """x: T"""
    y = np.zeros(len(x) + 2, dtype=x.dtype)
    y[0] = y[1] = 1
    for i in range(len(x)):
        y[i + 2] = 0.5 * (y[i + 1] + y[i]) + x[i]
    return y


def whole_read(x):
    """x: T N"""
    y = x.copy()
    for t in range(x.shape[0]):
        y[t] = y.sum(axis=0) * 0.1
    return y


def two_places(x):
    """x: T N"""
    y = np.zeros((x.shape[0] + 1, x.shape[1]), dtype=x.dtype)
    for t in range(x.shape[0]):
        y[t] = x[t]
        y[t + 1] = x[t] * 2
    return y


def reads_the_second(x):
    """x: T N"""
    y = x.copy()
    for t in range(2, x.shape[0]):
        y[t] = y[1] + x[t]
    return y


def strided(x):
    """x: T N"""
    y = x.copy()
    for t in range(x.shape[0] // 2):
        y[2 * t] = x[2 * t] * 2
    return y


def in_place_then_read(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[: t + 1] *= 0.5
        y[: t + 1] += x[t]
    return y


def ends_of_parts(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        past = x[: t + 1]
        y[t] = past[0] * past[-1] + past[1:].sum(axis=0) - past[:-1].sum(axis=0)
    return y


def lags(x):
    """x: T N"""
    y = np.zeros_like(x)
    for lag in range(1, x.shape[0]):
        y[lag] = (x[lag:] * x[:-lag]).mean(axis=0)
    return y


def weights_of_the_past(x):
    """x: T N"""
    rows = []
    for t in range(x.shape[0]):
        w = np.arange(1, t + 2) ** 0.5
        rows.append((w[:, None] * x[: t + 1]).sum(axis=0) / np.sum(w))
    return np.stack(rows)


def covariances(x):
    """x: T N"""
    c = np.zeros((x.shape[0], x.shape[1], x.shape[1]), dtype=x.dtype)
    for t in range(x.shape[0]):
        past = x[: t + 1] - x[: t + 1].mean(axis=0)
        c[t] = past.T @ past / len(past)
    return c


def running_logsumexp(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        m = np.max(x[: t + 1], axis=0, keepdims=True)
        y[t] = np.log(np.sum(np.exp(x[: t + 1] - m), axis=0)) + m[0]
    return y


def maxima_of_two_axes(x):
    """x: T T"""
    y = np.zeros_like(x[0])
    for t in range(x.shape[0]):
        y[t] = np.max(x[: t + 1, : t + 1]) + np.abs(x[t:, t:]).sum()
    return y


def rows_of_a_table(x):
    """x: M T"""
    y = x.copy()
    for i in range(1, x.shape[0]):
        for j in range(1, x.shape[1]):
            y[i][j] += max(y[i - 1][j], y[i][j - 1])
    return y


def never_more_than_three(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[: min(t + 1, 3)].sum(axis=0)
    return y


def view_of_a_row_that_is_left(x):
    """x: T N"""
    y = x * 1
    first = y[0]
    for t in range(1, x.shape[0]):
        y[t] = y[t - 1] * 0.5 + first
    return y
