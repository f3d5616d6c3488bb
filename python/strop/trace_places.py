"""Arrays that a loop of varying length writes place by place: y[:, t] = h.

What a step reads of the places that the steps before wrote comes from a chain of states: y[:, t - 1] is what the step
before wrote, y[:, t - 2] what that one had found there. Places that no step wrote yet are as they were before the loop.
"""

from __future__ import annotations

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, pointwise
from strop.trace_dims import PlacesUnfollowed, Untraceable, is_int, same, slope_of, steps_in, with_step
from strop.trace_pieces import Pieces, known

FURTHEST = 16  # steps back


class StepPieces(Pieces):
    """The place first + direction * step along one axis of an array, over what the array was before the loop."""

    by_step = True

    def __init__(self, step, base: Traced, axis: int, first, direction: int):
        super().__init__(base, axis)
        self.step, self.first, self.direction = step, first, direction
        self.place = first + direction * step.symbol
        self.slab = self._before(self.place)
        self.slab.born = step.began
        self.known = True  # from the pass before
        self.past: list[Traced] = []  # what the steps before wrote, the last one first

    def copy(self) -> StepPieces:
        return self  # a pass makes its own

    def takes(self, begins, ends, partial) -> bool:
        raise PlacesUnfollowed(self.step.loop)

    def whole(self) -> Traced:
        raise PlacesUnfollowed(self.step.loop)

    def read(self, begins, ends, steps) -> Traced:
        begin, width = begins[self.axis], ends[self.axis] - begins[self.axis]
        if not is_int(width) or not 1 <= width <= FURTHEST or steps[self.axis] != 1:
            raise PlacesUnfollowed(self.step.loop)
        slabs = [self._at(begin + i) for i in range(width)]
        begins, ends = list(begins), list(ends)
        begins[self.axis], ends[self.axis] = 0, 1
        result = layout.concatenate([layout.slice_axes(slab, begins, ends, steps) for slab in slabs], self.axis)
        if all(slab is not self.slab for slab in slabs):
            result = Traced(result.node, result.shape, result.dtype)
            result._storage.frozen = "an array that a loop writes step by step is changed at another place"
        return result

    def _at(self, place) -> Traced:
        ahead = (place - self.place) * self.direction
        if is_int(ahead):
            return self.slab if ahead == 0 else self._before(place) if ahead > 0 else self._past(-ahead)
        outside = (place - self.first) * self.direction
        if (is_int(outside) and outside < 0) or (is_int(outside - self.step.count) and outside - self.step.count >= 0):
            return self._before(place)
        raise PlacesUnfollowed(self.step.loop)

    def _past(self, back: int) -> Traced:
        if back > FURTHEST:
            raise PlacesUnfollowed(self.step.loop)
        while len(self.past) < back:
            node = self.step.placeholder(self.slab.shape, self.base.dtype)
            self.past.append(Traced(node, self.slab.shape, self.base.dtype))
        return self.past[back - 1]

    def initial_slab(self) -> Traced:
        """What lay at the step's place before the loop."""
        return self._before(self.place)

    def initial(self, back: int) -> Traced:
        """What lay where the step of this many steps before the first one would have written."""
        return self._before(self.first - back * self.direction)

    def _before(self, place) -> Traced:
        return self.before(place, place + 1)

    def before(self, begin, end) -> Traced:
        """Of the array as it was before the loop."""
        pieces = self.base.pieces
        if pieces is None:
            return Pieces(self.base, self.axis)._old(begin, end)
        beside = all(self._beside(part) for part in pieces.parts) and not (is_int(begin) and is_int(end))
        if pieces.axis == self.axis and beside:
            return pieces._old(begin, end)
        begins = [begin if i == self.axis else 0 for i in range(self.base.ndim)]
        ends = [end if i == self.axis else extent for i, extent in enumerate(self.base.shape)]
        written = pieces.read(begins, ends, [1] * self.base.ndim)
        if written is None:
            written = layout.part(Traced(pieces.whole().node, self.base.shape, self.base.dtype), self.axis, begin, end)
        return Traced(-1 if written.filled == "empty" else written.node, written.shape, written.dtype, fill=written.filled)

    def _beside(self, bounds: tuple) -> bool:
        """Whether a part lies in front of all places that the loop writes, or behind them."""
        low = self.first if self.direction > 0 else self.first - self.step.count + 1
        high = low + self.step.count
        return any(is_int(gap) and gap >= 0 for gap in (low - bounds[1], bounds[0] - high))

    def after(self, stacked: Traced) -> Traced:
        """The array after the loop, from the slabs (without the axis) of all steps."""
        low = self.first if self.direction > 0 else self.first - self.step.count + 1
        high = low + self.step.count
        middle = layout.moveaxis(layout.reverse(stacked, 0) if self.direction < 0 else stacked, 0, self.axis)
        pieces = [self.before(0, low)] if not same(low, 0) else []
        pieces.append(middle)
        if not same(high, self.base.shape[self.axis]):
            pieces.append(self.before(high, self.base.shape[self.axis]))
        return layout.concatenate([known(piece) for piece in pieces], self.axis)


