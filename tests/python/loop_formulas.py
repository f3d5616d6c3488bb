"""Loops of varying length, as users write them; see formulas.py. The number of steps is a dimension T or a parameter."""

import math

import numpy as np


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
