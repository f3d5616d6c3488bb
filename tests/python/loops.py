"""Loops over time of a length that varies, in the form of computations.py."""

import random

import numpy as np


def smoothed(x, a):
    y = np.empty_like(x)
    y[:, 0] = x[:, 0]
    for t in range(1, x.shape[1]):
        y[:, t] = a * x[:, t] + (1 - a) * y[:, t - 1]
    return y


def one_series(x):
    y, s = np.empty_like(x), np.float32(0)
    for t in range(x.shape[0]):
        s = 0.9 * s + x[t]
        y[t] = s
    return y, s


def network(x, h, w, u):
    states = []
    for row in x:
        h = np.tanh(row @ w + h @ u)
        states.append(h)
    return np.stack(states, axis=1), h


def memory(x, wx, wh, b):
    n = wh.shape[0]
    h = np.zeros((x.shape[0], n), dtype=x.dtype)
    c, hs = np.zeros_like(h), np.zeros((x.shape[0], x.shape[1], n), dtype=x.dtype)
    for t in range(x.shape[1]):
        g = x[:, t] @ wx + h @ wh + b
        c = c / (1 + np.exp(-g[:, n : 2 * n])) + np.tanh(g[:, 3 * n :]) / (1 + np.exp(-g[:, :n]))
        h = np.tanh(c) / (1 + np.exp(-g[:, 2 * n : 3 * n]))
        hs[:, t] = h
    return hs


def two_averages(x):
    fast = slow = x[:, 0]
    signal, out = np.zeros_like(fast), np.empty_like(x)
    for t in range(x.shape[1]):
        fast = fast + 2 / 13 * (x[:, t] - fast)
        slow = slow + 2 / 27 * (x[:, t] - slow)
        signal = signal + 0.2 * (fast - slow - signal)
        out[:, t] = fast - slow - signal
    return out


def second_order_filter(x):
    y = np.zeros_like(x)
    y[:, :2] = x[:, :2]
    for t in range(2, x.shape[1]):
        y[:, t] = 0.2 * x[:, t] + 0.3 * x[:, t - 1] + 0.1 * x[:, t - 2] + 0.5 * y[:, t - 1] - 0.2 * y[:, t - 2]
    return y


def spikes(x):
    v, out = np.zeros(x.shape[0], dtype=x.dtype), np.zeros_like(x)
    for t in range(x.shape[1]):
        v = 0.9 * v + x[:, t]
        fired = v > 1
        out[:, t] = fired
        v = np.where(fired, 0, v)
    return out


def state_space(x, dt, a, b, c):
    h, ys = np.zeros((x.shape[0], x.shape[2], a.shape[1]), dtype=x.dtype), []
    for t in range(x.shape[1]):
        step = np.abs(dt[:, t, :, None])
        h = np.exp(-step * np.abs(a)) * h + step * b[:, t, None, :] * x[:, t, :, None]
        ys.append((h * c[:, t, None, :]).sum(-1))
    return np.stack(ys, axis=1)


def advantages(r, v, ended):
    adv, last = np.zeros_like(r), np.zeros(r.shape[1], dtype=r.dtype)
    for t in reversed(range(r.shape[0])):
        alive = 1 - (ended[t] > 1)
        last = r[t] + 0.99 * v[t + 1] * alive - v[t] + 0.94 * alive * last
        adv[t] = last
    return adv, adv + v[:-1]


def forward_algorithm(logp, log_a):
    a = logp[0]
    for t in range(1, logp.shape[0]):
        m = a[:, None] + log_a
        top = m.max(axis=0)
        a = np.log(np.exp(m - top).sum(axis=0)) + top + logp[t]
    return a


def tridiagonal(a, b, c, d):
    n, b = b.shape[1], 3 + np.abs(b)
    cp, dp = np.zeros_like(b), np.zeros_like(b)
    cp[:, 0], dp[:, 0] = c[:, 0] / b[:, 0], d[:, 0] / b[:, 0]
    for i in range(1, n):
        m = b[:, i] - np.tanh(a[:, i]) * cp[:, i - 1]
        cp[:, i] = np.tanh(c[:, i]) / m
        dp[:, i] = (d[:, i] - np.tanh(a[:, i]) * dp[:, i - 1]) / m
    x = np.zeros_like(b)
    x[:, n - 1] = dp[:, n - 1]
    for i in range(n - 2, -1, -1):
        x[:, i] = dp[:, i] - cp[:, i] * x[:, i + 1]
    return x


