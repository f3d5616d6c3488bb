"""Loops of varying length, as users write them; see formulas.py.

The number of steps is a dimension T or a parameter."""

import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

# The least T for formulas that begin later, or that look further ahead.
FEWEST = {"biquad": 2, "moving_average": 3, "later_rule": 2}


def ema(x, alpha):
    """x: B T; alpha=0.3"""
    y = np.empty_like(x)
    y[:, 0] = x[:, 0]
    for t in range(1, x.shape[1]):
        y[:, t] = alpha * x[:, t] + (1 - alpha) * y[:, t - 1]
    return y


def rnn(x, h, w, u):
    """x: T B K, h: B M, w: K M, u: M M"""
    out = []
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ w + h @ u)
        out.append(h)
    return np.stack(out), h


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, h, c, wx, wh, b):
    """x: T B K, h: B M, c: B M, wx: K 4*M, wh: M 4*M, b: 4*M"""
    for step in x:
        i, f, g, o = np.split(step @ wx + h @ wh + b, 4, axis=1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
    return h, c


def gru(x, wx, wh):
    """x: B T K, wx: K 3*M, wh: M 3*M"""
    n = wh.shape[0]
    h = np.zeros((x.shape[0], n), dtype=x.dtype)
    states = []
    for t in range(x.shape[1]):
        a, b = x[:, t] @ wx, h @ wh
        r = _sigmoid(a[:, :n] + b[:, :n])
        z = _sigmoid(a[:, n : 2 * n] + b[:, n : 2 * n])
        h = (1 - z) * np.tanh(a[:, 2 * n :] + r * b[:, 2 * n :]) + z * h
        states.append(h)
    return np.stack(states, axis=1)


def cumulative_maximum(x):
    """x: B T"""
    best = x[:, 0]
    out = [best]
    for t in range(1, x.shape[1]):
        best = np.maximum(best, x[:, t])
        out.append(best)
    return np.array(out).T


def momentum(g, w):
    """g: T N, w: N"""
    v = 0.0
    for grad in g:
        v = 0.9 * v + grad
        w = w - 0.1 * v
    return w, v


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


def viterbi(log_a, log_b, start):
    """log_a: M M, log_b: T M, start: M"""
    score = start + log_b[0]
    for t in range(1, log_b.shape[0]):
        score = np.max(score[:, None] + log_a, axis=0) + log_b[t]
    return score.max()


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


def horner(x, c):
    """x: N, c: N T"""
    result = np.zeros_like(x)
    for k in reversed(range(c.shape[-1])):
        result = result * x + c[..., k]
    return result


def power_iteration(a, v, n):
    """a: M M, v: M; n=5"""
    for _ in range(n):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v, v @ a @ v


def selective_scan(x, dt, a, b, c):
    """x: B T M, dt: B T M, a: M N, b: B T N, c: B T N"""
    h = np.zeros((x.shape[0], x.shape[2], a.shape[1]), dtype=x.dtype)
    ys = []
    for t in range(x.shape[1]):
        da = np.exp(-np.abs(dt[:, t, :, None]) * np.abs(a))
        h = da * h + dt[:, t, :, None] * b[:, t, None, :] * x[:, t, :, None]
        ys.append((h * c[:, t, None, :]).sum(-1))
    return np.stack(ys, axis=1)


def prefix_sums(x):
    """x: T N"""
    y = np.empty_like(x)
    total = np.zeros(x.shape[1], dtype=x.dtype)
    for i, row in enumerate(x):
        total += row
        y[i] = total / (i + 1)
    return y


def zipped(a, b, h):
    """a: T N, b: T N, h: N"""
    for p, q in zip(a, b):
        h = p * h + q
    return h


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


def sinkhorn(m, n):
    """m: M N; n=4"""
    k = np.exp(m)
    for _ in range(n):
        k = k / k.sum(axis=1, keepdims=True)
        k = k / k.sum(axis=0, keepdims=True)
    return k


def heat(u, n):
    """u: M N; n=3"""
    for _ in range(n):
        v = u.copy()
        v[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u = v
    return u


def welford(x):
    """x: T N"""
    count = 0
    mean = np.zeros(x.shape[1], dtype=x.dtype)
    m2 = np.zeros_like(mean)
    for row in x:
        count += 1
        delta = row - mean
        mean += delta / count
        m2 += delta * (row - mean)
    return mean, m2 / count


def interpolated(a, b, n):
    """a: N, b: N; n=5"""
    return np.stack([a + (b - a) * (i / n) for i in range(n)])


def comprehension(x, w):
    """x: B T K, w: K M"""
    return np.stack([np.tanh(x[:, t] @ w) for t in range(x.shape[1])], axis=1)


def _update(state, row):
    state *= 0.5
    state += row


def in_place(x):
    """x: T N"""
    state = np.zeros_like(x[0])
    for row in x:
        _update(state, row)
    return state


def layers(x, w):
    """x: T B M, w: 2 M M"""
    hs = [np.zeros_like(x[0]) for _ in range(2)]
    out = []
    for t in range(x.shape[0]):
        value = x[t]
        for i in range(2):
            hs[i] = np.tanh(value @ w[i] + hs[i])
            value = hs[i]
        out.append(value)
    return np.array(out), hs[0]


def backwards_list(x):
    """x: T N"""
    g, out = 0.0, []
    for t in reversed(range(len(x))):
        g = x[t] + 0.9 * g
        out.insert(0, g)
    return np.stack(out)


def reversed_list(x):
    """x: T N"""
    g, out = 0.0, []
    for row in x[::-1]:
        g = row + 0.9 * g
        out.append(g)
    return np.stack(out[::-1]), np.concatenate(out), out[-1]


def first_step_apart(x):
    """x: T N"""
    out = []
    for t in range(x.shape[0]):
        if t == 0:
            h = x[t] * 2
        else:
            h = 0.5 * h + x[t]
        out.append(h)
    return np.array(out)


def in_place_prefix(x):
    """x: B T"""
    y = x.copy()
    for t in range(1, y.shape[1]):
        y[:, t] += 0.5 * y[:, t - 1]
    return y


def fibonacci(x, n):
    """x: N; n=6"""
    a, b = x, x * 2
    for _ in range(n):
        a, b = b, a + b
    return a


def weights_of_steps(x, n):
    """x: N; n=4"""
    total = np.zeros_like(x)
    for k in range(1, n + 1):
        total = total + x**k * (math.cos(1.0) / k)
    return total


def cells(x, w):
    """x: T N, w: N"""
    cell = Cell(np.zeros_like(w), w)
    for row in x:
        y = cell(row)
    return y, cell.state


class Cell:
    def __init__(self, state, w):
        self.state, self.w = state, w

    def __call__(self, row):
        self.state = np.tanh(self.state * self.w + row)
        return self.state * 2


def named_states(x):
    """x: T N"""
    states = {"h": np.zeros_like(x[0]), "n": 0}
    log = {"h": []}
    for row in x:
        states["n"] += 1
        states["h"] = 0.5 * states["h"] + row / states["n"]
        log["h"].append(states["h"])
    return states["h"], np.array(log["h"])


def pairs(x):
    """x: T N"""
    carry = (np.zeros_like(x[0]), np.ones_like(x[0]))
    for row in x:
        a, b = carry
        carry = (0.5 * a + row, b * 0.9 + a)
    return carry


def two_appends(x):
    """x: T N"""
    out = [x[0]]
    for row in x:
        out.append(row)
        out.append(row * 2)
    out.append(x[0])
    return np.stack(out), len(out) * x[0]


def last_of_the_list(x):
    """x: T N"""
    out = [x[0]]
    for t in range(1, x.shape[0]):
        out.append(0.5 * out[-1] + x[t])
    return np.stack(out), out[-1]


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


def else_branch(x):
    """x: T N"""
    h = x[0]
    for row in x:
        h = 0.5 * h + row
    else:
        h = h * 2
    return h


def outer_then_inner(x, w):
    """x: T B M, w: K M M"""
    h = np.zeros_like(x[0])
    for t in range(x.shape[0]):
        for k in range(w.shape[0]):
            h = np.tanh(h @ w[k] + x[t])
    return h


def sum_of_steps(x, w):
    """x: T N, w: N"""
    return sum(row * w for row in x)


def last_values(x):
    """x: T N"""
    for t in range(x.shape[0]):
        y = x[t] * 2
    return y + t


def unrelated_to_the_step(x, w, n):
    """x: N, w: N N; n=3"""
    for _ in range(n):
        x = x + (w @ w) @ x
    return x


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


def lookup(x, i):
    """x: 5 N, i: int64 T"""
    h = x[0] * 0
    for k in i:
        h = 0.5 * h + x[k]
    return h


def count_where(x):
    """x: T"""
    n = 0
    for v in x:
        n += v > 0
    return n


def argmax_loop(x):
    """x: T"""
    best, at = x[0], 0
    for i in range(1, len(x)):
        at = np.where(x[i] > best, i, at)
        best = np.maximum(best, x[i])
    return at, best


def newton(x, T):
    """x: N; T=4"""
    y = np.abs(x) + 1
    for i in range(T):
        y = 0.5 * (y + (np.abs(x) + 1) / y)
    return y


def cg(a, b, T):
    """a: N N, b: N; T=3"""
    a = a @ a.T + np.eye(a.shape[0], dtype=a.dtype)
    x = np.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    for _ in range(T):
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


def adam(g, w):
    """g: T N, w: N"""
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t, gt in enumerate(g, start=1):
        m = 0.9 * m + 0.1 * gt
        v = 0.99 * v + 0.01 * gt**2
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
    return w


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


def bidir(x):
    """x: T N"""
    fw, bw = [], []
    h = x[0] * 0
    for row in x:
        h = np.tanh(h + row)
        fw.append(h)
    h = x[0] * 0
    for row in x[::-1]:
        h = np.tanh(h - row)
        bw.append(h)
    return np.concatenate([np.stack(fw), np.stack(bw[::-1])], axis=1)


def bidir_zip(x):
    """x: T N"""
    fw, bw = [], []
    h = x[0] * 0
    for row in x:
        h = np.tanh(h + row)
        fw.append(h)
    h = x[0] * 0
    for row in reversed(x):
        h = np.tanh(h - row)
        bw.append(h)
    return np.stack([np.concatenate([a, b]) for a, b in zip(fw, reversed(bw))])


def moving_average(x):
    """x: T N"""
    k = 3
    out = []
    for t in range(x.shape[0] - k + 1):
        out.append(x[t:t + k].mean(axis=0))
    return np.stack(out)


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


def leapfrog(u, T):
    """u: M N; T=4"""
    p, c = u.copy(), u.copy()
    for _ in range(T):
        n = 2 * c - p
        n[1:-1] += 0.1 * (c[2:] - 2 * c[1:-1] + c[:-2])
        p, c = c, n
    return c


def life(u, T):
    """u: M N; T=2"""
    g = (u > 0).astype(np.int64)
    for _ in range(T):
        n = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        g = ((n == 3) | ((g == 1) & (n == 2))).astype(np.int64)
    return g


def nested_param(x, T):
    """x: M N; T=3"""
    for _ in range(T):
        for i in range(x.shape[0]):
            x = x * 0.5 + x[i]
    return x


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


def sum_of_number(x):
    """x: T N"""
    c = 1.0
    for row in x:
        c = row / (np.sum(c) + 2)
    return c


def size_of_number(x):
    """x: T N"""
    c = 1.0
    for row in x:
        c = row + np.size(c)
    return c


def number_then_booleans(x):
    """x: T N"""
    m = 0.5
    for row in x:
        m = row > m
    return m


def int_array(x):
    """x: T N"""
    k = np.zeros(x.shape[1], dtype=np.int64)
    for row in x:
        k = k + (row > 0)
    return k


def int8_array(x):
    """x: T N"""
    k = np.full(x.shape[1], 100, dtype=np.int8)
    for row in x:
        k = (k + k) * row
    return k


def first_flag(x):
    """x: T N"""
    first = True
    for row in x:
        if first:
            h = row
            first = False
        else:
            h = 0.5*h + row
    return h


def none_prev(x):
    """x: T N"""
    prev = None
    out = []
    for row in x:
        out.append(row if prev is None else row - prev)
        prev = row
    return np.stack(out)


def counter_affine(x):
    """x: T N"""
    k = 3
    h = x[0] * 0
    for row in x:
        h = h + row * k
        k += 2
    return h, k * x[0]


def counter_double(x):
    """x: T N"""
    k = 1
    h = x[0] * 0
    for row in x:
        h = h + row * k
        k = k * 2
    return h


def counter_step(x):
    """x: T N"""
    k = 0
    h = x[0] * 0
    for t in range(x.shape[0]):
        k += t
        h = h + x[t] * k
    return h


def counter_cond(x):
    """x: T N"""
    k = 0
    h = x[0] * 0
    for row in x:
        if k == 0:
            h = row
        else:
            h = 0.5 * h + row
        k += 1
    return h


def _g_list_in_helper(out, v):
    out.append(v)


def list_in_helper(x):
    """x: T N"""
    out = []
    for row in x:
        _g_list_in_helper(out, row * 2)
    return np.stack(out)


def nested_lists(x):
    """x: T N"""
    rows = []
    for i in range(x.shape[0]):
        row = []
        for j in range(x.shape[1]):
            row.append(x[i, j] * 2 + i)
        rows.append(row)
    return np.array(rows)


def nested_comp(x):
    """x: T N"""
    return np.array([[x[i, j] * 2 + j for j in range(x.shape[1])] for i in range(x.shape[0])])


def list_pop(x):
    """x: T N"""
    out = [x[0]]
    for row in x:
        out.append(out.pop() + row)
    return out[0]


def deque_like(x):
    """x: T N"""
    buf = [x[0], x[0]]
    for row in x:
        buf = buf[1:] + [row * 0.5 + buf[0]]
    return np.stack(buf)


def enumerate_zip(x):
    """x: T N"""
    h = x[0] * 0
    for i, (a, b) in enumerate(zip(x[1:], x[:-1]), 1):
        h = h + a * b * i
    return h


def after_t(x):
    """x: T N"""
    for t in range(x.shape[0]):
        y = x[t]
    return y, x[t], t * x[0]


def shadow_T(x, y):
    """x: T N, y: T N"""
    h = x[0]
    for T in range(x.shape[0]):
        h = h * 0.5 + x[T] * T
    for T in range(y.shape[0]):
        h = h * 0.5 + y[T] * T
    return h


def buffer(x):
    """x: T N"""
    buf = np.empty_like(x[0])
    h = x[0] * 0
    for row in x:
        buf[:] = row * 2
        buf += 1
        h = h + buf
    return h, buf


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


def roundtrip_dict(x):
    """x: T N"""
    p = {"w": x[0] * 1, "b": x[0] * 0}
    for row in x:
        for k in p:
            p[k] = p[k] * 0.9 + row
    return p["w"], p["b"]


def sgd_list(x):
    """x: T N"""
    params = [x[0] * 1, x[0] * 2]
    for row in x:
        grads = [p * row for p in params]
        params = [p - 0.1 * g for p, g in zip(params, grads)]
    return params


def scalar_sum(x):
    """x: T"""
    s = 0
    for v in x:
        s += v
    return s


def scalar_product(x):
    """x: T"""
    s = 1.0
    m = -np.inf
    for i in range(len(x)):
        s *= x[i]
        m = max(m, x[i])
    return s, m


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


def alias_inplace(x):
    """x: T N"""
    h = x[0] * 1
    g = h
    for row in x:
        h += row
    return g + h


def swap_inplace(x):
    """x: T N"""
    a, b = x[0] * 1, x[0] * 2
    for row in x:
        a, b = b, a
        a += row
    return a, b


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


def int_input(x):
    """x: int64 T N"""
    h = 0
    m = 0
    for row in x:
        h = h * 3 + row
        m = np.maximum(m, row)
    return h, m


def mixed_dtype2(x, k):
    """x: T N, k: int64 T N"""
    h = np.zeros(x.shape[1], dtype=np.int64)
    g = h
    for a, b in zip(x, k):
        h = h + b
        g = h * a
    return h, g


def outputs_layers(x):
    """x: T N"""
    seq = x
    for l in range(2):
        out = []
        h = seq[0] * 0
        for row in seq:
            h = np.tanh(h + row)
            out.append(h)
        seq = np.stack(out)
    return seq


def list_iter(x):
    """x: T N"""
    out = []
    h = x[0] * 0
    for row in x:
        h = np.tanh(h + row)
        out.append(h)
    g = x[0] * 0
    for v in reversed(out):
        g = 0.5 * g + v
    return g


def list_zip(x):
    """x: T N"""
    out = [x[t] * 2 for t in range(x.shape[0])]
    s = x[0] * 0
    for a, b in zip(out, x):
        s = s + a * b
    return s, len(out) * s


def tuple_list(x):
    """x: T N"""
    out = []
    h = c = x[0] * 0
    for row in x:
        h, c = h + row, c * 0.5 + row
        out.append((h, c))
    return np.array(out)


def np_mean_list(x):
    """x: T N"""
    losses = []
    for row in x:
        losses.append((row ** 2).mean())
    return np.mean(losses), np.sum(losses)


def concat_axis1(x):
    """x: T B N"""
    out = [x[t] * 2 for t in range(x.shape[0])]
    return np.concatenate(out, axis=1), np.concatenate(out, axis=0), np.vstack(out), np.hstack(out)


def walrus(x):
    """x: T N"""
    h = x[0]
    for row in x:
        h = (z := h * 0.5) + row
    return h, z


def _g_same_line_peels(x):
    h = None
    for row in x:
        h = row if h is None else h * 0.5 + row
    return h


def same_line_peels(x):
    """x: T N"""
    return _g_same_line_peels(x) + _g_same_line_peels(x * 2)


def clip_index(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[max(t - 1, 0)] + x[min(t + 1, x.shape[0] - 1)]
    return y


def step_float(x):
    """x: T N"""
    h = x[0] * 0
    for t in range(x.shape[0]):
        h = h + x[t] * 0.9 ** t / (t + 1) + float(t) + np.sqrt(t)
    return h


def table_of_weights(x):
    """x: T N"""
    w = np.array([0.5, 0.25, 0.125, 1, 2, 3, 4])
    h = x[0] * 0
    for t in range(x.shape[0]):
        h = h * w[t] + x[t]
    return h


def np_arange(x):
    """x: T N"""
    h = x[0] * 0
    for t in np.arange(x.shape[0]):
        h = h * 0.5 + x[t]
    return h


def generator_expression(x):
    """x: T N"""
    return max((row * 2).sum() for row in x), sum(row for row in x), min([r[0] for r in x])


def list_add_after(x):
    """x: T N"""
    out = [x[0]] + [r * 2 for r in x]
    return np.stack(out)


def two_lists(x):
    """x: T N"""
    a, b = [], []
    h = x[0]
    for row in x:
        h = h * 0.5 + row
        a.append(h)
        b.insert(0, h * 2)
    return np.stack(a), np.stack(b, axis=1), np.array(a) + np.array(b)


def conditional_append(x):
    """x: T N"""
    out = []
    for t in range(x.shape[0]):
        if t > 0:
            out.append(x[t] - x[t-1])
    out.append(x[0])
    return np.stack(out)


def out_len(x):
    """x: T N"""
    out = []
    for row in x:
        out.append(row * len(out))
    return np.stack(out)


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


def online_softmax(x):
    """x: T N"""
    m = np.full(x.shape[1], -np.inf, dtype=x.dtype)
    s = np.zeros(x.shape[1], dtype=x.dtype)
    for t in range(x.shape[0]):
        new = np.maximum(m, x[t])
        s = s * np.exp(m - new) + np.exp(x[t] - new)
        m = new
    return m + np.log(s)


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


def out_arg(x):
    """x: T N"""
    h = x[0] * 0
    for row in x:
        np.add(h, row, out=h)
        np.multiply(h, 0.5, out=h)
    return h


def after_modify(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[t] * 2
    y[0] = 5
    for t in range(x.shape[0]):
        y[t] += 1
    return y


SNamedTuple = namedtuple("SNamedTuple", "h c")


def named_tuple(x):
    """x: T N"""
    s = SNamedTuple(x[0], x[0] * 2)
    for row in x:
        s = SNamedTuple(s.c, s.h + row)
    return s.h, s.c


@dataclass
class SDataclassState:
    h: object
    n: int = 0


def dataclass_state(x):
    """x: T N"""
    s = SDataclassState(x[0] * 0)
    for row in x:
        s.h = s.h * 0.5 + row
        s.n += 1
    return s.h / s.n


class SNewInstance:
    def __init__(self, h):
        self.h = h


def new_instance(x):
    """x: T N"""
    s = SNewInstance(x[0] * 0)
    for row in x:
        s = SNewInstance(s.h * 0.5 + row)
    return s.h


class MAugmentedAttr:
    def __init__(self, n):
        self.h = n
        self.k = 0

    def step(self, r):
        self.h = 0.5 * self.h + r
        self.k += 1
        return self.h


def augmented_attr(x):
    """x: T N"""
    m = MAugmentedAttr(x[0] * 0)
    out = [m.step(r) for r in x]
    return np.stack(out), m.h * m.k


def int_div(x):
    """x: T N"""
    k = 7
    h = x[0]
    for row in x:
        h = h + row * k
        k = k // 2
    return h


def float_to_vec(x):
    """x: T N"""
    h = 0.5
    for row in x:
        h = h * row
    return h


def one_to_n(x):
    """x: T N"""
    h = np.zeros((1,), dtype=x.dtype)
    for row in x:
        h = np.tanh(h) + row
    return h


def sum_of_a_state_that_grows(x):
    """x: T N"""
    h = np.ones((1,), dtype=x.dtype)
    for row in x:
        h = h.sum() + row
    return h
