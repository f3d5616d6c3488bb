"""What holds at which sizes: bounds of slices that Python would cut off, extents that are equal where a branch is taken.

An expression over dimensions is tried at many sizes, drawn once: those that the problem's shapes and its range allow,
and of them those that take the branches which are open.
"""

from __future__ import annotations

import random

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, product
from strop.trace_dims import (
    EXTREMA,
    StepUndecided,
    SymInt,
    blame,
    extremum,
    from_text,
    is_int,
    looks_negative,
    same,
    steps_in,
    terms_of,
    text,
)
from strop.trace_pieces import known


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
