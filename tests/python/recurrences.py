"""Loops over time as people write them in NumPy, in the form of computations.py: what the C++ playbook makes one loop of."""

import random

import numpy as np


def network_of_32(x, w, b):
    state, states = np.zeros((x.shape[1], 32), dtype=np.float32), []
    for step in range(6):
        state = np.tanh(x[step] + state @ w + b)
        states.append(state)
    return np.stack(states, axis=1)


def names_of_loops(i, j, first, v):
    """Arguments and dimensions called as what a kernel might define."""
    begin, states = first, []
    for row in range(5):
        begin = np.tanh(i[row] + begin @ j) * v
        states.append(begin)
    return np.stack(states), begin


def memory_of_16(x, h, c, w):
    for step in range(5):
        i, f, g, o = np.split(x[step] + h @ w.T, 4, axis=1)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o)) + 0.5 * h
    return h, c


def backwards_network(x, first, wx, wh):
    state, states = first, []
    for step in reversed(range(5)):
        state = np.maximum(x[:, step] @ wx.T + state @ wh.T, 0) * 0.5
        states.insert(0, state)
    return np.stack(states), state


def long_short_memory(x, h, c, wx, wh, b):
    for step in range(5):
        gates = x[step] @ wx + h @ wh + b
        i, f, g, o = np.split(gates, 4, axis=1)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
    return h, c


def gated_unit(x, h, wx, wh):
    n, states = h.shape[1], []
    for step in range(4):
        a, b = x[:, step] @ wx, h @ wh
        r = 1 / (1 + np.exp(-(a[:, :n] + b[:, :n])))
        z = 1 / (1 + np.exp(-(a[:, n : 2 * n] + b[:, n : 2 * n])))
        h = (1 - z) * np.tanh(a[:, 2 * n :] + r * b[:, 2 * n :]) + z * h
        states.append(h)
    return np.concatenate(states, axis=1)


def stacked_networks(x, lower, upper, out):
    h = np.zeros((x.shape[1], lower.shape[0]), dtype=np.float32)
    g = np.zeros_like(h)
    for step in range(5):
        h = np.tanh(h @ lower + x[step])
        g = np.tanh(g @ upper + h @ upper)
    return g @ out


def one_row_network(x, w, h):
    for step in range(6):
        h = np.tanh(w @ h + x[step])
    return h


def linear_recurrence(a, b):
    state, states = b[0], [b[0]]
    for step in range(1, 8):
        state = a[step] * state + b[step]
        states.append(state)
    return np.stack(states)


def filter_of_rows(x, a):
    y, h = np.empty_like(x), np.zeros(x.shape[0], dtype=x.dtype)
    for t in range(12):
        h = a * h + x[:, t]
        y[:, t] = h
    return y


def filter_in_place(x, a):
    y = x.copy()
    for t in range(1, 12):
        y[:, t] += np.tanh(y[:, t - 1]) * a
    return y


def filter_of_channels(x, a):
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    for t in range(1, 13):
        y[:, t] = a * y[:, t - 1] + (1 - a) * x[:, t]
    return y


def discounted(r, d):
    y, g = np.zeros_like(r), np.zeros(r.shape[0], dtype=r.dtype)
    for t in reversed(range(12)):
        g = r[:, t] + 0.9 * g * (d[:, t] < 1)
        y[:, t] = g
    return y


def gains(z):
    x, p, y = np.zeros(z.shape[0], dtype=z.dtype), np.ones(z.shape[0], dtype=z.dtype), np.zeros_like(z)
    for t in range(13):
        p = p + 0.01
        k = p / (p + 0.1)
        x = x + k * (z[:, t] - x)
        p = (1 - k) * p
        y[:, t] = x
    return y


def two_steps_back(x, a):
    y = x.copy()
    for t in range(2, 12):
        y[:, t] = a * y[:, t - 1] - 0.2 * y[:, t - 2] + x[:, t]
    return y


def every_other_step(x, w):
    state = x[0]
    for step in range(2, 12, 2):
        state = np.tanh(state @ w) + x[step]
    return state


def rotated_states(x, w):
    a, b, states = x[0], x[1], []
    for step in range(5):
        a, b = np.tanh(b @ w) + x[step], np.concatenate([a[:, 1:], a[:, :1]], axis=1) * 0.5
        states.append(a + b)
    return np.stack(states)


def second_order(x):
    a, b = x[0], x[1]
    for step in range(2, 10):
        a, b = b, 0.5 * a + 0.25 * b + x[step]
    return b


def scanned_then_used(x, wx, wh, w):
    state = np.zeros((x.shape[1], wh.shape[0]), dtype=np.float32)
    outputs = []
    for step in range(5):
        state = np.tanh(x[step] @ wx + state @ wh)
        outputs.append(state @ w)
    return np.stack(outputs), state.sum()


