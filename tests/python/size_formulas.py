"""Branches on sizes: what they read and write is there at the sizes that take them."""

import numpy as np


def pairs_and_the_rest(x):
    """x: T N"""
    n = x.shape[0]
    total = np.zeros_like(x[0])
    for i in range(n // 2):
        total += x[2 * i] * x[2 * i + 1]
    rest = 2 * (n // 2)
    if rest < n:
        total += x[rest]
    return total


def behind_the_middle(x):
    """x: T N"""
    n = x.shape[0]
    out = x.copy()
    if n // 2 + 2 < n:
        out[n // 2 + 2] = out[n // 2] * 3
    elif n - 3 >= 0:
        out[n - 3] = 1
    return out * x[n - 1]


def what_is_left_of_long_ones(x):
    """x: T N"""
    n = x.shape[0]
    if n > 2:
        return x[2:].sum(0) - x[: n - 2].max(0)
    return x.sum(0)


def without_ends(x):
    """x: T N"""
    return x[1:-1].mean(0) + (x[-3:] * 2).sum(0) if x.shape[0] >= 3 else x[0] * 0


def smoothed_inside(x):
    """x: T N"""
    out = x.copy()
    if x.shape[0] > 2:
        out[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    return out


def means_of_windows(x):
    """x: T N"""
    n, width = x.shape[0], 3
    out = np.zeros_like(x)
    if n < width:
        return out
    out[: n - width + 1] = (x[: n - 2] + x[1 : n - 1] + x[2:]) / width
    return out


def steps_inside(x):
    """x: T N"""
    n = x.shape[0]
    y = np.zeros_like(x)
    if n > 3:
        for i in range(1, n - 1):
            y[i] = x[i - 1] + x[i + 1]
    else:
        y[:] = x
    return y


def steps_apart_from_ends(x):
    """x: T N"""
    n = x.shape[0]
    s = np.zeros_like(x[0])
    if n > 4:
        for i in range(2, n - 2):
            s = 0.9 * s + x[i] * x[i - 2] - x[i + 2]
    return s


def ends_of_each(x):
    """x: T N"""
    n = x.shape[0]
    if n > 5:
        return np.concatenate([x[:2], x[-3:]]).mean(0)
    elif n > 1:
        return x[: n // 2].mean(0)
    else:
        return x[0]


def cut_to_four(x):
    """x: T N"""
    if x.shape[0] > 4:
        y = x[:4]
    else:
        y = x
    return y.sum(0)


def last_four(x):
    """x: T N"""
    if len(x) > 4:
        x = x[-4:]
    return x.mean(axis=0) * len(x)


def padded_to_four(x):
    """x: T N"""
    n = x.shape[0]
    if n < 4:
        x = np.concatenate([x, np.zeros((4 - n, x.shape[1]), x.dtype)])
    return x.cumsum(0)


def padded_by_pad(x):
    """x: T N"""
    n = x.shape[0]
    if n < 6:
        x = np.pad(x, ((0, 6 - n), (0, 0)))
    return x


def padded_in_front(x):
    """x: T N"""
    n = x.shape[0]
    if n < 6:
        y = np.zeros((6, x.shape[1]), x.dtype)
        y[6 - n:] = x
    else:
        y = x[-6:]
    return y * 3


def even_part(x):
    """x: T N"""
    n = x.shape[0]
    if n % 2:
        x = x[:-1]
    return x.sum(0)


def padded_to_even(x):
    """x: T N"""
    if x.shape[0] % 2 == 1:
        x = np.vstack([x, np.zeros_like(x[:1])])
    return x.reshape(-1, 2, x.shape[1]).sum(1)


def blocks_of_four(x):
    """x: T N"""
    n = x.shape[0]
    rest = n % 4
    if rest != 0:
        x = np.concatenate([x, np.zeros((4 - rest, x.shape[1]), x.dtype)], axis=0)
    return x.reshape(-1, 4, x.shape[1]).max(axis=1)


def three_sides(x):
    """x: T N"""
    n = x.shape[0]
    if n > 6:
        y = x[:6]
    elif n > 3:
        y = x[:3]
    else:
        y = x
    return y.sum(0)


def by_value_too(x):
    """x: T N"""
    s = np.zeros(x.shape[1], x.dtype)
    if x[0, 0] > 0:
        for i in range(x.shape[0]):
            s += x[i]
    else:
        for i in range(x.shape[0]):
            s -= x[i] * 2
    return s


def sum_with_else(x):
    """x: T N"""
    s = np.ones(x.shape[1], x.dtype)
    if x.shape[0] > 2:
        for i in range(1, x.shape[0]):
            s *= x[i] + x[i - 1]
            s[0] += 1
    else:
        s += x[0]
    return s


def rest_of_long(x):
    """x: T N"""
    if x.shape[0] > 4:
        x = x[4:]
    return x


def joined(x):
    """x: T N"""
    n = x.shape[0]
    if n > 3:
        y = np.concatenate([x[:2], x[-2:]])
    else:
        y = np.concatenate([x, x[::-1]])
    return y


def small_of_both(x):
    """x: T N"""
    if x.shape[0] > x.shape[1]:
        g = x.T @ x
    else:
        g = x @ x.T
    return np.trace(g)


def early_rows(x):
    """x: T N"""
    if x.shape[0] < 3:
        return x
    return x[1:-1]


def loop_over_cut(x):
    """x: T N"""
    if x.shape[0] > 4:
        x = x[:4]
    s = np.zeros(x.shape[1], x.dtype)
    for i in range(x.shape[0]):
        s = s * 0.5 + x[i]
    return s


def both_long(x):
    """x: T N"""
    if x.shape[1] >= 4 and x.shape[0] > 2:
        x = x[:2, :4]
    return x.sum()


def in_between(x):
    """x: T N"""
    n = x.shape[0]
    if 2 < n < 6:
        x = x[:2]
    return x * 2


def outside(x):
    """x: T N"""
    n = x.shape[0]
    if n < 3 or n > 6:
        x = np.concatenate([x, x[:1]])
    return x.mean(0)


def three_of(x):
    """x: T N"""
    n, m = x.shape
    if n > 2 and m > 3 and n % 2 == 0:
        x = x[1:]
    elif n > 4 or m > 8 and n > 1:
        x = x[:1]
    return x.sum(0)


def not_both(x):
    """x: T N"""
    n, m = x.shape
    if not (n > 2 and m > 3):
        return x[:1].sum()
    return x[2:].sum()


def halves(x):
    """x: T N"""
    n = x.shape[0]
    if n % 2 == 0:
        return x.reshape(n // 2, 2, -1).sum(1).mean(0)
    return x.mean(0)


def thirds(x):
    """x: T N"""
    n = len(x)
    if n % 3 == 0:
        y = x.reshape(3, n // 3, x.shape[1]).max(1).sum(0)
    else:
        y = x.max(0)
    return y


def thirds_unknown(x):
    """x: T N"""
    n = len(x)
    if n % 3 == 0:
        y = x.reshape(-1, 3, x.shape[1]).max(1).sum(0)
    else:
        y = x.max(0)
    return y


def pairs_of_columns(x):
    """x: T N"""
    m = x.shape[1]
    if x.shape[0] % 2 == 0:
        y = x.T.reshape(m, -1, 2).sum(2)
        return y.sum(1)
    return x.sum(0)


def joined_and_split(x):
    """x: T N"""
    if x.size % 4 == 0:
        return x.reshape(-1, 4).sum(0)
    return x.reshape(-1)[:4] * 0


def flat_in_branch(x):
    """x: T N"""
    if x.shape[0] > 2:
        y = x[:2].reshape(-1)
    else:
        y = x[:1].ravel()
    return y.sum()
