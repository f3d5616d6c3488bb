"""Arrays that are written part by part, as loops do: y[:, t] = h.

A write is remembered, and what is read again of it is what was written: h, and no part of an array that was put
together before. The array itself is put together when it is used as a whole.
"""

from __future__ import annotations

from strop import trace_layout as layout
from strop.trace_array import Traced, full
from strop.trace_dims import is_int, same

MOST_FIRST_VALUES = 8


class Pieces:
    """Parts of an array along one axis, by literal bounds, over what it was before."""

    by_step = False

    def __init__(self, base: Traced, axis: int):
        self.base = base
        self.axis = axis
        self.parts: dict[tuple[int, int], Traced] = {}
        self.only: tuple[Traced, list, list, list] | None = None  # what `write` got, while it is the only write

    def copy(self) -> Pieces:
        other = Pieces(self.base, self.axis)
        other.only = self.only
        for bounds, part in self.parts.items():
            other.parts[bounds] = Traced(-1, part.shape, part.dtype)
            other.parts[bounds].restore(part.kept())
        return other

    def takes(self, begins, ends, partial) -> bool:
        """Whether a write into these axes only is one of these parts, or beside all of them."""
        begin, end = begins[self.axis], ends[self.axis]
        if partial[0] != self.axis or not is_int(begin) or not is_int(end):
            return False
        return (begin, end) in self.parts or not self._touched(begin, end)

    def write(self, value: Traced, begins, ends, partial):
        bounds = (begins[self.axis], ends[self.axis])
        self.only = (value, begins, ends, partial) if not self.parts else None
        if bounds not in self.parts:
            self.parts[bounds] = self._old(*bounds)
        begins, ends = list(begins), list(ends)
        begins[self.axis], ends[self.axis] = 0, bounds[1] - bounds[0]
        layout.assign_region(self.parts[bounds], value, begins, ends)

    def read(self, begins, ends, steps) -> Traced | None:
        """Of one part, or of nothing that was written; None: of several."""
        begin, end = begins[self.axis], ends[self.axis]
        if not is_int(begin) or not is_int(end):
            return None
        if (begin, end) in self.parts:
            begins, ends = list(begins), list(ends)
            begins[self.axis], ends[self.axis] = 0, end - begin
            return layout.slice_axes(self.parts[begin, end], begins, ends, steps)
        return None if self._touched(begin, end) else layout.slice_axes(self.base, begins, ends, steps)

    def whole(self) -> Traced:
        """All parts with what is left of the base between them."""
        if self.only:
            return layout.with_region(self.base, *self.only)
        return layout.concatenate([known(piece) for piece in self._in_order()], self.axis)

    def _in_order(self) -> list[Traced]:
        pieces, done = [], 0
        step_by_step = all(end - begin == 1 for begin, end in self.parts)
        for (begin, end), part in sorted(self.parts.items()):
            if step_by_step and begin - done <= MOST_FIRST_VALUES:  # where a recurrence began: alike what follows
                pieces += [self._old(place, place + 1) for place in range(done, begin)]
            elif begin > done:
                pieces.append(self._old(done, begin))
            pieces.append(part)
            done = end
        if not same(done, self.base.shape[self.axis]):
            pieces.append(self._old(done, self.base.shape[self.axis]))
        return pieces

    def _touched(self, begin: int, end: int) -> bool:
        return any(begin < other_end and other < end for other, other_end in self.parts)

    def _old(self, begin, end) -> Traced:
        """What was there before, as an array of its own."""
        shape = list(self.base.shape)
        shape[self.axis] = end - begin
        if self.base.filled is None:
            return Traced(layout.part(self.base, self.axis, begin, end).node, shape, self.base.dtype)
        node = -1 if self.base.filled == "empty" else full(shape, self.base.filled, self.base.dtype).node
        return Traced(node, shape, self.base.dtype, fill=self.base.filled)


def known(piece: Traced) -> Traced:
    """What nobody wrote has any value."""
    return full(piece.shape, 0, piece.dtype) if piece.filled == "empty" else piece


def begun(target: Traced, begins, ends, partial) -> Pieces | None:
    """For a first write into these axes only; None where the first of them has no literal bounds."""
    if not partial or not is_int(begins[partial[0]]) or not is_int(ends[partial[0]]):
        return None
    node = -1 if target.filled == "empty" else target.node
    return Pieces(Traced(node, target.shape, target.dtype, fill=target.filled), partial[0])
