"""Branches that depend on the values of arrays or on the step of a loop; see formulas.py. Each is compared at several
inputs, so that both sides are taken."""

import numpy as np


def every_other(x):
    """x: T N"""
    h = x[0]
    for t in range(x.shape[0]):
        if t % 2 == 0:
            h = h * 0.5
        h = h + x[t]
    return h


def not_in_the_last(x):
    """x: T N"""
    h = x[0]
    for t in range(x.shape[0]):
        if t < x.shape[0] - 1:
            h = h * 0.5 + x[t + 1]
        h = h + x[t]
    return h


def second_step(x):
    """x: T N"""
    z = x[0]
    for t in range(x.shape[0]):
        if t == 1:
            z = z * 0 + 5
        elif t == 4:
            z = z - x[t]
        else:
            z = z + 0.1 * x[t]
    return z


def by_value(x):
    """x: T N"""
    h = x[0]
    for row in x:
        if row.sum() > 0:
            h = h + row
        else:
            h = 0.5 * h
    return h


def spikes_by_hand(x):
    """x: T"""
    v, out = 0.0, np.zeros_like(x)
    for t in range(len(x)):
        v = 0.9 * v + x[t]
        if v > 1.0:
            out[t] = 1
            v = 0.0
    return out


def hysteresis(x):
    """x: T"""
    state = 0
    out = []
    for v in x:
        if v > 0.5:
            state = 1
        elif v < -0.5:
            state = 0
        out.append(v if state == 1 else -v)
    return np.array(out)


def best_and_counts(x):
    """x: T"""
    k, best = 0, x[0]
    for v in x:
        if v > best and k < 5:
            best = v
            k += 1
    return best, k


def clipped_by_branches(x):
    """x: T"""
    y = np.empty_like(x)
    for t in range(len(x)):
        v = x[t]
        if -1 < v < 1:
            y[t] = v
        elif not v < 0:
            y[t] = 1
        else:
            y[t] = -1
    return y


def sign_of_sum(x):
    """x: M N"""
    if x.sum() > 0:
        y = x * 2
    else:
        y = -x
    return y


def scaled_if_not_zero(x):
    """x: M N"""
    m = np.abs(x).max()
    return x / m if m > 0 else x


def metropolis(x, u):
    """x: T, u: T"""
    s, e, path = 0.0, 0.0, np.zeros_like(x)
    for t in range(len(x)):
        new = s + 0.5 * x[t]
        en = 0.5 * new * new
        if en < e or np.log(np.abs(u[t]) + 1e-6) < e - en:
            s, e = new, en
        path[t] = s
    return path


def controller(x):
    """x: T"""
    i, last, out = 0.0, 0.0, np.empty_like(x)
    for t in range(len(x)):
        e = x[t]
        i = i + e
        if i > 2:
            i = 2
        if i < -2:
            i = -2
        d = e - last if t > 0 else 0.0
        last = e
        out[t] = 0.5 * e + 0.1 * i + 0.2 * d
    return out


def drawn_up(x):
    """x: T"""
    top, run, most = x[0], 0, 0
    for t in range(1, len(x)):
        if x[t] >= top:
            top = x[t]
            run = 0
        else:
            run += 1
            most = max(most, run)
    return top, run, most


def two_lists(x):
    """x: T N"""
    a = []
    for t in range(x.shape[0]):
        if t % 3 == 1:
            a.append(x[t] * 2)
        else:
            a.append(x[t])
    return np.stack(a)


def kept_in_place(x):
    """x: T N"""
    h = x[0] * 0
    for t in range(x.shape[0]):
        if x[t, 0] > 0:
            h += x[t]
            h *= 0.5
        else:
            h -= 1
    return h


def collatz_like(x):
    """x: N"""
    v = np.sum(x)
    for _ in range(5):
        if v > 1:
            v = v / 2
        else:
            v = 3 * v + 1
    return v * x


def trailing_stop(p):
    """p: T"""
    peak, held, pnl = p[0], True, 0.0
    stopped = 0.0
    for t in range(1, len(p)):
        r = p[t] - p[t - 1]
        pnl = pnl + (r if stopped == 0 else 0)
        if p[t] > peak:
            peak = p[t]
        if peak - p[t] > 1.5:
            stopped = 1.0
    return pnl, peak


def conv_edges(x):
    """x: T"""
    y = np.zeros_like(x)
    n = len(x)
    for i in range(n):
        s = x[i]
        if i > 0:
            s += x[i - 1]
        if i < n - 1:
            s += x[i + 1]
        y[i] = s / 3
    return y


def band_of_a_matrix(x):
    """x: T T"""
    y = np.zeros_like(x)
    n = x.shape[0]
    for i in range(n):
        for j in range(n):
            if abs(i - j) <= 1:
                y[i, j] = x[i, j]
    return y


