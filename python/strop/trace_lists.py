"""Lists to which each step of a loop of varying length appends.

During a pass over the loop's body the list holds what was in it before the loop and what this step appends. After the
loop it is an array along a new first axis, between entries that were there before and entries that came after.
"""

from __future__ import annotations

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, axis_of, lift, pointwise, reduce
from strop.trace_dims import StepUndecided, Untraceable, is_int, same

REFUSAL = "a list that a loop makes is used in a way that is not followed"


def as_list(value: Traced) -> Traced:
    """An array that stands for a list of numbers."""
    value.is_list = True
    return value


class StepList:
    """Stands for a list while a loop appends to it, and after."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, front, step=None, kind=None):
        self.front: list = list(front)
        self.step = step  # the pass that appends
        self.kind = kind  # (shape, dtype) of an entry, as far as known
        self.new: list = []
        self.backwards = False  # each step inserts at the front
        self.past: list[Traced] = []
        self.middle: Traced | None = None  # after the loop: the entries that it made
        self.back: list = []

    # ---- what a reference does with a list ----

    def append(self, value):
        if self.step is None:
            self.back.append(value)
            return
        if self.backwards:
            raise Untraceable(REFUSAL)
        self._checked().new.append(value)

    def insert(self, place, value):
        if not is_int(place) or place != 0:
            raise Untraceable(REFUSAL)
        if self.step is None:
            self.front.insert(0, value)
            return
        if self.new and not self.backwards:
            raise Untraceable(REFUSAL)
        self.backwards = True
        self._checked().new.append(value)

    def extend(self, values):
        for value in values:
            self.append(value)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __add__(self, values):
        result = StepList(self.front, self.step, self.kind)
        result.new, result.past, result.backwards = list(self.new), self.past, self.backwards
        result.middle, result.back = self.middle, list(self.back)
        result.extend(values)
        return result

    def __radd__(self, values):
        if self.step is not None:
            raise Untraceable(REFUSAL)
        result = self + []
        result.front = [*values, *self.front]
        return result

    def reverse(self):
        turned = self[::-1]
        self.front, self.middle, self.back = turned.front, turned.middle, turned.back

    def length(self):
        if self.step is not None:
            each = self.kind[2] if self.kind else 1
            return len(self.front) + len(self.new) + each * self.step.symbol
        assert self.middle is not None
        return len(self.front) + self.middle.shape[0] + len(self.back)

    def __getitem__(self, place):
        if self.step is not None:
            return self._read(place)
        if isinstance(place, slice):
            if place.start is not None or place.stop is not None or place.step != -1:
                return self.joined()[place]
            result = StepList(self.back[::-1])
            result.middle, result.back = layout.reverse(self.middle, 0), self.front[::-1]
            return result
        if is_int(place) and -len(self.back) <= place < 0:
            return self.back[place]
        if is_int(place) and 0 <= place < len(self.front):
            return self.front[place]
        return self.joined()[place]

    def _refuse(self, *_):
        raise Untraceable(REFUSAL)

    __len__ = __iter__ = __bool__ = __setitem__ = __delitem__ = __contains__ = __eq__ = _refuse  # type: ignore
    pop = remove = clear = sort = index = count = copy = _refuse

    # ---- in a pass ----

    def _checked(self):
        if self.step not in GRAPH.passes or self.step is not GRAPH.passes[-1]:
            raise Untraceable(REFUSAL)
        return self

    def _read(self, place):
        if self.backwards:
            if not is_int(place) or not 0 <= place < len(self.new):
                raise Untraceable(REFUSAL)
            return self.new[-1 - place]
        if not is_int(place) or place >= 0:
            if is_int(place) and place < len(self.front):
                return self.front[place]
            place = place - self.length()
        if not is_int(place) or place >= 0:
            raise Untraceable(REFUSAL)
        back = -place - len(self.new)
        return self.new[place] if back <= 0 else self._past(back)

    def _past(self, back: int):
        if back > len(self.front):
            raise StepUndecided(self.step.loop)
        if self.kind and self.kind[2] != 1:
            raise Untraceable(REFUSAL)
        last = lift(self.front[-1])
        shape, dtype = self.kind[:2] if self.kind else (last.shape, last.dtype)
        while len(self.past) < back:
            node = self.step.placeholder(shape, dtype if not last.weak or self.kind else GRAPH.working)
            self.past.append(Traced(node, shape, GRAPH.dtype(node)))
        return self.past[back - 1]

    # ---- after the loop ----

    def segments(self) -> list[Traced]:
        """The entries as arrays along a first axis."""
        if self.step is not None or self.middle is None:
            raise Untraceable(REFUSAL)
        parts = [layout.stack(part, 0) for part in (self.front, self.back) if part]
        parts.insert(1 if self.front else 0, self.middle)
        shapes = [part.shape[1:] for part in parts]
        if any(len(a) != len(shapes[0]) or not all(map(same, a, shapes[0])) for a in shapes):
            raise Untraceable("a list of arrays of different shapes")
        return parts

    def joined(self) -> Traced:
        return layout.concatenate(self.segments(), 0)


def stacked(entries: StepList, axis=0) -> Traced:
    whole = entries.joined()
    return layout.moveaxis(whole, 0, axis_of(axis, whole.ndim))


def concatenated(entries: StepList, axis=0) -> Traced:
    """Along an axis that each entry has."""

    def merged(part: Traced) -> Traced:
        place = axis_of(axis, part.ndim - 1)
        moved = layout.moveaxis(part, 0, place)
        shape = list(moved.shape)
        shape[place : place + 2] = [shape[place] * shape[place + 1]]
        return layout.reshape(moved, shape)

    if axis is None or entries.middle is None:
        raise Untraceable(REFUSAL)
    parts = [*(lift(one) for one in entries.front), merged(entries.middle), *(lift(one) for one in entries.back)]
    return layout.concatenate(parts, axis)


def _column_stack(entries: StepList) -> Traced:
    return stacked(entries, 1) if entries.joined().ndim == 2 else concatenated(entries, 1)


def _vstack(entries: StepList) -> Traced:
    return stacked(entries) if entries.joined().ndim <= 2 else concatenated(entries, 0)


def _hstack(entries: StepList) -> Traced:
    rank = entries.joined().ndim
    return entries.joined() if rank == 1 else concatenated(entries, 0 if rank == 2 else 1)


JOINS = {
    "stack": stacked,
    "concatenate": concatenated,
    "concat": concatenated,
    "vstack": _vstack,
    "row_stack": _vstack,
    "hstack": _hstack,
    "column_stack": _column_stack,
}


def interleaved(parts: list[Traced], backwards: bool) -> Traced:
    """What each step appended, one after the other; where it inserted at the front, the last comes first."""
    if backwards:
        parts = [layout.reverse(part, 0) for part in reversed(parts)]
    if len(parts) == 1:
        return parts[0]
    whole = layout.stack(parts, 1)
    return layout.reshape(whole, (whole.shape[0] * whole.shape[1], *whole.shape[2:]))


def total(entries: StepList, start=0) -> Traced:
    """Python's sum."""
    whole = entries.joined()
    if whole.dtype.kind != "f" and whole.dtype.name != "int64":
        raise Untraceable(REFUSAL)
    result = reduce("sum", whole, 0)
    return result if not isinstance(start, Traced) and start == 0 else pointwise("add", result, start)


def alike(kinds: dict, others: dict) -> bool:
    """Of the kinds of lists, by where they are."""

    def spelled(kind):
        return [str(part) for part in kind]

    return kinds.keys() == others.keys() and all(spelled(kinds[k]) == spelled(others[k]) for k in kinds)
