"""Loops of varying length that write arrays place by place, as users write them; see loop_formulas.py."""

import numpy as np


def ema(x, alpha):
    """x: B T; alpha=0.3"""
    y = np.empty_like(x)
    y[:, 0] = x[:, 0]
    for t in range(1, x.shape[1]):
        y[:, t] = alpha * x[:, t] + (1 - alpha) * y[:, t - 1]
    return y


def kalman(z):
    """z: B T"""
    x, p, y = np.zeros(z.shape[0], dtype=z.dtype), np.ones(z.shape[0], dtype=z.dtype), np.zeros_like(z)
    for t in range(z.shape[1]):
        p = p + 0.01
        k = p / (p + 0.1)
        x = x + k * (z[:, t] - x)
        p = (1 - k) * p
        y[:, t] = x
    return y, p


def integrate_and_fire(current, tau):
    """current: T N; tau=0.9"""
    v = np.zeros(current.shape[1], dtype=current.dtype)
    spikes = np.zeros_like(current)
    for t in range(current.shape[0]):
        v = tau * v + current[t]
        fired = v > 0.5
        spikes[t] = fired
        v = np.where(fired, 0.0, v)
    return spikes, v


def biquad(x, b0, b1, b2, a1, a2):
    """x: B T; b0=0.2, b1=0.3, b2=0.1, a1=-0.5, a2=0.25"""
    y = np.zeros_like(x)
    for t in range(2, x.shape[1]):
        y[:, t] = b0 * x[:, t] + b1 * x[:, t - 1] + b2 * x[:, t - 2] - a1 * y[:, t - 1] - a2 * y[:, t - 2]
    return y


def macd(x):
    """x: B T"""
    fast, slow = np.empty_like(x), np.empty_like(x)
    fast[:, 0] = slow[:, 0] = x[:, 0]
    for t in range(1, x.shape[1]):
        fast[:, t] = fast[:, t - 1] + 0.15 * (x[:, t] - fast[:, t - 1])
        slow[:, t] = slow[:, t - 1] + 0.07 * (x[:, t] - slow[:, t - 1])
    return fast - slow


def discounted(r, gamma):
    """r: B T; gamma=0.95"""
    out = np.zeros_like(r)
    g = np.zeros(r.shape[0], dtype=r.dtype)
    for t in reversed(range(r.shape[1])):
        g = r[:, t] + gamma * g
        out[:, t] = g
    return out


def advantages(r, v, gamma, lam):
    """r: T N, v: T+1 N; gamma=0.99, lam=0.95"""
    steps = r.shape[0]
    adv = np.zeros_like(r)
    last = 0
    for t in range(steps - 1, -1, -1):
        delta = r[t] + gamma * v[t + 1] - v[t]
        last = delta + gamma * lam * last
        adv[t] = last
    return adv, adv + v[:-1]


def forward_algorithm(log_a, log_b, start):
    """log_a: M M, log_b: T M, start: M"""
    alpha = np.empty_like(log_b)
    alpha[0] = start + log_b[0]
    for t in range(1, log_b.shape[0]):
        s = alpha[t - 1][:, None] + log_a
        top = s.max(axis=0)
        alpha[t] = np.log(np.exp(s - top).sum(axis=0)) + top + log_b[t]
    last = alpha[-1]
    return alpha, np.log(np.exp(last - last.max()).sum()) + last.max()


def prefix_sums(x):
    """x: T N"""
    y = np.empty_like(x)
    total = np.zeros(x.shape[1], dtype=x.dtype)
    for i, row in enumerate(x):
        total += row
        y[i] = total / (i + 1)
    return y


def edit_distances(cost, d0):
    """cost: M T, d0: T"""
    d = np.zeros_like(cost)
    d[0] = d0
    for i in range(1, cost.shape[0]):
        d[i, 0] = d[i - 1, 0] + 1
        for j in range(1, cost.shape[1]):
            d[i, j] = np.minimum(np.minimum(d[i - 1, j] + 1, d[i, j - 1] + 1), d[i - 1, j - 1] + cost[i, j])
    return d


def warping(cost):
    """cost: M T"""
    m, n = cost.shape
    d = np.full((m + 1, n + 1), np.inf, dtype=cost.dtype)
    d[0, 0] = 0
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            best = np.minimum(np.minimum(d[i - 1, j], d[i, j - 1]), d[i - 1, j - 1])
            d[i, j] = np.abs(cost[i - 1, j - 1]) + best
    return d[m, n]


def heads(x, w):
    """x: B T K, w: H K M"""
    out = np.zeros((x.shape[0], x.shape[1], w.shape[0], w.shape[2]), dtype=x.dtype)
    for h in range(w.shape[0]):
        out[:, :, h] = x @ w[h]
    return out


def thomas(a, b, c, d):
    """a: T, b: T, c: T, d: T"""
    n = d.shape[0]
    b = np.abs(b) + 4
    cp, dp = np.zeros_like(c), np.zeros_like(d)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros_like(d)
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def in_place_prefix(x):
    """x: B T"""
    y = x.copy()
    for t in range(1, y.shape[1]):
        y[:, t] += 0.5 * y[:, t - 1]
    return y


