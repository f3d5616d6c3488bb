"""Parts of arrays whose extent changes with the step of a loop: x[:t + 1], x[max(0, t - 3):t + 1].

Such a part is a whole array and, for each axis that is cut, where the part lies in it. Elements are computed for the
whole array; reductions and products leave out those that are not of the part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from strop import trace_layout as layout
from strop.trace_array import Traced, broadcast_to, is_one, lift, pointwise
from strop.trace_dims import EXTREMA, SymInt, Untraceable, extremum, is_int, looks_negative, same, steps_in, text, with_step
from strop.trace_indexing import expand_key, getitem
from strop.trace_sizes import is_inside, never_negative

REFUSAL = "an extent that changes with each step"


class Span(NamedTuple):
    """Of the whole array's axis: the part's first place, and how many elements it has. Where they are known, bounds that
    say the same of places in the whole array, but may lie outside of it: they need no min() and max()."""

    begin: Any
    count: Any
    low: Any = None
    high: Any = None

    def same_as(self, other: Span) -> bool:
        return same(self.begin, other.begin) and same(self.count, other.count)


class Ragged:
    """`spans`: by axis of the whole array, counted from the last one: -1, -2."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, whole: Traced, spans: dict[int, Span], view_of: Traced | None = None):
        self.whole, self.spans = whole, spans
        self._storage = view_of._storage if view_of is not None else None  # of the array that it is a view of
        self._version = self._storage.version if self._storage is not None else 0
        self.key = None  # of that array

    dtype = property(lambda self: self.whole.dtype)
    ndim = property(lambda self: self.whole.ndim)
    shape = property(
        lambda self: tuple(
            self.spans[axis].count if axis in self.spans else self.whole.shape[axis] for axis in range(-self.ndim, 0)
        )
    )
    T = property(lambda self: called("transpose", self))

    @property
    def size(self):
        result = 1
        for extent in self.shape:
            result = result * extent
        return result

    def length(self):
        return self.shape[0]

    def current(self) -> Traced:
        if self._storage is not None and self._version != self._storage.version:
            raise Untraceable("an array is changed through another view of it")
        return self.whole

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return self.whole.__array_ufunc__(ufunc, method, *inputs, **options)

    def __array_function__(self, function, types, arguments, options):
        return self.whole.__array_function__(function, types, arguments, options)

    def __bool__(self):
        raise Untraceable("control flow depends on the values of an array")

    def _refused(self, *_, **__):
        raise Untraceable(REFUSAL)

    __array__ = __iter__ = __len__ = __index__ = __float__ = __int__ = __setitem__ = __contains__ = _refused

    def __getitem__(self, key):
        return part_of(self, key)

    def __getattr__(self, name):
        from strop.trace_calls import METHODS, call

        if name in METHODS:
            return lambda *arguments, **options: call(METHODS[name], (self, *arguments), options)
        raise Untraceable(REFUSAL)

    def changed_in_place(self, result):
        """As x[:t] += 1, which stores the view where it came from."""
        if not isinstance(result, Ragged) or result.ndim != self.ndim or result.dtype != self.dtype:
            raise Untraceable(REFUSAL)
        if self._storage is not None:
            self._storage.version += 1
            self._version = self._storage.version
        self.whole, self.spans = result.whole, result.spans
        return self


def _add_operators():
    def in_place(name):
        return lambda self, other: self.changed_in_place(getattr(self, name)(other))

    for name in "add sub mul truediv pow floordiv mod matmul and or xor lshift rshift".split():
        for method in (f"__{name}__", f"__r{name}__"):
            setattr(Ragged, method, getattr(Traced, method))
        setattr(Ragged, f"__i{name}__", in_place(f"__{name}__"))
    for name in "lt le gt ge eq ne".split():
        setattr(Ragged, f"__{name}__", getattr(Traced, f"__{name}__"))
    for name, op in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
        setattr(Ragged, f"__{name}__", lambda self, op=op: called(op, self))


def called(name, *arguments):
    from strop.trace_calls import call

    return call(name, arguments, {})


_add_operators()


