"""Views that are changed, or read after what they show has changed.

A view knows the array that it shows (`parent`) and how (`key`: what stood in the brackets, or a Way). What is written
to it is written there, and what is read of it later is read from there again.
"""

from __future__ import annotations

from strop import trace_layout as layout
from strop.trace_array import Traced, broadcast_to, full, lift, transpose
from strop.trace_dims import Untraceable, Unwritten, is_int
from strop.trace_layout import is_extent
from strop.trace_sizes import counts_from_end

NEVER = -1  # no version of a storage


class Way:
    """How a view shows all elements of an array."""

    def read(self, whole: Traced) -> Traced:
        raise NotImplementedError

    def write(self, whole: Traced, value: Traced):
        raise NotImplementedError


class Transposed(Way):
    def __init__(self, permutation):
        self.permutation = tuple(permutation)

    def read(self, whole: Traced) -> Traced:
        return transpose(whole, self.permutation)

    def write(self, whole: Traced, value: Traced):
        whole.assign(self._back(value))

    def _back(self, value: Traced) -> Traced:
        return transpose(value, [self.permutation.index(axis) for axis in range(len(self.permutation))])

    def write_part(self, whole: Traced, key: list, value):
        """`key` has a number or a slice for each axis of the view."""
        kept = [axis for axis, entry in enumerate(key) if isinstance(entry, slice)]
        view = full([whole.shape[axis] for axis in self.permutation], 0, whole.dtype)
        value = broadcast_to(lift(value), view[tuple(key)].shape)
        order = sorted(range(len(kept)), key=lambda place: self.permutation[kept[place]])
        there = [key[self.permutation.index(axis)] for axis in range(len(key))]
        whole[tuple(there)] = transpose(value, order)


class Reshaped(Way):
    """Each element in the same order."""

    def __init__(self, shape):
        self.shape = tuple(shape)

    def read(self, whole: Traced) -> Traced:
        return layout.reshape(whole, self.shape)

    def write(self, whole: Traced, value: Traced):
        whole.assign(layout.reshape(value, whole.shape))


class Reversed(Way):
    def __init__(self, axes):
        self.axes = axes

    def read(self, whole: Traced) -> Traced:
        return layout.reverse(whole, self.axes)

    def write(self, whole: Traced, value: Traced):
        whole.assign(layout.reverse(value, self.axes))


def turned(value, axes=None) -> Traced:
    """np.flip"""
    value = lift(value)
    part = layout.reverse(value, axes)
    return shown(part, value, Reversed(axes)) if part is not value else part


def shown(part: Traced, value: Traced, way) -> Traced:
    """Says of `part` how it shows `value`; what nobody has written yet is read when somebody did."""
    part.parent, part.key = value, way
    if part._node < 0:
        part._version = NEVER
    return part


def reshaped(value: Traced, shape) -> Traced:
    """A view of another shape."""
    if value.filled == "empty" and value.pieces is None:
        shape = layout.reshape(full(value.shape, 0, value.dtype), shape).shape
        return shown(Traced(-1, shape, value.dtype, view_of=value), value, Reshaped(shape))
    part = layout.reshape(value, shape)
    if part is value:
        part = Traced(value.node, value.shape, value.dtype, value.weak, view_of=value, fill=value.filled)
    return shown(part, value, Reshaped(part.shape))


def flattened(value, shape) -> Traced:
    """NumPy's reshape: a view where the elements lie one after another, else perhaps a copy."""
    value = lift(value)
    return reshaped(value, shape) if is_contiguous(value) and value.shape else layout.reshape(value, shape)


def is_contiguous(value: Traced) -> bool:
    if value.parent is None or value.parent._storage is not value._storage:
        return value.owns and value._storage.contiguous
    if isinstance(value.key, Reshaped):
        return is_contiguous(value.parent)
    if isinstance(value.key, Way) or not is_contiguous(value.parent):
        return False
    *front, last = value.key if isinstance(value.key, tuple) else (value.key,)
    simple = is_extent(last) or isinstance(last, slice) and last.step in (None, 1)
    return simple and all(map(is_extent, front))  # rows one after another