def cheapest_path(cost):
    best = cost[0]
    for row in cost[1:]:
        side = np.full(1, 1e30, dtype=cost.dtype)
        left, right = np.concatenate([side, best[:-1]]), np.concatenate([best[1:], side])
        best = row + np.minimum(np.minimum(left, right), best)
    return best


def all_pairs(d):
    d = np.abs(d)
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


def sorted_by_exchanges(x, y):
    for t in range(x.shape[0]):
        low, high = np.minimum(x[t], y), np.maximum(x[t], y)
        y = np.where(low.sum() > 0, low, high)
    return y


def horner(x, c):
    y = np.zeros_like(x)
    for k in range(c.shape[0]):
        y = y * x + c[k]
    return y


def online_softmax(q, k, v):
    top = np.full((q.shape[0], 1), -1e30, dtype=q.dtype)
    total, out = np.zeros((q.shape[0], 1), dtype=q.dtype), np.zeros_like(q)
    for j in range(k.shape[0]):
        s = (q * k[j]).sum(axis=1, keepdims=True)
        new = np.maximum(top, s)
        scale, p = np.exp(top - new), np.exp(s - new)
        total, out, top = total * scale + p, out * scale + p * v[j], new
    return out / total


def running_extrema(x):
    low, high, lows, highs = x[:, 0], x[:, 0], [], []
    for t in range(x.shape[1]):
        low, high = np.minimum(low, x[:, t]), np.maximum(high, x[:, t])
        lows.append(low)
        highs.append(high)
    return np.stack(lows, axis=1), np.stack(highs, axis=1)


def before_each_step(x, a):
    h, seen = np.zeros_like(x[0]), []
    for row in x:
        seen.append(h)
        h = a * h + row
    return np.array(seen)


def two_layers(x, w, u):
    h = np.zeros((x.shape[1], w.shape[0]), dtype=x.dtype)
    g, out = np.zeros_like(h), []
    for row in x:
        h = np.tanh(h @ w + row)
        g = np.tanh(g @ u + h @ u)
        out.append(g)
    return np.stack(out)


def each_head(x, w):
    total = np.zeros_like(x)
    for head in range(w.shape[0]):
        for t in range(x.shape[0]):
            total = total + x[t] * w[head]
    return total


def normalised_scores(x, y):
    u, v = np.ones(x.shape[0], dtype=x.dtype), np.ones(x.shape[1], dtype=x.dtype)
    k = np.exp(-np.abs(x))
    for _ in range(y.shape[0]):
        u = 1 / (k @ v)
        v = 1 / (u @ k)
    return u[:, None] * k * v


def counted(x):
    mean, spread, n = np.zeros_like(x[0]), np.zeros_like(x[0]), 0
    for row in x:
        n += 1
        delta = row - mean
        mean = mean + delta / n
        spread = spread + delta * (row - mean)
    return mean, spread


def delay_line(x):
    p = q = r = np.zeros_like(x[0])
    out = []
    for v in x:
        p, q, r = v, p, q
        out.append(r + 0.5 * q)
    return np.stack(out), r


def taking_turns(x):
    a, b, y = x[:, 0], x[:, 0] * 2, np.zeros_like(x)
    for t in range(x.shape[1]):
        y[:, t] = x[:, t] + a
        a, b = b, a
    return y, b


def turning_weights(x):
    k, h = [1.0, 2.0, 3.0], np.zeros_like(x[0])
    for r in x:
        h = h * 0.5 + r * k[0]
        k = k[1:] + k[:1]
    return h


def along_the_last_axis(x):
    h = np.zeros(x.shape[:2], dtype=x.dtype)
    for t in range(x.shape[2]):
        h = 0.5 * h + x[:, :, t]
    return h


