"""What gives a new array, however little it does, and what does not."""

import numpy as np


def plus_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = +y
    z += 1
    return y, z


def positive_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.positive(y)
    z += 1
    return y, z


def delete_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.delete(y, 0, axis=1)
    z += 1
    return y, z


def roll_by_nothing_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.roll(y, 0)
    z += 1
    return y, z


def repeat_once_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.repeat(y, 1, axis=0)
    z += 1
    return y, z


def tile_once_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.tile(y, (1, 1))
    z += 1
    return y, z


def vstack_of_one_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.vstack([y])
    z += 1
    return y, z


def concatenate_of_one_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.concatenate([y])
    z += 1
    return y, z


def pad_by_nothing_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.pad(y, 0)
    z += 1
    return y, z


def take_of_a_row_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.take(y, 0, axis=0)
    z += 1
    return y, z


def floor_of_integers_is_a_copy(x):
    """x: int64 T"""
    y = x.copy()
    z = np.floor(y)
    z += 1
    return y, z


def round_of_integers_is_a_copy(x):
    """x: int64 T"""
    y = x.copy()
    z = y.round()
    z += 1
    return y, z


def sum_over_one_is_a_copy(x):
    """x: 1 N"""
    y = x.copy()
    z = y.sum(axis=0)
    z += 1
    return y, z


def nan_to_num_of_integers_is_a_copy(x):
    """x: int64 T"""
    y = x.copy()
    z = np.nan_to_num(y)
    z += 1
    return y, z


def nan_to_num_in_place(x):
    """x: T N"""
    y = np.log(x)
    np.nan_to_num(y, copy=False, nan=3)
    return y


def nan_to_num_in_place_by_position(x):
    """x: T N"""
    y = np.log(x)
    z = np.nan_to_num(y, False)
    z += 1
    return y


def where_is_a_copy(x):
    """x: T N"""
    y = x.copy()
    z = np.where(True, y, 0)
    z += 1
    return y, z


def rows_by_a_list_are_copies(x):
    """x: T+2 N"""
    y = x.copy()
    z = y[[0, 1]]
    z += 1
    w = y[np.array([0])]
    w += 2
    return y, z, w


def halves_of_columns(x):
    """x: T 4"""
    y = x.copy()
    a, b = np.hsplit(y, 2)
    a += b
    return y


def rows_by_name(x):
    """x: 2 N"""
    y = x.copy()
    a, b = y
    a += b
    return y


def out_is_what_is_returned(x):
    """x: T N"""
    y = x.copy()
    np.clip(y, 0, 1, out=y)
    z = np.abs(y, out=y)
    z += 1
    return y


def einsum_of_all(x):
    """x: T N"""
    y = x.copy()
    z = np.einsum('ij->ij', y)
    z += 1
    return y, z


def einsum_transposed(x):
    """x: T N"""
    y = x.copy()
    z = np.einsum('ij->ji', y)
    z += 1
    return y, z