# ---- where a part lies ------------------------------------------------------------------------------


class Cut(NamedTuple):
    """A slice whose extent changes: the padding (before, behind) that its whole axis needs, the whole's bounds then."""

    padding: tuple[int, int]
    begin: Any
    end: Any
    span: Span


def cut_of(entry: slice, extent, windows=True) -> Cut | None:
    """None: it has the same extent in each step. Without `windows` the whole is the array."""
    if not steps_in(entry.start) and not steps_in(entry.stop):
        return None
    bounds = []
    inside = True
    for value, default in ((entry.start, 0), (entry.stop, extent)):
        kept = value is None or is_inside(value, extent)
        inside = inside and kept
        bound = default if value is None else extent + value if looks_negative(value) else value
        bounds.append((bound, bound if kept else _clipped(bound, extent)))
    (raw_begin, begin), (raw_end, end) = bounds
    if inside and not steps_in(end - begin):
        return None
    count = end - begin if _is_ordered(begin, end) else extremum("max", [0, end - begin])
    low, high = _free(raw_begin, 0), _free(raw_end, extent)
    window = _window(low, high, extent, count) if windows else None
    return window or Cut((0, 0), 0, extent, Span(begin, count, low, high))


def _clipped(bound, extent):
    return extremum("max", [0, extremum("min", [bound, extent])])


def _is_ordered(begin, end) -> bool:
    """Whether a part never begins behind its end."""
    return never_negative(end - begin)


def _free(bound, end):
    """t - 3 of max(0, t - 3)."""
    known = EXTREMA.get(text(bound)) if isinstance(bound, SymInt) else None
    if known is None or not any(same(value, end) for value in known):
        return bound
    return next(value for value in known if not same(value, end))


def _least_padding(lacks: list, width: int, room) -> int | None:
    """By which there is always room. `lacks`: in the first and in the last step, as far as they are known."""
    tried = sorted({0, width - 1, *(lack for lack in lacks if is_int(lack) and lack > 0)})
    return next((padding for padding in tried if never_negative(room + padding)), None)


def _window(begin, end, extent, count) -> Cut | None:
    """A part of so many elements but where an end of the array cuts it off: a window over the padded array."""
    width = end - begin
    if not is_int(width) or width < 1:
        return None
    names = steps_in(begin)
    if len(names) != 1:
        return None
    name = names[0]
    ends = [with_step(begin, name, step) for step in (0, SymInt.steps[name].count - 1)]
    if None in ends:
        return None
    left = _least_padding([-bound for bound in ends], width, begin)
    right = _least_padding([bound + width - extent for bound in ends], width, extent - begin - width)
    if left is None or right is None:
        return None
    span = Span(extremum("max", [0, -begin]), count, -begin, extent - begin)
    return Cut((left, right), begin + left, begin + left + width, span)


def cut_out(value: Traced, whole: Traced, cuts: dict[int, Cut], places: dict[int, int]) -> Ragged:
    """`whole`: the bounds of the cuts, of `value`; `places`: axis of `value` -> axis of `whole`."""
    spans = {places[axis] - whole.ndim: cut.span for axis, cut in cuts.items()}
    return Ragged(whole, spans, view_of=value)


def part_of(value: Ragged, key) -> Traced | Ragged:
    whole = value.current()
    entries: list = []
    kept: list = []  # of each axis of the result: its span, or None
    axis = -value.ndim
    for entry in expand_key(key, value.ndim):
        if entry is None:
            entries.append(None)
            kept.append(None)
            continue
        span = value.spans.get(axis)
        if span is not None and isinstance(entry, slice) and entry.step == -1 and entry == slice(None, None, -1):
            whole, span, entry = *_reversed(whole, axis, span), slice(None)
        if span is None:
            entries.append(entry)
        elif isinstance(entry, slice) and is_one(1 if entry.step is None else entry.step):
            span = _within(span, entry)
            entries.append(slice(None))
        elif layout.is_extent(entry):
            entries.append(span.begin + entry + (span.count if looks_negative(entry) else 0))
        else:
            raise Untraceable(REFUSAL)
        if not layout.is_extent(entry):
            kept.append(span)
        axis += 1
    result = getitem(whole, tuple(entries))
    spans = {place - len(kept): span for place, span in enumerate(kept) if span is not None}
    if not spans:
        return result
    if result.ndim != len(kept):
        raise Untraceable(REFUSAL)
    return Ragged(result, spans)