def of_the_library(x):
    p, m = np.zeros(x.shape[0], dtype=x.dtype), np.zeros(x.shape[0], dtype=x.dtype)
    y = np.zeros_like(x)
    for t in range(x.shape[1]):
        p = np.sqrt(0.9 * p * p + x[:, t] ** 2) + np.floor(np.log1p(np.abs(m)))
        m = np.where(np.isfinite(x[:, t]), 0.9 * m + np.arctan(p) + np.abs(p) ** 0.7, 0) + np.sin(m) * np.fmod(p, 2)
        y[:, t] = m / (1 - 0.9 ** (t + 1))
    return y


def softmax_of_each(x):
    y = np.zeros_like(x)
    for b in range(x.shape[0]):
        e = np.exp(x[b] - x[b].max())
        y[b] = e / e.sum()
    return y


def heads_one_by_one(q, k, v):
    out = []
    for h in range(q.shape[0]):
        s = q[h] @ k[h].T
        p = np.exp(s - s.max(axis=1, keepdims=True))
        out.append((p / p.sum(axis=1, keepdims=True)) @ v[h])
    return np.concatenate(out, axis=1)


def rows_then_time(x, a):
    y = np.empty_like(x)
    for b in range(x.shape[0]):
        s = np.float32(0)
        for t in range(x.shape[1]):
            s = a[b] * s + x[b, t]
            y[b, t] = s
    return y


