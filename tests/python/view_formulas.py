"""Arrays that are changed through views of them, and views that are read after that."""

import numpy as np


def row_name(x):
    """x: T N"""
    y = x.copy()
    for i in range(y.shape[0]):
        row = y[i]
        row -= row.mean()
    return y


def for_row(x):
    """x: T N"""
    y = x.copy()
    for row in y:
        row -= row.max()
        row /= np.abs(row).sum() + 1
    return y


def out_view(x):
    """x: T N"""
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        np.multiply(x[i], 2, out=y[i])
    return y


def out_slice(x):
    """x: T N"""
    y = np.zeros((x.shape[0], x.shape[1] + 2), x.dtype)
    np.add(x, 1, out=y[:, 1:-1])
    return y


def ravel_set(x):
    """x: T N"""
    y = x.copy()
    y.ravel()[0] = 5
    return y


def t_set(x):
    """x: T N"""
    y = x.copy()
    y.T[0] = 1
    return y


def t_add(x, v):
    """x: T N, v: T"""
    y = x.copy()
    y.T[:] += v
    return y


def t_iadd(x, v):
    """x: T N, v: T"""
    y = x.copy()
    t = y.T
    t += v
    return y


def reshape_set(x):
    """x: T N"""
    y = np.zeros((x.shape[0] * x.shape[1],), x.dtype)
    y.reshape(x.shape)[:] = x * 2
    return y


def view_name(x):
    """x: T N"""
    y = x.copy()
    inner = y[1:, 1:]
    inner += x[:-1, :-1]
    return y


def view_set(x):
    """x: T N"""
    y = x.copy()
    inner = y[1:, 1:]
    inner[:] = x[:-1, :-1]
    return y


def view_read_after(x):
    """x: T+2 N"""
    y = x.copy()
    inner = y[1:, 1:]
    y[2:] = 0
    return inner


def two_views(x):
    """x: T N"""
    y = x.copy()
    a = y[:, 0]
    b = y[0]
    a += 1
    b *= 2
    return y


def view_clip(x):
    """x: T N"""
    y = x.copy()
    y[:, 1:].clip(0, 1, out=y[:, 1:])
    return y


def split_views(x):
    """x: T 6"""
    y = x.copy()
    a, b = np.split(y, 2, axis=1)
    a += b
    return y


def newaxis_view(x, v):
    """x: T N, v: N"""
    y = x.copy()
    y[None] += v
    return y


def mask_view(x):
    """x: T N"""
    y = x.copy()
    v = y[:, 1:]
    v[v < 0] = 0
    return y


def for_enum(x):
    """x: T N"""
    y = x.copy()
    for i, row in enumerate(y):
        row *= i
    return y


def for_zip(x):
    """x: T N"""
    y = np.zeros_like(x)
    for src, dst in zip(x, y):
        dst[:] = src - src.mean()
    return y


def for_zip_el(x):
    """x: T N"""
    y = np.zeros_like(x)
    for src, dst in zip(x, y):
        for j in range(len(src)):
            dst[j] = src[j] * j
    return y


def inplace_fun(x):
    """x: T N"""
    def norm(row):
        row -= row.mean()
        row /= row.std() + 1e-5
    y = x.copy()
    for i in range(len(y)):
        norm(y[i])
    return y


def fun_slice(x):
    """x: T+2 N"""
    def scale(part, s):
        part *= s
    y = x.copy()
    scale(y[::2], 2)
    scale(y[1::2], 3)
    return y


def empty_rows(x):
    """x: T N"""
    y = np.empty_like(x)
    for src, dst in zip(x, y):
        dst[:] = src - src.mean()
    return y


def empty_el(x):
    """x: T N"""
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        row = y[i]
        row[0] = x[i, 0]
        for j in range(1, x.shape[1]):
            row[j] = row[j - 1] * 0.5 + x[i, j]
    return y