def _within(span: Span, entry: slice) -> Span:
    def place(bound, default):
        if bound is None:
            return default
        if looks_negative(bound):
            return extremum("max", [0, span.count + bound])
        return extremum("min", [bound, span.count])

    if entry.start is None and entry.stop is None:
        return span
    begin, end = place(entry.start, 0), place(entry.stop, span.count)
    return Span(span.begin + begin, end - begin if same(begin, 0) else extremum("max", [0, end - begin]))


# ---- the same places in several arrays ------------------------------------------------------------------


def taken(whole: Traced, axis: int, index: Traced) -> Traced:
    """Where the index is out of bounds, something."""
    last = whole.shape[axis] - 1
    return layout.take(whole, pointwise("maximum", pointwise("minimum", index, last), 0), axis)


def from_its_front(whole: Traced, axis: int, span: Span, width) -> Traced:
    """An array of this extent that begins where the part does."""
    extent = whole.shape[axis]
    if same(span.begin, 0) and same(width, extent):
        return whole
    if not steps_in(span.begin) and is_int(extent - width) and same(extent - width - span.begin, 0):
        return layout.part(whole, axis + whole.ndim, span.begin, extent)
    if same(span.begin, 0) and is_int(extent - width) and extent - width > 0:
        return layout.part(whole, axis + whole.ndim, 0, width)
    return taken(whole, axis, pointwise("add", layout.arange(width), span.begin))


def _reversed(whole: Traced, axis: int, span: Span) -> tuple[Traced, Span]:
    index = pointwise("subtract", span.begin + span.count - 1, layout.arange(whole.shape[axis]))
    return taken(whole, axis, index), Span(0, span.count)


def aligned(values: list[Ragged], places: list[dict[int, int]]) -> tuple[list[Traced], dict[int, Span]]:
    """`places`: of each value, the common axis for each axis of it that is cut. The whole arrays, whose parts then lie
    at the same places, and the spans of the common axes."""
    wholes = [value.current() for value in values]
    spans: dict[int, Span] = {}
    for common in sorted({axis for one in places for axis in one.values()}):
        cut = [(k, axis) for k, one in enumerate(places) for axis, place in one.items() if place == common]
        all_spans = [values[k].spans[axis] for k, axis in cut]
        widths = [wholes[k].shape[axis] for k, axis in cut]
        spans[common] = all_spans[0]
        if all(span.same_as(all_spans[0]) for span in all_spans) and all(same(w, widths[0]) for w in widths):
            continue
        width = widths[0]
        for other in widths[1:]:
            width = other if is_int(width - other) and width - other > 0 else width
        for (k, axis), span in zip(cut, all_spans):
            wholes[k] = from_its_front(wholes[k], axis, span, width)
        spans[common] = Span(0, all_spans[0].count)
    return wholes, spans


def belongs(whole: Traced, spans: dict[int, Span]) -> Traced:
    """Which elements of the whole array are of the part."""
    conditions = []
    for axis, span in sorted(spans.items()):
        extent = whole.shape[axis]
        index = layout.places_along(extent, -axis - 1)
        low, high = (span.low, span.high) if span.low is not None else (span.begin, span.begin + span.count)
        if not never_negative(high - extent):
            conditions.append(pointwise("less", index, high))
        if not never_negative(-low):
            conditions.append(pointwise("greater_equal", index, low))
    if not conditions:
        return broadcast_to(lift(True), (1,) * whole.ndim)
    return layout.all_of(conditions)


def filled(whole: Traced, spans: dict[int, Span], fill) -> Traced:
    """With `fill` where the whole array is not of the part."""
    return pointwise("where", belongs(whole, spans), whole, fill) if spans else whole