def chunks(x, w):
    return np.stack([np.tanh(x[:, 4 * t : 4 * t + 4] @ w) * t for t in range(x.shape[1] // 4)])


def sliding(x):
    y = np.zeros((x.shape[0], x.shape[1] - 4), dtype=x.dtype)
    for t in range(x.shape[1] - 4):
        y[:, t] = x[:, t : t + 5].max(axis=1) - x[:, t + 4]
    return y


def backwards_rows(x, table):
    out = []
    for i in range(x.shape[0] - 1, -1, -1):
        out.append(np.sort(x[i])[::-1] + table[i] / (i + 1))
    return np.stack(out)


def each_point(x, y):
    d = np.zeros((x.shape[0], y.shape[0]), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            d[i, j] = np.sqrt(((x[i] - y[j]) ** 2).sum())
    return d


def drawn_loop(seed):
    """A loop that nobody wrote by hand, as recurrences.drawn_steps, over steps whose number varies."""
    from recurrences import drawn_value

    def steps(x, w, u, b):
        draw = random.Random(seed)
        n = b.shape[0]
        states = [draw.choice([x[0], x[1] * 0.5, np.zeros((x.shape[1], n), dtype=np.float32)])
                  for _ in range(draw.randint(1, 3))]
        backwards, joined, used = draw.random() < 0.3, draw.random() < 0.7, draw.randrange(2)
        rule, made = draw.randrange(10**6), []
        steps = range(x.shape[0])
        for step in reversed(steps) if backwards else steps:
            draw = random.Random(rule)
            known = [*states, x[step], b]
            for weights in [w, u][: draw.randint(1, 2)]:
                product = draw.choice([*states, x[step]]) @ weights
                known += [product[:, :n], product[:, n:]]
            states = [np.tanh(drawn_value(draw, known, 3) + 0.5 * state) for state in states]
            made.append(states[0] @ u if used else states[0] * b)
        draw = random.Random(rule + 1)
        return (np.stack(made, axis=draw.randrange(2)), states[-1]) if joined else (made[-1], *states)

    return steps


def ring_buffer(x):
    held, y = np.zeros((4, x.shape[1]), dtype=x.dtype), np.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[t] - 0.5 * held[t % 4]
        held[t % 4] = x[t] + held[(t + 1) % 4]
    return y, held


def relaxed(a, b):
    x = np.zeros_like(b)
    for _ in range(2):
        for i in range(b.shape[0]):
            x[i] = (b[i] - a[i] @ x + a[i, i] * x[i]) / (8 + np.abs(a[i, i]))
    return x


def factors(a):
    n = a.shape[0]
    a = a @ a.T + n * np.eye(n, dtype=a.dtype)
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j] - factor[i, :j] @ factor[j, :j]
            if i == j:
                factor[i, j] = np.sqrt(rest)
            else:
                factor[i, j] = rest / factor[j, j]
    return factor


def distances_below(x):
    d = np.zeros((x.shape[0], x.shape[0]), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(i):
            d[i, j] = d[j, i] = np.sqrt(np.sum((x[i] - x[j]) ** 2) + 0.1)
    return d


def attention_to_the_past(q, k, v):
    out = np.zeros_like(v)
    for t in range(q.shape[0]):
        scores = k[: t + 1] @ q[t]
        weights = np.exp(scores - scores.max())
        out[t] = weights @ v[: t + 1] / weights.sum()
    return out


def means_around(x):
    y = np.empty_like(x)
    for t in range(x.shape[1]):
        low, high = max(0, t - 2), min(x.shape[1], t + 3)
        y[:, t] = x[:, low:high].sum(axis=1) / (high - low)
    return y


def lagged_products(x):
    n = x.shape[1]
    return np.stack([(x[:, : n - lag] * x[:, lag:]).sum(axis=1) for lag in range(n)], axis=1)


def states_by_branches(x):
    level, count, out = np.float32(0), 0, np.zeros_like(x)
    for t in range(x.shape[0]):
        if x[t] > 0.5 and level < 2:
            level = level + x[t]
            count += 1
        elif t % 3 == 1:
            level = level * 0.5
        if t < x.shape[0] - 1:
            level = level + 0.1 * x[t + 1]
        out[t] = level
    return out, np.float32(1) * count


def written_in_columns(x):
    y = np.zeros((x.shape[0], 3 * x.shape[1]), dtype=x.dtype)
    for t in range(x.shape[1]):
        y[:, 3 * t] = x[:, t]
        y[:, 3 * t + 2] = y[:, 3 * t] * 2
    return y


def compacted(x):
    out, k = np.zeros_like(x), 0
    for row in x:
        if row[0] > 0:
            out[k] = row
            k += 1
    return out, np.float32(1) * k


def visits(x):
    sums = np.zeros((3, 4), dtype=x.dtype)
    for t in range(x.shape[0]):
        kind = int(x[t, 0] > 0) + int(x[t, 0] > 1)
        sums[kind, t % 4] += x[t, 0]
        sums[2 - kind, 0] *= 0.5
    return sums


DRAWN = [f"drawn_loop_{seed}" for seed in (1, 2, 3, 4, 5, 6)]
for _name in DRAWN:
    globals()[_name] = drawn_loop(int(_name.rsplit("_", 1)[1]))

BATCH = ["B=37,T=40", "B=1,T=1", "B=3,T=2"]
COMPUTATIONS = {
    "smoothed": ("x float32[B,T]; a float32[B]", BATCH),
    "one_series": ("x float32[T]", ["T=40", "T=1"]),
    "network": ("x float32[T,B,I]; h float32[B,N]; w float32[I,N]; u float32[N,N]", ["T=7,B=5,I=3,N=19", "T=1,B=1,I=1,N=1"]),
    "memory": ("x float32[B,T,I]; wx float32[I,4*N]; wh float32[N,4*N]; b float32[4*N]", ["B=7,T=5,I=3,N=17", "B=1,T=1,I=1,N=1"]),
    "two_averages": ("x float32[B,T]", BATCH),
    "second_order_filter": ("x float32[B,T]", ["B=37,T=40", "B=1,T=2", "B=3,T=3"]),
    "spikes": ("x float32[B,T]", BATCH),
    "state_space": ("x float32[B,T,D]; dt float32[B,T,D]; a float32[D,N]; b float32[B,T,N]; c float32[B,T,N]", ["B=2,T=9,D=5,N=7", "B=1,T=1,D=1,N=1"]),
    "advantages": ("r float32[T,N]; v float32[T+1,N]; ended float32[T,N]", ["T=20,N=19", "T=1,N=1"]),
    "forward_algorithm": ("logp float32[T,S]; log_a float32[S,S]", ["T=9,S=11", "T=1,S=1"]),
    "tridiagonal": ("a float32[B,T]; b float32[B,T]; c float32[B,T]; d float32[B,T]", BATCH),
    "cheapest_path": ("cost float32[H,W]", ["H=9,W=19", "H=1,W=2"]),
    "all_pairs": ("d float32[N,N]", ["N=13", "N=1"]),
    "sorted_by_exchanges": ("x float32[T,N]; y float32[N]", ["T=9,N=19", "T=1,N=1"]),
    "horner": ("x float32[N]; c float32[K]", ["N=37,K=7", "N=1,K=1"]),
    "online_softmax": ("q float32[M,D]; k float32[N,D]; v float32[N,D]", ["M=5,N=9,D=7", "M=1,N=1,D=1"]),
    "running_extrema": ("x float32[B,T]", BATCH),
    "before_each_step": ("x float32[T,N]; a float32[N]", ["T=9,N=19", "T=1,N=1"]),
    "two_layers": ("x float32[T,B,N]; w float32[N,N]; u float32[N,N]", ["T=6,B=5,N=11", "T=1,B=1,N=1"]),
    "each_head": ("x float32[T,N]; w float32[H,N]", ["T=5,N=19,H=3", "T=1,N=1,H=1"]),
    "normalised_scores": ("x float32[M,N]; y float32[K]", ["M=5,N=7,K=6", "M=1,N=1,K=1"]),
    "delay_line": ("x float32[T,N]", ["T=9,N=19", "T=1,N=1"]),
    "taking_turns": ("x float32[B,T]", BATCH),
    "turning_weights": ("x float32[T,N]", ["T=9,N=19", "T=1,N=1"]),
    "along_the_last_axis": ("x float32[B,K,T]", ["B=5,K=7,T=9", "B=1,K=1,T=1"]),
    "of_the_library": ("x float32[B,T]", BATCH),
    "softmax_of_each": ("x float32[B,N]", ["B=5,N=19", "B=1,N=1"]),
    "heads_one_by_one": ("q float32[H,S,D]; k float32[H,S,D]; v float32[H,S,D]", ["H=3,S=7,D=5", "H=1,S=1,D=1"]),
    "rows_then_time": ("x float32[B,T]; a float32[B]", BATCH),
    "chunks": ("x float32[B,T]; w float32[4,N]", ["B=3,T=22,N=5", "B=1,T=4,N=1"]),
    "sliding": ("x float32[B,T]", ["B=3,T=20", "B=1,T=5"]),
    "backwards_rows": ("x float32[M,N]; table float32[M,N]", ["M=5,N=19", "M=1,N=1"]),
    "each_point": ("x float32[M,D]; y float32[N,D]", ["M=5,N=7,D=3", "M=1,N=1,D=1"]),
    "counted": ("x float32[T,N]", ["T=9,N=19", "T=1,N=1"]),
    "ring_buffer": ("x float32[T,N]", ["T=9,N=19", "T=1,N=1"]),
    "relaxed": ("a float32[N,N]; b float32[N]", ["N=13", "N=1"]),
    "factors": ("a float32[N,N]", ["N=7", "N=1"]),
    "distances_below": ("x float32[T,N]", ["T=7,N=5", "T=1,N=1"]),
    "attention_to_the_past": ("q float32[T,D]; k float32[T,D]; v float32[T,N]", ["T=9,D=5,N=7", "T=1,D=1,N=1"]),
    "means_around": ("x float32[B,T]", BATCH),
    "lagged_products": ("x float32[B,T]", ["B=3,T=20", "B=1,T=1"]),
    "states_by_branches": ("x float32[T]", ["T=40", "T=1"]),
    "written_in_columns": ("x float32[M,T]", ["M=5,T=7", "M=1,T=1"]),
    "compacted": ("x float32[T,N]", ["T=9,N=19", "T=1,N=1"]),
    "visits": ("x float32[T,N]", ["T=20,N=3", "T=1,N=1"]),
    **{name: ("x float32[T,B,N]; w float32[N,2*N]; u float32[N,2*N]; b float32[N]", ["T=6,B=5,N=11", "T=2,B=1,N=1"]) for name in DRAWN},
}
