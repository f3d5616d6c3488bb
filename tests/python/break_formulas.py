"""Loops that end where a condition holds; see fork_formulas.py."""

import numpy as np


def newton_until_small(x):
    """x: N"""
    y = np.ones_like(x)
    for _ in range(20):
        new = 0.5 * (y + np.abs(x) / y)
        if np.max(np.abs(new - y)) < 1e-3:
            break
        y = new
    return y


def first_above(x):
    """x: T"""
    k = 0
    for i in range(len(x)):
        if x[i] > 0.5:
            k = i
            break
    return k


def until_negative(x):
    """x: T N"""
    s = x[0] * 0
    for row in x:
        if row[0] < 0:
            break
        s = s + row
    return s


def jacobi_until_small(a, b):
    """a: N N, b: N"""
    d = np.abs(np.diag(a)) + 10
    r = a - np.diag(np.diag(a))
    x = np.zeros_like(b)
    for it in range(30):
        new = (b - r @ x) / d
        err = np.sqrt(np.sum((new - x)**2))
        x = new
        if err < 1e-4:
            break
    return x


def concrete_break(x):
    """x: M N"""
    for i in range(10):
        if i == 3:
            break
        x = x + i
    return x * i


def written_until(x):
    """x: T"""
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 1:
            break
        y[i] = x[i] * 2
    return y


def flag_of_a_loop(x):
    """x: T"""
    armed = True
    s = 0.0
    for v in x:
        if armed and v > 0:
            s = s + v
            armed = False
        elif v < 0:
            armed = True
    return s


def nested_break(x):
    """x: T N"""
    out = np.zeros_like(x[:, 0])
    for t in range(x.shape[0]):
        s = x[t, 0] * 0
        for j in range(x.shape[1]):
            if x[t, j] > 1:
                break
            s = s + x[t, j]
        out[t] = s
    return out


def bisection(x):
    """x: N"""
    lo, hi = -4.0, 4.0
    for _ in range(40):
        mid = (lo + hi) / 2
        f = np.sum(np.tanh(x - mid))
        if np.abs(f) < 1e-3:
            break
        if f > 0:
            lo = mid
        else:
            hi = mid
    return mid


def only_the_second_step(x):
    """x: T N"""
    z = x[0]
    for t in range(x.shape[0]):
        if t == 1:
            z = z * 0 + 5
    return z


def break_in_a_first_step(x):
    """x: T N"""
    h = x[0]
    for t in range(x.shape[0]):
        h = h * 2
        if t == 2:
            break
    return h


