"""Arrays that a loop of varying length writes place by place: y[:, t] = h.

What a step reads of the places that the steps before wrote comes from a chain of states: y[:, t - 1] is what the step
before wrote, y[:, t - 2] what that one had found there. Places that no step wrote yet are as they were before the loop.
"""

from __future__ import annotations

import random

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, pointwise, product
from strop.trace_dims import (
    EXTREMA,
    PlacesUnfollowed,
    StepUndecided,
    SymInt,
    Untraceable,
    blame,
    extremum,
    from_text,
    is_int,
    looks_negative,
    same,
    slope_of,
    steps_in,
    terms_of,
    text,
    with_step,
)
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
        return Traced(-1 if written.fill == "empty" else written.node, written.shape, written.dtype, fill=written.fill)

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
    if target.fill != "empty":
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
    target.fill = None


# ---- what Python does with places at the ends ------------------------------------------------------------


def check_place(entry, extent, bound: bool):
    """An index, or the bound of a slice, that changes with the step: it must count from the same end in each step,
    and a bound must not be cut off at an end, which would change the extent. The place to read: where a step that
    changes nothing would read outside, something else."""
    names = steps_in(entry)
    if not names:
        return entry if bound else _inside_where_taken(entry, extent)
    key = [text(entry), text(extent), str(bound)]
    for number, one in enumerate(GRAPH.passes):
        key = [part.replace(one.name, f"?{number}") for part in [*key, text(one.count)]]
    if tuple(key) not in GRAPH.checked:
        GRAPH.checked[tuple(key)] = _holds(entry, extent, bound)
    if GRAPH.checked[tuple(key)]:
        return entry
    if not bound and (GRAPH.forks or any(one.guard for one in GRAPH.passes)) and not looks_negative(entry):
        if _holds(entry, extent, bound, taken=True):
            return extremum("max", [0, extremum("min", [entry, extent - 1])])
    raise StepUndecided(GRAPH.steps[names[0]].loop)


def _is_in_branch_on_size() -> bool:
    return any(fork.by_size for fork in GRAPH.forks)


def fit_before_reshape(value: Traced, shape) -> Traced:
    """An axis that is to be split has what its parts hold at sizes that take the branch. Of a shape with a -1 what
    stands before it tells."""
    if not _is_in_branch_on_size():
        return value
    rest, wanted = list(shape), list[SymInt | int]()
    for have in value.shape:
        held = rest.pop(0) if rest else 1
        while rest and not _is_unknown(held) and not same(held, have) and not _are_taken_alike(have, held):
            held = -1 if _is_unknown(rest[0]) else held * rest.pop(0)
        if _is_unknown(held):
            return fitted(value, [*wanted, *value.shape[len(wanted) :]])
        if not same(held, have) and not _are_taken_alike(have, held):
            return _fitted_as_a_whole(value, product(shape))
        wanted.append(held)
    return fitted(value, wanted)


def _is_unknown(extent) -> bool:
    return is_int(extent) and extent == -1


def _fitted_as_a_whole(value: Traced, count) -> Traced:
    if not _are_taken_alike(value.size, count):
        return value
    return fitted(layout.reshape(value, (value.size,)), [count])


def counts_from_end(entry) -> bool:
    """An index or a bound: by its looks (H-R does not, R-H does), where the branch that is taken does not tell."""
    if not _is_in_branch_on_size() or not isinstance(entry, SymInt):
        return looks_negative(entry)
    signs = {at < 0 for (at,) in _at_many_sizes(entry, taken=True)}
    return signs.pop() if len(signs) == 1 else looks_negative(entry)


def _inside_where_taken(entry, extent):
    """A branch that a size decides may read what there is at the sizes that take it: at others, something else."""
    if not _is_in_branch_on_size() or not isinstance(entry, SymInt) or counts_from_end(entry):
        return entry
    if all(0 <= at < end for at, end in _at_many_sizes(entry, extent)):
        return entry
    if any(at < 0 for at, _ in _at_many_sizes(entry, extent, taken=True)):
        return entry  # counts from the end there
    return extremum("max", [0, extremum("min", [entry, extent - 1])])


def count_where_taken(count):
    """A range, an axis or a border has no fewer than no elements: at sizes that do not take a branch."""
    if not _is_in_branch_on_size() or not isinstance(count, SymInt) or steps_in(count) or never_negative(count):
        return count
    return extremum("max", [0, count])