def empty_parts(x):
    """x: T N"""
    y = np.empty((2, *x.shape), x.dtype)
    a, b = y[0], y[1]
    np.sin(x, out=a)
    np.multiply(a, 2, out=b)
    return y


def empty_T(x):
    """x: T N"""
    y = np.empty(x.shape[::-1], x.dtype)
    y.T[:] = x * 2
    return y


def empty_cols(x):
    """x: T N"""
    y = np.empty((x.shape[0], 3), x.dtype)
    mean, std, mx = y[:, 0], y[:, 1], y[:, 2]
    mean[:] = x.mean(axis=1)
    x.max(axis=1, out=mx)
    std[...] = x.std(axis=1)
    return y


def work_row(x):
    """x: T N"""
    work = np.empty(x.shape[1], x.dtype)
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        np.subtract(x[i], x[i].max(), out=work)
        np.exp(work, out=work)
        np.divide(work, work.sum(), out=y[i])
    return y


def prev_view_changed(x):
    """x: T+2 N"""
    y = np.zeros_like(x)
    y[0] = x[0]
    for t in range(1, x.shape[0]):
        p = y[t-1]
        p += 1
        y[t] = 0.5 * p + x[t]
    return y


def cur_view_stale(x):
    """x: T+2 N"""
    y = x.copy()
    z = x.copy()
    for t in range(x.shape[0]):
        p = y[t]
        y[t] = p * 2
        z[t] = p
    return y, z


def view_T(x):
    """x: T+2 N"""
    y = np.zeros_like(x)
    z = y.T
    for t in range(x.shape[0]):
        z[:, t] = x[t]
    return y


def swap_views2(x):
    """x: T+2 N"""
    y = np.zeros((2, x.shape[1]), x.dtype)
    a, b = y[0], y[1]
    for t in range(x.shape[0]):
        b[:] = a * 0.5 + x[t]
        a, b = b, a
    return a


def view_in_list(x):
    """x: T+2 N"""
    y = x.copy()
    rows = [y[0], y[1]]
    for t in range(2, x.shape[0]):
        rows[0] += x[t]
        rows[1] *= 0.5
    return y


def view_before(x):
    """x: T+2 N"""
    y = np.zeros_like(x)
    last = y[-1]
    for t in range(x.shape[0]):
        y[t] = x[t] * 2
    last += 1
    return y


def int_branch(x):
    """x: T+2 N"""
    y = x.copy()
    v = y[0]
    if x[0, 0] > 0:
        v += 1
    return y


def branch_loop(x):
    """x: T+2 N"""
    y = x.copy()
    for t in range(x.shape[0]):
        row = y[t]
        if row[0] > 0:
            row *= 2
        else:
            row -= 1
    return y


def where_view(x):
    """x: T+2 N"""
    y = x.copy()
    v = y[:, 1:]
    np.maximum(v, 0, out=v)
    v[v > 1] = 1
    return y


def chain(x):
    """x: T+2 N"""
    y = x.copy()
    y[1:][:, 1:][0] = 3
    y[1:].T[0] += 1
    y.T[1:].T[:, 0] = 9
    return y


def forder4(x):
    """x: T+2 N"""
    y = x.T.copy()
    z = y.reshape(-1)
    z[0] = 100
    return y


def rev_view(x):
    """x: T+2 N"""
    y = x.copy()
    y[::-1][0] = 5
    y[:, ::-1] += np.arange(y.shape[1])
    return y


def mid(x):
    """x: T+2 N"""
    y = np.zeros((x.shape[0] + 2, x.shape[1] + 2), x.dtype)
    inner = y[1:-1, 1:-1]
    inner[...] = x
    inner *= 2
    y[0] = y[1]
    return y, inner


def jacobi(x):
    """x: T+2 N"""
    u = x.copy()
    inner = u[1:-1]
    for k in range(5):
        inner[:] = 0.5 * (u[:-2] + u[2:])
    return u


def jacobi_t(x, w):
    """x: T+2 N, w: K"""
    u = x.copy()
    inner = u[1:-1]
    for k in range(len(w)):
        inner *= w[k]
        inner += 0.5 * (u[:-2] + u[2:])
    return u


