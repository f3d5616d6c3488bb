"""Loops of varying length, as users write them; see formulas.py.

The number of steps is a dimension T or a parameter. More: loop_places.py, loop_lists.py.
"""

import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

# The least T for formulas that begin later, or that look further ahead.
FEWEST = {"local_maxima": 2, "smooth_in_place": 2, "reads_the_second": 2, "biquad": 2, "moving_average": 3,
          "in_a_loop_of_three": 2}


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, h, c, wx, wh, b):
    """x: T B K, h: B M, c: B M, wx: K 4*M, wh: M 4*M, b: 4*M"""
    for step in x:
        i, f, g, o = np.split(step @ wx + h @ wh + b, 4, axis=1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
    return h, c


def momentum(g, w):
    """g: T N, w: N"""
    v = 0.0
    for grad in g:
        v = 0.9 * v + grad
        w = w - 0.1 * v
    return w, v


def viterbi(log_a, log_b, start):
    """log_a: M M, log_b: T M, start: M"""
    score = start + log_b[0]
    for t in range(1, log_b.shape[0]):
        score = np.max(score[:, None] + log_a, axis=0) + log_b[t]
    return score.max()


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


def zipped(a, b, h):
    """a: T N, b: T N, h: N"""
    for p, q in zip(a, b):
        h = p * h + q
    return h


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


def _update(state, row):
    state *= 0.5
    state += row


def in_place(x):
    """x: T N"""
    state = np.zeros_like(x[0])
    for row in x:
        _update(state, row)
    return state


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


class Cell:
    def __init__(self, state, w):
        self.state, self.w = state, w

    def __call__(self, row):
        self.state = np.tanh(self.state * self.w + row)
        return self.state * 2


def cells(x, w):
    """x: T N, w: N"""
    cell = Cell(np.zeros_like(w), w)
    for row in x:
        y = cell(row)
    return y, cell.state


def pairs(x):
    """x: T N"""
    carry = (np.zeros_like(x[0]), np.ones_like(x[0]))
    for row in x:
        a, b = carry
        carry = (0.5 * a + row, b * 0.9 + a)
    return carry


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


def walrus(x):
    """x: T N"""
    h = x[0]
    for row in x:
        h = (z := h * 0.5) + row
    return h, z


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


def online_softmax(x):
    """x: T N"""
    m = np.full(x.shape[1], -np.inf, dtype=x.dtype)
    s = np.zeros(x.shape[1], dtype=x.dtype)
    for t in range(x.shape[0]):
        new = np.maximum(m, x[t])
        s = s * np.exp(m - new) + np.exp(x[t] - new)
        m = new
    return m + np.log(s)


def out_arg(x):
    """x: T N"""
    h = x[0] * 0
    for row in x:
        np.add(h, row, out=h)
        np.multiply(h, 0.5, out=h)
    return h


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