def shape_where_taken(shape) -> tuple:
    return tuple(count_where_taken(extent) for extent in layout.shape_of(shape))


def cut_off(begin, end, extent):
    """The bounds of a slice inside of its axis, as in NumPy, where they may lie behind its ends: at sizes that do not
    take a branch, or that are asked for. Slices of one length have the same extent: max(0, end - begin)."""
    if any(steps_in(bound) for bound in (begin, end, extent)):
        return begin, end
    if not _is_in_branch_on_size() and _is_inside_as_asked(begin, end, extent):
        return begin, end
    sizes = list(_at_many_sizes(begin, end, extent))
    if any(first < 0 for first, _, _ in sizes):
        begin = extremum("max", [0, begin])
    if any(last > most for _, last, most in sizes):
        end = extremum("min", [end, extent])
    length = end - begin
    if any(min(last, most) < max(first, 0) for first, last, most in sizes):
        length = extremum("max", [0, length])
    if any(first > most for first, _, most in sizes):
        begin = extent - extremum("max", [0, extent - begin])
    return begin, begin + length


def _is_inside_as_asked(begin, end, extent) -> bool:
    """At all sizes that are asked for a slice is not cut off at an end of its axis. Then it never is: other sizes are
    refused."""
    return are_granted([begin, end - begin, extent - end])


def are_granted(rooms) -> bool:
    """Extents that are not negative at any of the sizes that are asked for: then at no other, which are refused."""
    rooms = [room for room in rooms if isinstance(room, SymInt)]
    if any(eval(_compiled(text(room)), FUNCTIONS, point) < 0 for room in rooms for point in GRAPH.points):
        return False
    for room in rooms:
        key = ("room", text(room), *(text(one.count) for one in GRAPH.passes))
        if key not in GRAPH.checked:
            GRAPH.checked[key] = all(number >= 0 for (number,) in _at_many_sizes(room, known=()))
        if not GRAPH.checked[key]:
            least = -terms_of(room).get((), 0)
            extent = text(room + least)
            GRAPH.require[extent] = max(least, GRAPH.require.get(extent, least))
    return True


TRIALS = 240
FUNCTIONS = {"min": min, "max": max}


def _holds(entry, extent, bound: bool, taken=False) -> bool:
    """`taken`: in steps that NumPy takes, too."""
    negative, seen = looks_negative(entry), 0
    all_taken = taken or not (GRAPH.forks or any(one.guard for one in GRAPH.passes))
    for at, end in _at_many_sizes(entry, extent, taken=taken):
        if not bound and all_taken and not -end <= at < end:
            continue  # NumPy fails, too
        seen += 1
        if (at < 0) != negative or not -end <= at <= end - (not bound):
            return False
    return seen > 0


def is_inside(bound, extent) -> bool:
    """Whether no slice with this bound is cut off at an end of its axis. StepUndecided where the bound counts from
    either end."""
    names = steps_in(bound)
    if not names:
        return True
    negative, inside = looks_negative(bound), True
    for at, end in _at_many_sizes(bound, extent):
        if (at < 0) != negative:
            raise StepUndecided(GRAPH.steps[names[0]].loop)
        inside = inside and -end <= at <= end
    return inside


def fitting_extent(a, b, facts, denied):
    """Of an axis that has the extent a where `facts` hold and b where those do that are `denied`; None where they do not
    tell."""
    if any(blame(from_text(fact)).startswith("parameter") for fact, _ in facts):
        return None  # it may be anything, and sizes are not
    a, b = _shorter(a, facts), _shorter(b, denied)
    for extent in (a, b, *(extremum(name, [a, b]) for name in ("min", "max")), b + (a - b) * indicator(facts)):
        if _are_same(a, extent, facts) and _are_same(b, extent, denied):
            return extent
    return None


def _are_taken_alike(a, b) -> bool:
    """They differ, but not at sizes that take the branch."""
    if same(a, b) or not all(x == y for x, y in _at_many_sizes(a, b, taken=True)):
        return False
    return not all(x == y for x, y in _at_many_sizes(a, b))


def _are_same(a, b, facts) -> bool:
    """At sizes for which these facts hold, if there are any."""
    sizes = list(_at_many_sizes(a, b, where=facts))
    return bool(sizes) and all(x == y for x, y in sizes)


