"""Loops by `while` that count; see formulas.py. Each is compared at several inputs and numbers of steps."""

import numpy as np


def running_sum(x):
    """x: T N"""
    i, s = 0, np.zeros_like(x[0])
    while i < x.shape[0]:
        s = s * 0.5 + x[i]
        i += 1
    return s


def counter_after(x):
    """x: T N"""
    i, s = 0, x[0]
    while i < len(x):
        s = s + x[i]
        i = i + 1
    return s / i


def counter_before_its_use(x):
    """x: T N"""
    i, s = -1, x[0] * 0
    while i < len(x) - 1:
        i += 1
        s = 0.9 * s + x[i]
    return s


def downwards(x):
    """x: T N"""
    i, out = len(x) - 1, np.zeros_like(x)
    h = np.zeros_like(x[0])
    while i >= 0:
        h = 0.5 * h + x[i]
        out[i] = h
        i -= 1
    return out


def every_second(x):
    """x: T N"""
    i, s = 0, x[0]
    while i < x.shape[0]:
        s = 0.5 * s + x[i]
        i += 2
    return s


def two_at_a_time(x):
    """x: T N"""
    i, s = 0, x[0] * 0
    while i + 1 <= x.shape[0] and i < x.shape[0]:
        s = 0.5 * s + x[i]
        i += 1
    return s


def mirrored(x):
    """x: T N"""
    i, n, s = 1, len(x), x[0]
    while n > i:
        s, i = s * 0.5 + x[i] - x[i - 1], i + 1
    return s


def nested(x):
    """x: T N"""
    s = x[0] * 0
    i = 0
    while i < x.shape[0]:
        j = 0
        while j < i:
            s = s * 0.9 + x[i] * x[j]
            j += 1
        i += 1
    return s


def until_small(x):
    """x: N"""
    y, steps = np.abs(x) + 1, 0
    while steps < 30 and y.max() > 0.5:
        y = y * 0.5
        steps += 1
    return y


def newton(x):
    """x: N"""
    total = np.abs(x).sum() + 1
    guess, k = total, 0
    while abs(guess * guess - total) > 1e-3 and k < 20:
        guess = 0.5 * (guess + total / guess)
        k += 1
    return guess + x


def first_above(x):
    """x: T"""
    i, total = 0, 0.0
    while i < len(x) and total < 1.0:
        total = total + abs(x[i])
        i += 1
    return total + x * 0


def endless_until_counted(x):
    """x: T N"""
    i, h = 0, x[0]
    while True:
        if i >= len(x):
            break
        h = 0.5 * h + x[i]
        i += 1
    return h


def endless_until_small(x):
    """x: T N"""
    i, h = 0, x[0] * 0
    while True:
        if i == 40 or i >= x.shape[0]:
            break
        h = h * 0.5 + x[i]
        i += 1
    return h


def endless_until_a_value(x):
    """x: T"""
    i, s = 0, 0.0
    while True:
        if i >= x.shape[0] or np.sqrt(x[i]) > 1.0:  # not a number: it goes on
            break
        s = s + x[i]
        i += 1
    return s + x * 0


def break_within(x):
    """x: T"""
    i, s = 0, 0.0
    while i < x.shape[0]:
        if x[i] > 1.0:
            break
        s = s + x[i]
        i += 1
    return s + x * 0


def continue_after_counting(x):
    """x: T"""
    i, s = 0, 0.0
    while i < x.shape[0]:
        v = x[i]
        i += 1
        if v < 0:
            continue
        s = 0.5 * s + v
    return s + x * 0


def counts_by_floats(x):
    """x: N"""
    t, y = 0.0, x
    while t < 2.5:
        y = y + t * x
        t += 1
    return y


def bound_is_a_float(x):
    """x: N"""
    t, y = 0, x
    while t < 2.5:
        y = y + t * x
        t += 1
    return y + t


def no_step(x):
    """x: T N"""
    i, s = 5, x[0]
    while i < 5:
        s = s + x[i]
        i += 1
    return s * i


def the_same_name_again(x):
    """x: T N"""
    i, s = 0, x[0]
    while i < len(x):
        s = 0.5 * s + x[i]
        i += 1
    i = 0
    while i < len(x):
        s = 0.25 * s - x[i]
        i += 1
    return s


def fills(x):
    """x: T N"""
    out = np.empty_like(x)
    i = 0
    while i < x.shape[0]:
        out[i] = x[i] * 2 if i == 0 else out[i - 1] * 0.5 + x[i]
        i += 1
    return out


def appends(x):
    """x: T N"""
    rows, i = [], 0
    while i < len(x):
        rows.append(x[i] * 2)
        i += 1
    return np.stack(rows)


def doubles(x):
    """x: N"""
    width, y = 1, x
    while width < 64:
        y = y + np.sin(y) / width
        width *= 2
    return y