def write_at_step(target: Traced, value: Traced, begins, ends) -> bool:
    """Whether this is a write into a place that changes with the step of a loop; then it is remembered."""
    names = {name for begin in begins for name in steps_in(begin)}
    GRAPH.touch_in_forks(target)
    if not names:
        if target.pieces is not None and target.pieces.by_step:
            target.pieces.whole()  # refuses
        return False
    if any(GRAPH.steps[name] not in GRAPH.passes for name in names):
        raise Untraceable("a value of a loop is kept where it cannot be followed")
    if target.stands_in:  # the next pass has the array itself
        target.changed()
        return True
    around = [one for one in GRAPH.passes if one.name in names and target.born < one.began]
    if not around:
        raise Untraceable("a place that changes with each step of an array made in this step")
    step = around[0]
    if step.loop in GRAPH.whole_loops:
        _write_anywhere(target, value, begins, ends)
        return True
    axes = [axis for axis, begin in enumerate(begins) if step.name in steps_in(begin)]
    axis = axes[0]
    direction = slope_of(begins[axis], step.name)
    first = with_step(begins[axis], step.name, 0)
    if len(axes) > 1 or direction not in (1, -1) or steps_in(first) or not same(ends[axis] - begins[axis], 1):
        raise PlacesUnfollowed(step.loop)
    if target.pieces is None or not target.pieces.by_step:
        step.touched.setdefault(id(target), (target, target.kept()))
        begin_steps(step, target, step.touched[id(target)][1], axis, first, direction)
        target.pieces.known = False
    pieces = target.pieces
    assert isinstance(pieces, StepPieces)
    if pieces.step is not step or pieces.axis != axis or not same(pieces.place, begins[axis]):
        raise PlacesUnfollowed(step.loop)
    begins, ends = list(begins), list(ends)
    begins[axis], ends[axis] = 0, 1
    layout.assign_region(pieces.slab, value, begins, ends)
    if pieces.known:  # else what was read of it before in this pass is another value in the next pass
        target.changed()
    return True


def _write_anywhere(target: Traced, value: Traced, begins, ends):
    """The elements of a block that moves with the step of a loop take the place of what the array has there."""
    moving = [axis for axis, begin in enumerate(begins) if steps_in(begin)]
    begins, ends = list(begins), list(ends)
    covered = []
    for axis in moving:
        width, extent = ends[axis] - begins[axis], target.shape[axis]
        if steps_in(width):
            raise Untraceable("an extent that changes with each step")
        place = layout.places_along(extent, target.ndim - 1 - axis)
        first = begins[axis]
        if same(width, 1):
            covered.append(pointwise("equal", place, first))
        else:
            index = pointwise("subtract", layout.arange(extent), first)
            index = pointwise("maximum", pointwise("minimum", index, width - 1), 0)
            value = layout.take(value, index, axis)
            covered += [pointwise("greater_equal", place, first), pointwise("less", place, first + width)]
        begins[axis], ends[axis] = 0, extent
    with_something(target)
    old = layout.slice_axes(target, begins, ends, [1] * target.ndim)
    layout.assign_region(target, pointwise("where", layout.all_of(covered), value, old), begins, ends)


def with_something(target: Traced):
    """Where nothing was written yet, zeros, so that what each step writes stays."""
    if target.filled != "empty":
        return
    outside = [one for one in GRAPH.passes if target.born < one.began]
    if outside and outside[0].loop not in GRAPH.whole_loops:
        raise PlacesUnfollowed(outside[0].loop)
    target.assign(0)


def rows_before(axis: int, first, direction: int) -> int:
    """How many rows at the beginning a loop leaves that writes from `first` on."""
    return first if axis == 0 and direction > 0 and is_int(first) else 0


def begin_steps(step, target: Traced, kept: tuple, axis: int, first, direction: int):
    """From here on the array is written place by place."""
    base = Traced(-1, target.shape, target.dtype)
    base.restore(kept)
    base._storage.version = base._version
    target.pieces = StepPieces(step, base, axis, first, direction)
    target.filled = None