def swapped_elements(x):
    """x: T"""
    y = x.copy()
    for i in range(len(x) // 2):
        j = len(x) - 1 - i
        if y[i] > y[j]:
            y[i], y[j] = y[j], y[i]
    return y


def counted_values(x):
    """x: int64 T"""
    counts = np.zeros(8, dtype=np.int64)
    for v in x:
        counts[v % 8] += 1
    return counts


def kept_in_front(x):
    """x: T"""
    out, k = np.zeros_like(x), 0
    for v in x:
        if v > 0:
            out[k] = v
            k += 1
    return out, k


def merged_in_order(a, b):
    """a: T, b: M"""
    a, b = np.sort(a), np.sort(b)
    i = j = 0
    out = np.zeros(len(a) + len(b), dtype=a.dtype)
    for k in range(len(out)):
        if i < len(a) and (j >= len(b) or a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


def local_maxima(x):
    """x: T"""
    count = 0
    for t in range(1, len(x) - 1):
        if x[t - 1] < x[t] > x[t + 1]:
            count += 1
    return count


def insertion_sort(x):
    """x: T"""
    y = x.copy()
    for i in range(1, len(y)):
        held = y[i]
        place = i
        for j in range(i - 1, -1, -1):
            if y[j] > held:
                y[j + 1] = y[j]
                place = j
        y[place] = held
    return y


def inside_of_an_image(x):
    """x: M T"""
    y = np.zeros_like(x)
    m, n = x.shape
    for i in range(m):
        for j in range(n):
            for a in (-1, 0, 1):
                for b in (-1, 0, 1):
                    if 0 <= i + a < m and 0 <= j + b < n:
                        y[i, j] += x[i + a, j + b]
    return y


def checked_first(x):
    """x: M N"""
    if x[0, 0] > 100:
        raise ValueError("too large")
    found = x[0, 0] > 0 or x[0, 1] > 0
    return x * int(found) + int(x[0, 0] > 0)


def not_itself(x):
    """x: T"""
    s = x[0] * 0
    for i in range(len(x)):
        for j in range(len(x)):
            if j != i:
                s += x[j] * (i + 1)
    return s


def scalars_and_arrays(x):
    """x: M N"""
    kinds = [np.isscalar(x[0, 0]), isinstance(x[0], np.ndarray), isinstance(x[0, 0], np.ndarray),
             isinstance(x[0, 0], np.floating), isinstance(x[0, 0], float), isinstance(x, np.ndarray)]
    return x * sum(2**k for k, kind in enumerate(kinds) if kind)


def by_size(x):
    """x: M N"""
    if x.shape[1] > 3:
        y = x * 2
    else:
        y = -x
    return y


def welford(x):
    """x: T"""
    n, mean, m2 = 0, 0.0, 0.0
    for v in x:
        n += 1
        d = v - mean
        mean += d / n
        m2 += d * (v - mean)
    if n > 1:
        var = m2 / (n - 1)
    else:
        var = 0.0
    return mean, var


def else_continue(x):
    """x: T N"""
    h = x[0] * 0
    for row in x:
        if row[0] > 0:
            h = h + 1
        else:
            continue
        h = h * 2
    return h


def left_early_from_a_list(x):
    """x: N"""
    y = np.abs(x) + 1
    for factor in [0.9, 0.8, 0.7, 0.6, 0.5] * 8:
        if y.max() <= 0.5:
            break
        y = y * factor
    return y


def loop_that_breaks_in_a_branch(x):
    """x: T N"""
    h = x[0]
    if x.sum() > 0:
        for row in x:
            if row.sum() < 0:
                break
            h = h + row
    return h


def both_loops_break(x):
    """x: T N"""
    s = x[0, 0] * 0
    for i in range(x.shape[0]):
        if x[i, 0] > 1.5:
            break
        for j in range(x.shape[1]):
            if x[i, j] > 1:
                break
            s = s + x[i, j]
    return s


def until_a_large_one_without_small_ones(x):
    """x: T N"""
    total = np.zeros_like(x[0])
    for row in x:
        if row.max() > 2:
            break
        elif row.min() < -1.5:
            continue
        else:
            total += row
        total *= 0.5
    return total


def best_of_those_before(x):
    """x: T N"""
    out = np.zeros(x.shape[1], x.dtype)
    for j in range(x.shape[1]):
        best = 0.0
        for i in range(x.shape[0]):
            if x[i, j] < 0:
                continue
            if x[i, j] > 1.5:
                break
            best = max(best, x[i, j])
        out[j] = best
    return out


def leaves_from_within_a_branch(x):
    """x: T N"""
    total, seen = 0.0, 0
    for t in range(x.shape[0]):
        if x[t, 0] > 0:
            if x[t, 1] > 1:
                break
            if x[t, 1] < -1:
                seen += 1
                continue
            total += x[t, 1]
        else:
            total -= x[t, 0]
        seen += 2
    return total + np.zeros(2, x.dtype), np.full(1, seen)


def each_way_out(x):
    """x: T N"""
    level = x[0, 0]
    for t in range(1, x.shape[0]):
        if x[t, 0] > 1:
            level = level + 1
            break
        elif x[t, 0] > 0.5:
            if level > 1:
                continue
            level = level * 2
        elif x[t, 0] < -1:
            level = 0 * level
            break
        level = level + x[t, 1]
    return level + x[:, 0]


def else_of_a_loop_that_breaks(x):
    """x: T N"""
    place = 0 * np.arange(x.shape[1])
    for j in range(x.shape[1]):
        found = -1
        for i in range(x.shape[0]):
            if x[i, j] > 1:
                found = i
                break
        else:
            found = x.shape[0] + 5
        place[j] = found
    return place


def else_that_counts(x):
    """x: T N"""
    quiet, total = 0, x[0, 0] * 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 1.5:
                total = total + x[i, j]
                break
            if x[i, j] < -3:
                continue
        else:
            quiet += 1
            total = total - 1
    return total + np.zeros(2, x.dtype), np.full(1, quiet)


def breaks_after_a_row(x):
    """x: T N"""
    total = np.zeros_like(x[0])
    for row in x:
        for v in row:
            if v > 1.5:
                total += row
                break
    return total


def adds_or_takes_a_row(x):
    """x: T N"""
    total = np.zeros_like(x[0])
    for row in x:
        for v in row:
            if v > 1.5:
                total = total + row
                break
        else:
            total = total - row
    return total


def any_above(x):
    """x: T N"""
    return np.array([any(v > 1 for v in x[:, 0]), all(v > -2 for v in x[:, 1])])


def sum_of_some(x):
    """x: T"""
    large, small = sum(v for v in x if v > 0), sum([v * v for v in x if v > 0 and v < 1])
    return np.array([large, sum(1 for v in x if v < 0), small], x.dtype)


def any_of_some(x):
    """x: T"""
    return np.array([any(v > 1 for v in x if v != 0), all(v > 0.5 for v in x if v > 0)])


def branch_on_any(x):
    """x: T N"""
    y = x.copy()
    for i in range(x.shape[0]):
        if any(x[i, j] > 1.5 for j in range(x.shape[1])):
            y[i] = 0
        elif all(x[i, j] < 1 for j in range(3)):
            y[i] *= 2
    return y