def bound_of_numbers_changes(x):
    """x: N"""
    i, n, y = 0, 8, x
    while i < n:
        y = y * 0.5 + i
        i, n = i + 1, n - 1
    return y


def grows_while_it_is_walked(x):
    """x: N"""
    queue, i, y = [1], 0, x
    while i < len(queue):
        if queue[i] < 8:
            queue.append(2 * queue[i])
            queue.append(3 * queue[i])
        y = y * 0.5 + queue[i]
        i += 1
    return y


def asked_before_the_counter(x):
    """x: N"""
    weights, i, y = [3.0, 2.0, 1.0], 0, x
    while weights.pop() > 0 and i < 2:
        y = y * 0.5 + i
        i += 1
    return y * weights[-1] if weights else y


def counter_of_a_closure(x):
    """x: N"""
    i, y = 0, x

    def next_one():
        nonlocal i
        i += 1
        return i

    while i < 4:
        y = y * 0.5 + next_one()
    return y


def array_made_anew(x):
    """x: T N"""
    i = 0
    while i < x.shape[0]:
        x = x * 0.5 + 1
        i += 1
    return x


def in_a_loop_of_three(x):
    """x: T N"""
    h = x[0] * 0
    for k in range(3):
        i = k
        while i < x.shape[0]:
            h = h * 0.5 + x[i] * (k + 1)
            i += 1
    return h


def grows_in_its_last_step(x):
    """x: N"""
    queue, i, y = [1], 0, x
    while i < len(queue):
        y = y * 0.5 + queue[i]
        if queue[i] < 4:
            queue += [2 * queue[i]]
        i += 1
    return y


def counted_by_a_function_too(x):
    """x: N"""
    i, y = 0, x

    def bump():
        nonlocal i
        i += 1

    while i < 9:
        y = y * 0.5 + i
        bump()
        i += 1
    return y + i


def continues_behind_an_inner_loop(x):
    """x: T N"""
    i, j, y = 0, 0, x[0] * 0
    while i < len(x):
        for _ in range(2):
            pass
        else:
            j += 1
        y = y * 0.5 + x[i]
        i += 1
    return y + j


def asks_a_function_first(x):
    """x: N"""
    count = [0]

    def ask():
        count[0] += 1
        return True

    i, y = 0, x
    while ask() and i < 3:
        y = y * 0.5 + count[0]
        i += 1
    return y * count[0]


def wraps_around(x):
    """x: N"""
    i, n, y = np.uint8(250), 0, x
    while i > 200 and n < 20:
        y = y * 0.5 + 1
        i += np.uint8(1)
        n += 1
    return y + n


def infinite_bound(x):
    """x: N"""
    i, y = 0, x
    while i < np.inf and i < 5:
        y = y * 0.5 + i
        i += 1
    return y


def nothing_to_walk(x):
    """x: N"""
    z, i = None, 0
    while z is not None and i < len(z):
        i += 1
    return x + i


def until_equal(x):
    """x: T N"""
    i, s = 0, x[0] * 0
    while i != len(x):
        s = s * 0.5 + x[i]
        i += 1
    return s


def while_some_are_left(x):
    """x: T N"""
    n, s = len(x), x[0] * 0
    while n:
        n -= 1
        s = s * 0.5 + x[n]
    return s


def within_both_bounds(x):
    """x: T N"""
    i, s = 0, x[0] * 0
    while 0 <= i < x.shape[0]:
        s = s * 0.5 + x[i]
        i += 1
    return s


def the_next_one_exists(x):
    """x: T N"""
    i, s = 0, x[0]
    while i + 1 < len(x):
        s = s * 0.5 + x[i + 1] - x[i]
        i += 1
    return s


def not_yet_at_the_end(x):
    """x: T"""
    i, s = 0, 0.0
    while not (i >= len(x) or s > 2):
        s = s + abs(x[i])
        i += 1
    return x * s


def one_is_true(x):
    """x: T N"""
    i, s = 0, x[0] * 0
    while 1:
        if i == x.shape[0]:
            break
        s = s * 0.5 + x[i]
        i: int = i + 1
    return s


def leaves_in_the_else(x):
    """x: T N"""
    i, s = 0, x[0] * 0
    while True:
        if i < len(x):
            s = s * 0.5 + x[i]
            i += 1
        else:
            break
    return s


def name_of_a_comprehension_too(x):
    """x: T N"""
    i, s = 0, x[0] * 0
    while i < len(x):
        s = s + sum([i * x[0] for i in range(3)]) + x[i]
        i += 1
    return s


def bounded_by_a_value_and_an_extent(x):
    """x: T"""
    most, i, s = np.abs(x).sum(), 0, 0.0
    while i < most and i < len(x):
        s = s + x[i] * i
        i += 1
    return x * s


def pairs(x):
    """x: T"""
    i, j, s = 0, x.shape[0] - 1, x[0] * 0
    while i < x.shape[0] and j >= 0:
        s = s * 0.5 + x[i] * x[j]
        i += 1
        j -= 1
    return x * s
