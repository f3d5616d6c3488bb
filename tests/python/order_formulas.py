"""Orders of elements in memory, and what is a view or a copy by them."""

import numpy as np


def ascontiguousarray_of_one(x):
    """x: T N"""
    y = x.copy()
    a = np.ascontiguousarray(y)
    a[0] = 1
    return y, a


def ascontiguousarray_of_columns(x):
    """x: T N"""
    y = x.copy()
    a = np.ascontiguousarray(y[:, ::2])
    return y, a * 2


def asarray_of_a_transpose(x):
    """x: T N"""
    y = x.copy()
    a = np.asarray(y.T)
    a[0] = 1
    return y


def asarray_of_another_type(x):
    """x: T N"""
    y = x.copy()
    a = np.asarray(y, dtype=np.float64)
    a[0] = 1
    return y, a


def astype_without_copy(x):
    """x: T N"""
    y = x.copy()
    a = y.astype(np.float32, copy=False)
    a[0] = 1
    return y, a


def astype_with_copy(x):
    """x: T N"""
    y = x.copy()
    a = y.astype(np.float32)
    a[0] = 1
    return y, a


def ravel_by_columns(x):
    """x: T N"""
    return x.ravel('F') * np.arange(x.size)


def ravel_by_columns_named(x):
    """x: T N"""
    return x.ravel(order='F') * np.arange(x.size)


def flatten_by_columns(x):
    """x: T N"""
    return x.flatten('F') * np.arange(x.size)


def np_ravel_by_columns(x):
    """x: T N"""
    return np.ravel(x, 'F') * np.arange(x.size)


def reshape_by_columns(x):
    """x: T N"""
    return x.reshape((x.shape[1], x.shape[0]), order='F')


def np_reshape_by_columns(x):
    """x: T N"""
    return np.reshape(x, (x.shape[1], x.shape[0]), 'F')


def zeros_by_columns(x):
    """x: T N"""
    y = np.zeros(x.shape, x.dtype, order='F')
    y += x
    return y


def empty_like_by_rows(x):
    """x: T N"""
    y = np.empty_like(x, order='C')
    y[:] = x
    return y


def asfortranarray(x):
    """x: T N"""
    y = np.asfortranarray(x)
    return y * 2


def flip_changed(x):
    """x: T N"""
    y = x.copy()
    np.flip(y, 0)[0] = 3
    return y


def atleast_changed(x):
    """x: T"""
    y = x.copy()
    np.atleast_2d(y)[0, 0] = 3
    return y


def swapaxes_changed(x):
    """x: T N C"""
    y = x.copy()
    y.swapaxes(0, 2)[0] *= 2
    return y


def squeeze_changed(x):
    """x: 1 N"""
    y = x.copy()
    np.squeeze(y)[0] = 3
    y.squeeze(0)[1:] += 1
    return y


def expand_dims_changed(x):
    """x: T N"""
    y = x.copy()
    z = np.expand_dims(y, 1)
    z[:, 0, 0] = 9
    z += 1
    return y, z


def put_flat(x):
    """x: T+2 N"""
    y = x.copy()
    np.put(y, [0, 1], 5)
    return y


def put_along_axis(x, i):
    """x: T N, i: int64 T 1"""
    y = x.copy()
    np.put_along_axis(y, np.abs(i) % x.shape[1], 0, axis=1)
    return y


def copyto_where(x):
    """x: T N"""
    y = np.zeros_like(x)
    np.copyto(y[1:], x[:-1])
    np.copyto(y, 3, where=x > 1)
    return y


def putmask_below(x):
    """x: T N"""
    y = x.copy()
    np.putmask(y, y < 0, 0)
    return y


def sort_of_views(x):
    """x: T+2 N"""
    y = x.copy()
    y[0].sort()
    y[:, 0].sort()
    return y


def fill_of_views(x):
    """x: T N"""
    y = x.copy()
    y[0].fill(3)
    y.T[0].fill(2)
    return y


def halves(x):
    """x: T N"""
    y = x.copy()
    a, b = y[: x.shape[0] // 2], y[x.shape[0] // 2 :]
    a[...] = a * 2
    b += 1
    return y


def add_at_views(x):
    """x: T N"""
    y = x.copy()
    np.add.at(y[0], [0, 0], 1)
    np.add.at(y.T, [0], 2)
    return y


def rows_swapped(x):
    """x: T+2 N"""
    y = x.copy()
    y[0], y[1] = y[1].copy(), y[0].copy()
    return y


def rows_swapped_wrongly(x):
    """x: T+2 N"""
    y = x.copy()
    y[0], y[1] = y[1], y[0]
    return y


def rows_reversed_by_swaps(x):
    """x: T+2 N"""
    y = x.copy()
    n = y.shape[0]
    for i in range(n // 2):
        y[i], y[n - 1 - i] = y[n - 1 - i], y[i]
    return y


def columns_swapped_wrongly(x):
    """x: T N"""
    y = x.copy()
    a = y[:, 0]
    y[:, 0] = y[:, 1]
    y[:, 1] = a
    return y


def elements_swapped(x):
    """x: T N"""
    y = x.copy()
    t = y[0, 0]
    y[0, 0] = y[0, 1]
    y[0, 1] = t
    return y


def views_from_the_end(x):
    """x: T+2 N"""
    y = x.copy()
    v = y[-1]
    v[-1] = 7
    w = y[-2:]
    w[-1, -1] += 1
    return y


def differences_in_place(x):
    """x: T N"""
    y = x.copy()
    a = y[1:]
    b = y[:-1]
    a -= b
    return y


def masked_rows(x):
    """x: T N"""
    y = x.copy()
    for i in range(y.shape[0]):
        row = y[i]
        row[row < 0] = 0
        row /= row.sum() + 1
    return y


def softmax_in_place(x):
    """x: T N"""
    def softmax_(v):
        v -= v.max()
        np.exp(v, out=v)
        v /= v.sum()
        return v
    y = x.copy()
    for i in range(len(y)):
        softmax_(y[i])
    z = x.copy()
    for j in range(z.shape[1]):
        z[:, j] = softmax_(z[:, j])
    return y, z


def two_buffers(x):
    """x: T N"""
    buf = np.empty((2, x.shape[1]), x.dtype)
    cur, nxt = buf[0], buf[1]
    cur[:] = 0
    out = np.empty_like(x)
    for t in range(x.shape[0]):
        np.add(cur * 0.5, x[t], out=nxt)
        out[t] = nxt
        cur[:] = nxt
    return out


def diagonal_and_its_copy(x):
    """x: T T"""
    y = x.copy()
    d = np.diagonal(y)
    e = d.ravel()
    e = e * 1
    e[0] = 5
    return d, y


def diagonal_copied_and_flattened(x):
    """x: T T"""
    y = x.copy()
    d = y.diagonal().copy()
    d.ravel()[0] = 5
    return d, y


def flat_view_of_a_product(x):
    """x: T N"""
    y = x * 2
    y.ravel()[0] = 5
    return y


def flat_view_of_a_choice(x):
    """x: T N"""
    y = np.where(x > 0, x, 0)
    y.ravel()[0] = 5
    return y


def flat_view_of_another_type(x):
    """x: T N"""
    y = x.astype(np.float64)
    y.ravel()[0] = 5
    return y