def autoregression(x, a):
    """x: T+3, a: 3"""
    y = x.copy()
    for t in range(3, y.shape[0]):
        y[t] = x[t] + y[t - 3 : t] @ a
    return y


def in_the_middle(x):
    """x: B T N"""
    y = np.zeros_like(x)
    h = x[:, 0] * 0
    for t in range(x.shape[1]):
        h = 0.5 * h + x[:, t]
        y[:, t, :] = h
        y[:, t, 0] = 1
    return y, y[..., -1]


def nested_sums(x, y):
    """x: M T, y: T"""
    out = np.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j] * y[j] * (i + 1)
        out[i] = total
    return out


def matrix_product(a, b):
    """a: M T, b: T N"""
    c = np.zeros((a.shape[0], b.shape[1]), dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def viterbi_path(lb, la):
    """lb: T N, la: N N"""
    T, n = lb.shape
    score = lb[0]
    back = np.zeros((T, n), dtype=np.int64)
    for t in range(1, T):
        m = score[:, None] + la
        back[t] = m.argmax(axis=0)
        score = m.max(axis=0) + lb[t]
    path = np.zeros(T, dtype=np.int64)
    path[T - 1] = score.argmax()
    for t in range(T - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score


def convolution_by_loops(x, w):
    """x: B M N, w: R S"""
    H, W = x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1
    out = np.zeros((x.shape[0], H, W), dtype=x.dtype)
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            out += x[:, i:i + H, j:j + W] * w[i, j]
    return out


def im2col(x, w):
    """x: M N, w: R S"""
    H, W = x.shape[0] - w.shape[0] + 1, x.shape[1] - w.shape[1] + 1
    out = np.zeros((H, W), dtype=x.dtype)
    for i in range(H):
        for j in range(W):
            out[i, j] = (x[i:i + w.shape[0], j:j + w.shape[1]] * w).sum()
    return out


def strided_pool(x):
    """x: 2*T N"""
    out = np.zeros((x.shape[0] // 2, x.shape[1]), dtype=x.dtype)
    for i in range(x.shape[0] // 2):
        out[i] = x[2 * i : 2 * i + 2].max(axis=0)
    return out


def levinson_like(x):
    """x: T"""
    y = np.zeros(x.shape[0] + 1, dtype=x.dtype)
    for t in range(x.shape[0]):
        y[t + 1] = y[t] + x[t]
    return y[1:], y[:-1]


def cumprod_back(x):
    """x: T N"""
    y = np.ones((x.shape[0] + 1, x.shape[1]), dtype=x.dtype)
    for t in range(x.shape[0] - 1, -1, -1):
        y[t] = y[t + 1] * x[t]
    return y[0], y


def scan_2d(x):
    """x: T N"""
    y = x.copy()
    for i in range(1, x.shape[0]):
        y[i] += y[i - 1]
    for j in range(1, x.shape[1]):
        y[:, j] += y[:, j - 1]
    return y


def scan_2d_nested(x):
    """x: T N"""
    y = np.zeros((x.shape[0] + 1, x.shape[1] + 1), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i + 1, j + 1] = x[i, j] + y[i, j + 1] + y[i + 1, j] - y[i, j]
    return y[1:, 1:]


def three_d(x):
    """x: B T N"""
    y = np.zeros_like(x)
    for b in range(x.shape[0]):
        h = np.zeros(x.shape[2], dtype=x.dtype)
        for t in range(x.shape[1]):
            h = 0.9 * h + x[b, t]
            y[b, t] = h
    return y


def three_d_y(x):
    """x: B T N"""
    y = np.zeros_like(x)
    for b in range(x.shape[0]):
        y[b, 0] = x[b, 0]
        for t in range(1, x.shape[1]):
            y[b, t] = 0.9 * y[b, t - 1] + x[b, t]
    return y


def three_d_yt(x):
    """x: B T N"""
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    for b in range(x.shape[0]):
        for t in range(1, x.shape[1]):
            y[b, t] = 0.9 * y[b, t - 1] + x[b, t]
    return y


def time_outer(x):
    """x: B T N"""
    y = np.zeros_like(x)
    for t in range(1, x.shape[1]):
        for b in range(x.shape[0]):
            y[b, t] = 0.9 * y[b, t - 1] + x[b, t]
    return y


def param_window(x, w):
    """x: 9 N; w=3"""
    out = np.zeros((x.shape[0] - w + 1, x.shape[1]), dtype=x.dtype)
    for t in range(x.shape[0] - w + 1):
        out[t] = x[t:t + w].sum(axis=0)
    return out


def euler(y, T, dt):
    """y: N; T=4, dt=0.1"""
    ys = np.empty((T + 1, y.shape[0]), dtype=y.dtype)
    ys[0] = y
    for i in range(T):
        ys[i + 1] = ys[i] + dt * np.sin(ys[i]) * (i * dt)
    return ys


def wraps_around(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[t] + x[t-1]
    return y


def wrap_y(x):
    """x: T N"""
    y = x.copy()
    for t in range(x.shape[0]):
        y[t] = x[t] + 0.5*y[t-1]
    return y


def wrap_back(x):
    """x: T N"""
    y = x.copy()
    T = x.shape[0]
    for t in range(T):
        y[T-1-t] = x[t] + 0.5*y[T-t-1]
    return y


def future_read(x):
    """x: T N"""
    y = x.copy()
    for t in range(x.shape[0]-1):
        y[t] = y[t+1] * 0.5 + y[t]
    return y


def back_future(x):
    """x: T N"""
    y = x.copy()
    for t in range(x.shape[0]-1, 0, -1):
        y[t] = y[t-1] * 0.5 + y[t]
    return y


def last_read(x):
    """x: T N"""
    y = x.copy()
    for t in range(x.shape[0]-1):
        y[t] = y[-1] + x[t]
    return y


def gram(x):
    """x: T N"""
    g = np.empty((x.shape[0], x.shape[0]), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            g[i, j] = x[i] @ x[j]
    return g


def row_dp(x):
    """x: M T"""
    row = np.zeros(x.shape[1], dtype=x.dtype)
    for i in range(x.shape[0]):
        new = np.zeros_like(row)
        new[0] = row[0] + x[i, 0]
        for j in range(1, x.shape[1]):
            new[j] = np.minimum(row[j], new[j-1]) + x[i, j]
        row = new
    return row


def row_dp2(x):
    """x: M T"""
    row = np.zeros(x.shape[1], dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            row[j] = np.minimum(row[j], row[j-1]) + x[i, j]
    return row


def nested_peel(x):
    """x: T N"""
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i == 0 and j == 0:
                y[i, j] = x[i, j]
            elif i == 0:
                y[i, j] = y[i, j-1] + x[i, j]
            elif j == 0:
                y[i, j] = y[i-1, j] + x[i, j]
            else:
                y[i, j] = np.minimum(y[i-1, j], y[i, j-1]) + x[i, j]
    return y


def y1d(x):
    """x: T"""
    y = np.empty(len(x), dtype=x.dtype)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5*y[i-1] + x[i]
    return y


def two_loops_same_y(x):
    """x: T"""
    y = np.empty(len(x), dtype=x.dtype)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5*y[i-1] + x[i]
    for i in range(len(x) - 2, -1, -1):
        y[i] = 0.5*y[i+1] + y[i]
    return y


def prev_of_y(x):
    """x: T N"""
    y = x.copy()
    prev = y[0]
    for t in range(1, x.shape[0]):
        y[t] = y[t] + 0.5 * prev
        prev = y[t]
    return y, prev


def prev_view(x):
    """x: T N"""
    y = np.zeros_like(x)
    z = np.zeros_like(x)
    y[0] = x[0]
    for t in range(1, x.shape[0]):
        p = y[t-1]
        y[t] = 0.5 * p + x[t]
        z[t] = p
    return y, z


def write_prev(x):
    """x: T N"""
    y = x.copy()
    for t in range(1, x.shape[0]):
        y[t-1] += x[t]
    return y


def input_written(x):
    """x: T N"""
    for t in range(1, x.shape[0]):
        x[t] += 0.5 * x[t-1]
    return x


def y_partial(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t, 1:] = x[t, 1:] * 2
        y[t, 0] = 7
    return y


def y_partial_past(x):
    """x: T N"""
    y = x.copy()
    for t in range(1, x.shape[0]):
        y[t, 1:] = y[t-1, 1:] * 0.5 + y[t, :-1]
    return y


def columns(x):
    """x: M T"""
    y = x.copy()
    for t in range(1, x.shape[1]):
        y[:, t] -= y[:, t-1] * 0.5
    y[:, 0] = 3
    return y


def clip_index(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[max(t - 1, 0)] + x[min(t + 1, x.shape[0] - 1)]
    return y


def nested_y_outer(x):
    """x: T N"""
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        acc = x[i] * 0
        for j in range(x.shape[0]):
            acc = acc + x[j] * (i + j)
        y[i] = acc
    return y


def attention(x):
    """x: T N"""
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        s = x @ x[i]
        p = np.exp(s - s.max())
        out[i] = (p / p.sum()) @ x
    return out


def diff_inplace(x):
    """x: T N"""
    y = x.copy()
    for t in range(x.shape[0] - 1, 0, -1):
        y[t] -= y[t - 1]
    return y


def cross_arrays(x):
    """x: T N"""
    a, b = x.copy(), np.zeros_like(x)
    for t in range(1, x.shape[0]):
        a[t] = 0.5 * b[t - 1] + x[t]
        b[t] = a[t] + a[t - 1]
    return a, b


def after_modify(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[t] * 2
    y[0] = 5
    for t in range(x.shape[0]):
        y[t] += 1
    return y