def _shorter(extent, facts):
    """The operand of max or min that it is where these facts hold."""
    return next((one for one in EXTREMA.get(text(extent), ()) if _are_same(one, extent, facts)), extent)


def indicator(facts):
    """1 at sizes for which they hold, else 0."""
    result = 1
    for fact, operator in facts:
        value = from_text(fact)
        if operator in ("==", "!="):
            size = value if never_negative(value) else extremum("max", [value, -value])
            differs = size if never_negative(1 - size) else extremum("min", [1, size])
            result *= differs if operator == "!=" else 1 - differs
        else:
            above = {">": value, ">=": value + 1, "<": -value, "<=": 1 - value}[operator]
            result *= extremum("min", [1, extremum("max", [0, above])])
    return result


def fit_where_taken(value: Traced, shape) -> Traced:
    """To be broadcast to this shape: what the sizes say that take a branch need not be so at others."""
    if not _is_in_branch_on_size():
        return value
    wanted = list(shape[len(shape) - value.ndim :])
    for axis, (have, want) in enumerate(zip(value.shape, wanted)):
        if not _are_taken_alike(have, want):
            wanted[axis] = have
    return fitted(value, wanted)


def fitted(value: Traced, shape) -> Traced:
    """The beginning of an array, or more than it holds: where the branch that made it is taken it has this shape."""
    for axis, extent in enumerate(shape):
        have = value.shape[axis]
        if same(have, extent):
            continue
        sizes = list(_at_many_sizes(have, extent))
        rank = range(value.ndim)
        if any(held > wanted for held, wanted in sizes):
            kept = extent if all(held >= wanted for held, wanted in sizes) else extremum("min", [have, extent])
            ends = [kept if i == axis else value.shape[i] for i in rank]
            value = layout.slice_axes(value, [0] * value.ndim, ends, [1] * value.ndim)
        more = extent - value.shape[axis]
        value = layout.pad(value, [(0, more if i == axis else 0) for i in rank])
    return value


def never_negative(value) -> bool:
    return all(number >= 0 for (number,) in _at_many_sizes(value))


def are_possible(extents: set, known: set) -> bool:
    """Whether arrays with these extents (texts) are there at all sizes at which those that are known are."""
    return all(number >= 0 for numbers in _at_many_sizes(*extents, known=known) for number in numbers)


def _at_many_sizes(*values, taken=False, known=None, where=()):
    """Over sizes of all magnitudes for which no array has a negative extent (or none that is known), at both ends of the
    loops and between; `where`: of which these facts hold."""
    guards = [(one.guard, one.symbol) for one in GRAPH.passes if one.guard] if taken else []
    conditions = [f"{text(room)} >= 0" for guard, symbol in guards for room in guard.rooms(symbol)]
    held = [*where, *(fact for fork in GRAPH.forks if taken for fact in fork.facts)]
    conditions += [f"({fact}) {operator} 0" for fact, operator in held]
    facts = [_compiled(fact) for fact in conditions]
    draw = random.Random(1)
    compiled = [_compiled(value if isinstance(value, str) else text(value)) for value in values]
    counts = [(one.name, _compiled(text(one.count))) for one in GRAPH.passes]
    extents = [_compiled(source) for source in sorted(GRAPH.extents if known is None else known) if not source.isdigit()]
    for trial in range(TRIALS):
        sizes = _Sizes(draw, trial)
        if not _take_steps(sizes, counts, draw, trial) or any(eval(one, FUNCTIONS, sizes) < 0 for one in extents):
            continue
        if all(eval(one, FUNCTIONS, sizes) for one in facts):
            yield [eval(one, FUNCTIONS, sizes) for one in compiled]


def _compiled(source: str):
    return compile(source, "<extent>", "eval")


def _take_steps(values, counts, draw, trial: int) -> bool:
    for name, count in counts:
        number = eval(count, FUNCTIONS, values)
        if number < 1:
            return False
        values[name] = (0, number - 1, draw.randrange(number))[trial % 3]
    return True


class _Sizes(dict):
    """A size for each symbol that is asked for."""

    def __init__(self, draw, trial: int):
        super().__init__()
        self.draw, self.most = draw, 10 ** (1 + trial % 6)

    def __missing__(self, name):
        if name in ("min", "max"):
            raise KeyError(name)
        self[name] = self.draw.randint(1, self.most if self.draw.random() < 0.8 else 4)
        return self[name]
