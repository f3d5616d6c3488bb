"""Loops that return; see formulas.py. Each is compared at several inputs and numbers of steps."""

import numpy as np


def first_above(x):
    """x: T"""
    for i in range(len(x)):
        if x[i] > 0.5:
            return x[i] * 2 + x * 0
    return x * 0 - 1


def place_of_the_first(x):
    """x: T"""
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            return i
    return -1


def a_row(x):
    """x: T N"""
    for row in x:
        if row.sum() > 1:
            return row * 2
    return x[0] * 0


def rest_is_computed(x):
    """x: T N"""
    h = x[0] * 0
    for row in x:
        h = 0.5 * h + row
        if h.sum() > 3:
            return h
    h = h * 2
    return h - 1


def two_returns(x):
    """x: T"""
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1.5:
            return s + x * 0
        s = s + x[i]
        if s < -2:
            return x * 0 - s
    return s * x


def always_at_the_end_of_a_branch(x):
    """x: T"""
    for i in range(len(x)):
        if x[i] > 0:
            s = x[i] + 1
            s = s * s
            return s + x * 0
        elif x[i] < -1:
            return x - x[i]
    return x


def of_an_inner_loop(x):
    """x: T N"""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 1:
                return x[i, j] + i
    return x[0, 0] * 0.0


def a_pair(x):
    """x: T N"""
    for row in x:
        if row.max() > 1:
            return row, row.max()
    return x[0], x[0, 0]


def of_a_helper(x):
    """x: T N"""

    def first_positive(values):
        for v in values:
            if v > 0:
                return v
        return values[0] * 0

    return x * first_positive(x[:, 0])


def by_while(x):
    """x: T"""
    i = 0
    while i < len(x):
        if x[i] > 0.5:
            return x * i
        i += 1
    return x + i


def converges(x):
    """x: N"""
    y = np.abs(x) + 1
    for _ in range(50):
        new = 0.5 * (y + 2 / y)
        if np.abs(new - y).max() < 1e-3:
            return new
        y = new
    return y


def found_in_a_table(x):
    """x: N"""

    def factor(name):
        for key, value in [("a", 1.5), ("b", None), ("c", 3.0)]:
            if key == name:
                return value
        return "none"

    return x * factor("c") + (0 if factor("b") is None else 5) + len(factor("d"))


def within_a_branch(x):
    """x: T"""
    if x[0] > 0:
        for v in x:
            if v < 0:
                return v + x
        return x * 2
    return x * 3


def the_row_above(x):
    """x: T N"""
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            return x[i]
    return x[0]


def nothing_follows(x):
    """x: N"""
    for k in range(4):
        x = x * 0.5 + k
        if k == 2:
            return x


def in_order_of_a_list(x):
    """x: N"""
    for scale in [0.5, 0.25, 0.125]:
        y = x * scale
        if np.abs(y).max() < 1:
            return y
    return x * 0