def drawn_value(draw, known, depth):
    """Of what is known, by a formula that nobody wrote by hand."""
    kind = draw.randrange(8) if depth else 0
    a = draw.choice(known)
    if kind < 2:
        return a
    b = drawn_value(draw, known, depth - 1)
    if kind == 2:
        return a + b
    if kind == 3:
        return a * b
    if kind == 4:
        return np.tanh(b)
    if kind == 5:
        return np.maximum(a, b)
    return 1 / (1 + np.exp(-b)) * a


def drawn_steps(seed):
    """A loop over steps that nobody wrote by hand: one to three states, products, gates, other values, either direction."""

    def steps(x, w, u, b):
        draw = random.Random(seed)
        n = b.shape[0]
        states = [draw.choice([x[0], x[1] * 0.5, np.zeros((x.shape[1], n), dtype=np.float32)])
                  for _ in range(draw.randint(1, 3))]
        order, joined, used = list(range(6)), draw.random() < 0.7, draw.randrange(2)
        order = order[::-1] if draw.random() < 0.3 else order
        rule, made = draw.randrange(10**6), []
        for step in order:
            draw = random.Random(rule)
            known = [*states, x[step], b]
            for weights in [w, u][: draw.randint(1, 2)]:
                product = draw.choice(states + [x[step]]) @ weights
                known += [product[:, :n], product[:, n:]]
            states = [np.tanh(drawn_value(draw, known, 3) + 0.5 * state) for state in states]
            made.append(states[0] @ u if used else states[0] * b)
        if joined:
            return np.stack(made, axis=draw.randrange(2)), states[-1]
        return made[-1], made[2]

    return steps


DRAWN = [f"drawn_steps_{seed}" for seed in (1, 2, 3, 4, 5, 8, 25)]
for _name in DRAWN:
    globals()[_name] = drawn_steps(int(_name.rsplit("_", 1)[1]))

COMPUTATIONS = {
    "network_of_32": ("x float32[6,B,32]; w float32[32,32]; b float32[32]", ["B=11", "B=1"]),
    "names_of_loops": ("i float32[5,n,k]; j float32[k,k]; first float32[n,k]; v float32[k]", ["n=5,k=9", "n=1,k=1"]),
    "memory_of_16": ("x float32[5,B,64]; h float32[B,16]; c float32[B,16]; w float32[64,16]", ["B=11", "B=1"]),
    "backwards_network": ("x float32[B,5,I]; first float32[B,N]; wx float32[N,I]; wh float32[N,N]", ["B=11,I=3,N=7", "B=1,I=1,N=1"]),
    "long_short_memory": ("x float32[5,B,I]; h float32[B,N]; c float32[B,N]; wx float32[I,4*N]; wh float32[N,4*N]; b float32[4*N]", ["B=7,I=3,N=17", "B=1,I=1,N=1"]),
    "gated_unit": ("x float32[B,4,I]; h float32[B,N]; wx float32[I,3*N]; wh float32[N,3*N]", ["B=7,I=3,N=17", "B=1,I=1,N=1"]),
    "stacked_networks": ("x float32[5,B,N]; lower float32[N,N]; upper float32[N,N]; out float32[N,K]", ["B=6,N=11,K=3", "B=1,N=1,K=1"]),
    "one_row_network": ("x float32[6,N]; w float32[N,N]; h float32[N]", ["N=23", "N=1"]),
    "linear_recurrence": ("a float32[8,B,N]; b float32[8,B,N]", ["B=3,N=37", "B=1,N=1"]),
    "filter_of_rows": ("x float32[B,12]; a float32[B]", ["B=37", "B=1"]),
    "filter_in_place": ("x float32[B,12]; a float32[B]", ["B=37", "B=1"]),
    "filter_of_channels": ("x float32[B,13,N]; a float32[N]", ["B=5,N=19", "B=1,N=1"]),
    "discounted": ("r float32[B,12]; d float32[B,12]", ["B=37", "B=1"]),
    "gains": ("z float32[B,13]", ["B=37", "B=1"]),
    "two_steps_back": ("x float32[B,12]; a float32[B]", ["B=37", "B=1"]),
    "every_other_step": ("x float32[12,B,N]; w float32[N,N]", ["B=5,N=9", "B=1,N=1"]),
    "rotated_states": ("x float32[5,B,N]; w float32[N,N]", ["B=5,N=9", "B=2,N=2"]),
    "second_order": ("x float32[10,N]", ["N=37", "N=1"]),
    "scanned_then_used": ("x float32[5,B,I]; wx float32[I,N]; wh float32[N,N]; w float32[N,K]", ["B=5,I=3,N=9,K=2", "B=1,I=1,N=1,K=1"]),
    **{name: ("x float32[6,B,N]; w float32[N,2*N]; u float32[N,2*N]; b float32[N]", ["B=5,N=11", "B=1,N=1"]) for name in DRAWN},
}