def inner_steps(x):
    """x: T+2 N"""
    y = np.zeros((x.shape[0] + 2, x.shape[1]), x.dtype)
    inner = y[1:-1]
    for t in range(x.shape[0]):
        inner[t] = x[t] + y[t]
    return y


def loop_T(x):
    """x: T+2 N"""
    y = np.zeros((x.shape[1], x.shape[0]), x.dtype)
    for t, row in enumerate(x):
        y.T[t] = row * t
    return y


def reduce_out(x):
    """x: T+2 N"""
    y = np.zeros((2, x.shape[1]), x.dtype)
    x.sum(axis=0, out=y[0])
    np.max(x, axis=0, out=y[1])
    return y


def dtype_cast(x):
    """x: T+2 N"""
    y = np.zeros(x.shape, np.float64)
    v = y[0]
    v[:] = x[0]
    v /= 3
    return y


def int_view(x):
    """x: T+2 N"""
    y = np.zeros(x.shape, np.int32)
    v = y[0]
    v += 3
    v //= 2
    return y * x


def frozen_chain(x):
    """x: T+2 N"""
    y = x.copy()
    a = y[1:]
    b = a[1:]
    c = b[:, 0]
    c += 1
    a *= 2
    b -= 1
    return a, b, c, y


def list_slices(x):
    """x: T+2 N"""
    y = x.copy()
    a, b = y[0], y[1]
    l = [a, b]
    l[0] += 1
    for v in l:
        v *= 2
    return y


def dict_views(x):
    """x: T N"""
    y = x.copy()
    d = {"a": y[0], "b": y[1:]}
    d["a"] += 1
    d["b"] *= 2
    return y


def branch_changes_a_view(x):
    """x: T N"""
    y = x.copy()
    v = y[0]
    if x[0, 0] > 0:
        v += 5
    return y


def branch_changes_what_a_view_shows(x):
    """x: T N"""
    y = x.copy()
    v = y[0]
    if x[0, 0] > 0:
        y[0] = 5
    return y + v


def int_row_loop(x):
    """x: T+2 N"""
    y = x.copy()
    for t in range(x.shape[0]):
        r = y[int(x[t, 0] > 0)]
        r += 1
    return y


def view_from_before_the_loop(x):
    """x: T N"""
    y = np.zeros_like(x[0])
    v = y[:1]
    s = 0.0
    for row in x:
        s = s + v.sum()
        y += row
    return s


def view_inplace(x):
    """x: T N"""
    y = x.copy()
    r = y[0]
    for t in range(1, x.shape[0]):
        r += x[t]
    return y


def view_of_a_later_row(x):
    """x: T+2 N"""
    y = x * 1
    v = y[2]
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] + v
    return y


def view_of_a_row_that_is_written(x):
    """x: T N"""
    y = x * 1
    v = y[0]
    for i in range(len(x)):
        y[i] = y[i] * 2 + v
    return y


def rows_of_an_input(x):
    """x: T N"""
    for row in x:
        row -= row.max()
    return x


def first_row_changed(x):
    """x: T N"""
    h = x[0]
    h += 1
    return h


def first_row_of_an_input_changed(x):
    """x: T N"""
    h = x[0]
    h += 1
    return x


def accumulated_in_a_row(x):
    """x: T N"""
    h = x[0]
    for t in range(1, x.shape[0]):
        h += x[t]
    return h


def accumulated_and_scaled(x):
    """x: T N"""
    h = x[0]
    for t in range(1, x.shape[0]):
        h *= 0.5
        h += x[t]
    return h / len(x)


def elements_of_rows_of_an_input(x):
    """x: T N"""
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            x[i][j] += x[i][j - 1] * 0.5
    return x


def flat_view_of_an_input(x):
    """x: T N"""
    f = x.ravel()
    f += 1
    return x


def prefix_sums_in_place(x):
    """x: T N"""
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return x