def edit_distance(a, b):
    """a: int64 T, b: int64 M"""
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1), dtype=np.int64)
    for i in range(m + 1):
        d[i, 0] = i
    for j in range(n + 1):
        d[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                d[i, j] = d[i - 1, j - 1]
            else:
                d[i, j] = 1 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[m, n]


def dtw(a, b):
    """a: T, b: M"""
    n, m = len(a), len(b)
    d = np.full((n + 1, m + 1), np.inf, dtype=a.dtype)
    d[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(a[i - 1] - b[j - 1])
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


def stencil_boundary(x):
    """x: M T"""
    y = x.copy()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            up = x[i - 1, j] if i > 0 else x[i, j]
            left = x[i, j - 1] if j > 0 else x[i, j]
            y[i, j] = (x[i, j] + up + left) / 3
    return y


def nan_skip(x):
    """x: T"""
    s, n = 0.0, 0
    for v in x:
        if not np.isnan(v):
            s += v
            n += 1
    return s / n if n > 0 else 0.0


def relu_loop(x):
    """x: M T"""
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                y[i, j] = x[i, j]
    return y


def histogram_loop(x):
    """x: T"""
    h = np.zeros(4, dtype=np.int64)
    for v in x:
        if v < -1: h[0] += 1
        elif v < 0: h[1] += 1
        elif v < 1: h[2] += 1
        else: h[3] += 1
    return h


def argmax_loop(x):
    """x: T"""
    best, where = x[0], 0
    for i in range(len(x)):
        if x[i] > best:
            best, where = x[i], i
    return best, where


def wraps(x):
    """x: T N"""
    s = x[0] * 0
    for i in range(x.shape[0]):
        if x[i, 0] > 0:
            s = s + x[i - 1]
    return s


def alias_in_branch(x):
    """x: T N"""
    h = x[0] * 1
    g = h
    for t in range(x.shape[0]):
        if t % 2 == 0:
            h = h + x[t]
        else:
            g = h
    return h, g


def list_in_list(x):
    """x: T N"""
    c = [[x[0], x[0]], x[0]]
    for t in range(x.shape[0]):
        if x[t, 0] > 0:
            c[0][1] = c[0][1] + x[t]
    return c[0][1]


def outer_list(x):
    """x: M N"""
    c = [x[0], x[1]]
    if x[0, 0] > 0:
        c[1] = c[0] * 2
    return c[1]


def changed_by_a_function(x):
    """x: M N"""
    c = [x[0]]
    def g():
        c[0] = c[0] + 1
    if x[0, 0] > 0:
        g()
    return c[0]


def two_ifs(x):
    """x: T N"""
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        if x[t, 0] > 0:
            y[t] += x[t]
        if x[t, 1] > 0:
            y[t] -= 1
    return y


def nested_for(x):
    """x: T N"""
    s = x[0, 0] * 0
    for t in range(x.shape[0]):
        if x[t, 0] > 0:
            for j in range(x.shape[1]):
                s = s + x[t, j]
    return s


def branches_in_branches(x):
    """x: M N"""
    a, b = x[0, 0], x[0, 1]
    if a > 0:
        if b > 0: r = 1.0
        else: r = 2.0
    elif a > -1 and b > 0:
        r = a
    else:
        r = b * a
    return r * x


def dict_branch(x):
    """x: T N"""
    s = {"h": x[0] * 0, "n": 0}
    for row in x:
        if row[0] > 0:
            s["h"] = s["h"] + row
            s["n"] += 1
    return s["h"], s["n"]


def int_kind(x):
    """x: M N"""
    n = 3
    if x[0, 0] > 0:
        n = 4.5
    return x * n


def attribute_in_branch(x):
    """x: T N"""
    class A: pass
    a = A()
    a.h = x[0] * 0
    for row in x:
        if row[0] > 0:
            a.h = a.h + row
    return a.h


def last_one(x):
    """x: T"""
    k = -1
    for i in range(len(x)):
        if x[i] > 0:
            k = i
    return k


def undefined_else(x):
    """x: M N"""
    if x[0, 0] > 0:
        z = x * 2
        y = z + 1
    else:
        y = x
    return y


def returned_early(x):
    """x: M N"""
    if x.sum() > 0:
        return x
    return -x


def continued(x):
    """x: T N"""
    h = x[0] * 0
    for row in x:
        if row[0] < 0:
            continue
        h = h + row
    return h


def several_returns(x):
    """x: M N"""
    s = x.sum()
    if s > 3:
        return x
    if s > 0:
        y = x * 2
    else:
        if s < -3:
            return -x
        y = x + 1
    return y * 3


def choice_of_three(x):
    """x: M N"""
    a = x[0, 0]
    return x * (1 if a > 0.5 else 2 if a > -0.5 else 3)


def tuple_of_a_branch(x):
    """x: M N"""
    low, high = (x[0], x[1]) if x[0, 0] < x[1, 0] else (x[1], x[0])
    return low - high * 2


def quickselect_of_three(x):
    """x: M N"""
    a, b, c = x[0, 0], x[0, 1], x[0, 2]
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return np.stack([a, b, c])


def line_search(x):
    """x: N"""
    step, best, at = 1.0, np.sum(x**2), x
    for _ in range(6):
        tried = x - step * 2 * x
        value = np.sum(tried**2)
        if value < best:
            best, at = value, tried
        step *= 0.5
    return at, best


def odd_and_even_rows(x):
    """x: T N"""
    out = np.empty_like(x)
    for t in range(x.shape[0]):
        if t % 2:
            out[t] = x[t] * 2
        else:
            out[t] = -x[t]
    return out


def first_that_is_large(x):
    """x: T"""
    found = -1
    for i, v in enumerate(x):
        if found < 0 and v > 0.5:
            found = i
    return found


def kept_rows(x):
    """x: T N"""
    total, count = np.zeros_like(x[0]), 0
    for row in x:
        if not np.any(row > 2) and (row[0] > -1 or row[1] > 0):
            total += row
            count += 1
    return total / max(count, 1)
