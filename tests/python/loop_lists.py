"""Loops of varying length that make lists, as users write them; see loop_formulas.py."""

import numpy as np


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn(x, h, w, u):
    """x: T B K, h: B M, w: K M, u: M M"""
    out = []
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ w + h @ u)
        out.append(h)
    return np.stack(out), h


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


def selective_scan(x, dt, a, b, c):
    """x: B T M, dt: B T M, a: M N, b: B T N, c: B T N"""
    h = np.zeros((x.shape[0], x.shape[2], a.shape[1]), dtype=x.dtype)
    ys = []
    for t in range(x.shape[1]):
        da = np.exp(-np.abs(dt[:, t, :, None]) * np.abs(a))
        h = da * h + dt[:, t, :, None] * b[:, t, None, :] * x[:, t, :, None]
        ys.append((h * c[:, t, None, :]).sum(-1))
    return np.stack(ys, axis=1)


def interpolated(a, b, n):
    """a: N, b: N; n=5"""
    return np.stack([a + (b - a) * (i / n) for i in range(n)])


def comprehension(x, w):
    """x: B T K, w: K M"""
    return np.stack([np.tanh(x[:, t] @ w) for t in range(x.shape[1])], axis=1)


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


def named_states(x):
    """x: T N"""
    states = {"h": np.zeros_like(x[0]), "n": 0}
    log = {"h": []}
    for row in x:
        states["n"] += 1
        states["h"] = 0.5 * states["h"] + row / states["n"]
        log["h"].append(states["h"])
    return states["h"], np.array(log["h"])


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


def sum_of_steps(x, w):
    """x: T N, w: N"""
    return sum(row * w for row in x)


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


def _g_same_line_peels(x):
    h = None
    for row in x:
        h = row if h is None else h * 0.5 + row
    return h


def same_line_peels(x):
    """x: T N"""
    return _g_same_line_peels(x) + _g_same_line_peels(x * 2)


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