def shown_by(value: Traced) -> Traced:
    """The array that it shows, where that is known and may be changed; else the array itself."""
    root = value
    while root.parent is not None and root.parent._storage is value._storage and not value.others:
        root = root.parent
    return value if root.weak else root


def is_shown(value: Traced) -> bool:
    return shown_by(value) is not value


def read_again(value: Traced) -> Traced:
    fresh = value.key.read(value.parent) if isinstance(value.key, Way) else value.parent.part(value.key)
    if fresh._version == NEVER:
        raise Unwritten()
    if fresh._storage is not value._storage:
        raise Untraceable("an array is changed through another view of it")
    return fresh


def part_now(value: Traced, key) -> Traced:
    """value[key] after what `value` shows has changed."""
    joined = joined_key(value, key) if is_shown(value) else None
    return value.parent.part(joined) if joined is not None else value.now().part(key)


def without_parent(value: Traced) -> Traced:
    """What is a view or a copy, nobody knows: it is not to be changed."""
    return Traced(value.node, value.shape, value.dtype, view_of=value)


def unwritten(value: Traced, key) -> Traced:
    """value[key], of which nothing was written yet: it is read when something was."""
    from strop.trace_indexing import getitem

    shape = getitem(full(value.shape, 0, value.dtype), key).shape
    if _has_arrays(key) or not shape:
        raise Unwritten()
    return shown(Traced(-1, shape, value.dtype, view_of=value), value, key)


def write(value: Traced, content: Traced):
    """All of a view."""
    if isinstance(value.key, Way):
        value.key.write(value.parent, content)
    else:
        value.parent[value.key] = content


def write_part(value: Traced, key, content):
    """value[key] = content: where both are simple, there is one assignment to the array; else all of the view is written."""
    from strop.trace_indexing import expand_key, setitem

    joined = joined_key(value, key)
    if joined is not None:
        value.parent[joined] = content
        return
    if isinstance(value.key, Transposed) and not _has_arrays(key):
        given = expand_key(key, value.ndim)
        if None not in given:
            value.key.write_part(value.parent, given, content)
            return
    try:
        copy = Traced(value.node, value.shape, value.dtype)
    except Unwritten:
        copy = full(value.shape, "empty", value.dtype)
    setitem(copy, key, content)
    write(value, copy)


def joined_key(value: Traced, key) -> tuple | None:
    """value[key] as one key of the array that `value` shows."""
    from strop.trace_indexing import expand_key

    if isinstance(value.key, Way) or _has_arrays(key) or _has_arrays(value.key):
        return None
    return _joined(expand_key(value.key, value.parent.ndim), expand_key(key, value.ndim))


def _has_arrays(key) -> bool:
    return not all(
        entry is None or entry is Ellipsis or isinstance(entry, slice) or is_place(entry)
        for entry in (key if isinstance(key, tuple) else (key,))
    )


def is_place(entry) -> bool:
    return is_extent(entry) or isinstance(entry, Traced) and not entry.shape and entry.dtype.kind in "iu"


def _joined(own: list, given: list) -> tuple | None:
    """One key for x[own][given]; None where there is no simple one."""
    result: list = []
    rest = list(given)
    for entry in own:
        if entry is None or (rest and rest[0] is None):
            return None
        joined = entry if is_place(entry) else _joined_entry(entry, rest.pop(0))
        if joined is None:
            return None
        result.append(joined)
    return tuple(result)


def _joined_entry(own, given):
    if not isinstance(own, slice):
        return None
    if own == slice(None):
        return given
    if isinstance(given, slice):
        return own if given == slice(None) else None
    start, step = 0 if own.start is None else own.start, 1 if own.step is None else own.step
    numbers = is_int(step) and step > 0 and is_extent(start) and is_extent(given)
    return start + given * step if numbers and not counts_from_end(start) and not counts_from_end(given) else None
