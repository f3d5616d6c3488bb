"""Parts of arrays whose extent changes with the step of a loop: x[:t + 1], x[max(0, t - 3):t + 1].

Such a part is a whole array and, for each axis that is cut, where the part lies in it. Elements are computed for the
whole array; reductions and products leave out those that are not of the part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import (
    GRAPH,
    Traced,
    axes_of,
    axis_of,
    broadcast_to,
    is_one,
    lift,
    number,
    pointwise,
    reduce,
    show,
    transpose,
)
from strop.trace_dims import EXTREMA, SymInt, Untraceable, extremum, is_int, looks_negative, same, steps_in, text, with_step

REFUSAL = "an extent that changes with each step"


class Span(NamedTuple):
    """Of the whole array's axis: the part's first place, and how many elements it has."""

    begin: Any
    count: Any

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
    T = property(lambda self: transposed(self, tuple(reversed(range(self.ndim)))))

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
    for name in "lt le gt ge eq ne neg abs invert pos round".split():
        if name in ("neg", "abs", "invert"):
            op = {"neg": "negative", "abs": "absolute", "invert": "invert"}[name]
            setattr(Ragged, f"__{name}__", lambda self, op=op: _called(op, self))
        elif name in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(Ragged, f"__{name}__", getattr(Traced, f"__{name}__"))


def _called(name, *arguments):
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
    from strop.trace_places import is_inside

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
    window = _window(_free(raw_begin, 0), _free(raw_end, extent), extent, count) if windows else None
    return window or Cut((0, 0), 0, extent, Span(begin, count))


def _clipped(bound, extent):
    return extremum("max", [0, extremum("min", [bound, extent])])


def _is_ordered(begin, end) -> bool:
    """Whether a part never begins behind its end."""
    from strop.trace_places import never_negative

    return never_negative(end - begin)


def _free(bound, end):
    """t - 3 of max(0, t - 3)."""
    known = EXTREMA.get(text(bound)) if isinstance(bound, SymInt) else None
    if known is None or not any(same(value, end) for value in known):
        return bound
    return next(value for value in known if not same(value, end))


def _window(begin, end, extent, count) -> Cut | None:
    """A part of so many elements but where an end of the array cuts it off: a window over the padded array."""
    from strop.trace_places import never_negative

    width = end - begin
    if not is_int(width) or width < 1:
        return None
    (name,) = steps_in(begin) if len(steps_in(begin)) == 1 else (None,)
    if name is None:
        return None
    ends = [with_step(begin, name, step) for step in (0, SymInt.steps[name].count - 1)]
    if None in ends:
        return None
    left = max(0, *(-bound for bound in ends if is_int(bound)), 0)
    lacks = [bound + width - extent for bound in ends]
    right = max(0, *(lack for lack in lacks if is_int(lack)), 0)
    if not never_negative(begin + left) or not never_negative(extent + right - begin - width):
        return None
    return Cut((left, right), begin + left, begin + left + width, Span(extremum("max", [0, -begin]), count))


def cut_out(value: Traced, whole: Traced, cuts: dict[int, Cut], places: dict[int, int]) -> Ragged:
    """`whole`: the bounds of the cuts, of `value`; `places`: axis of `value` -> axis of `whole`."""
    spans = {places[axis] - whole.ndim: cut.span for axis, cut in cuts.items()}
    return Ragged(whole, spans, view_of=value)


def part_of(value: Ragged, key) -> Traced | Ragged:
    whole = value.current()
    entries: list = []
    kept: list = []  # of each axis of the result: its span, or None
    axis = -value.ndim
    for entry in layout.expand_key(key, value.ndim):
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
    result = layout.getitem(whole, tuple(entries))
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


def _taken(whole: Traced, axis: int, index: Traced) -> Traced:
    """Where the index is out of bounds, something."""
    last = whole.shape[axis] - 1
    return layout.take(whole, pointwise("maximum", pointwise("minimum", index, last), 0), axis)


def _from_its_front(whole: Traced, axis: int, span: Span, width) -> Traced:
    """An array of this extent that begins where the part does."""
    extent = whole.shape[axis]
    if same(span.begin, 0) and same(width, extent):
        return whole
    if not steps_in(span.begin) and is_int(extent - width) and same(extent - width - span.begin, 0):
        return layout.part(whole, axis + whole.ndim, span.begin, extent)
    if same(span.begin, 0) and is_int(extent - width) and extent - width > 0:
        return layout.part(whole, axis + whole.ndim, 0, width)
    return _taken(whole, axis, pointwise("add", layout.arange(width), span.begin))


def _reversed(whole: Traced, axis: int, span: Span) -> tuple[Traced, Span]:
    index = pointwise("subtract", span.begin + span.count - 1, layout.arange(whole.shape[axis]))
    return _taken(whole, axis, index), Span(0, span.count)


def _aligned(values: list[Ragged], places: list[dict[int, int]]) -> tuple[list[Traced], dict[int, Span]]:
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
            wholes[k] = _from_its_front(wholes[k], axis, span, width)
        spans[common] = Span(0, all_spans[0].count)
    return wholes, spans


def _belongs(whole: Traced, spans: dict[int, Span]) -> Traced:
    """Which elements of the whole array are of the part."""
    result = None
    for axis, span in sorted(spans.items()):
        index = layout.reshape(layout.arange(whole.shape[axis]), (whole.shape[axis],) + (1,) * (-axis - 1))
        belongs = pointwise("less", index, span.begin + span.count)
        if not same(span.begin, 0):
            belongs = pointwise("logical_and", belongs, pointwise("greater_equal", index, span.begin))
        result = belongs if result is None else pointwise("logical_and", result, belongs)
    assert result is not None
    return result


def _filled(whole: Traced, spans: dict[int, Span], fill) -> Traced:
    """With `fill` where the whole array is not of the part."""
    return pointwise("where", _belongs(whole, spans), whole, fill) if spans else whole


# ---- functions -------------------------------------------------------------------------------------------

# Each element by itself.
ELEMENTWISE = set(
    """abs absolute add astype bitwise_and bitwise_or bitwise_xor cbrt ceil clip copy copysign cos cosh divide equal exp
    exp2 expm1 fabs float_power floor floor_divide fmod greater greater_equal heaviside hypot invert isfinite isinf isnan
    left_shift less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum
    minimum mod multiply nan_to_num negative not_equal ones_like positive power reciprocal remainder right_shift rint
    round sign signbit sin sinc sinh special.erf special.erfc special.expit special.gammaln sqrt square subtract tan tanh
    arctan arctan2 arcsin arccos arcsinh arccosh arctanh true_divide trunc where zeros_like""".split()
)


def is_ragged(arguments) -> bool:
    return any(
        isinstance(one, Ragged) or (isinstance(one, (list, tuple)) and is_ragged(one)) for one in arguments
    )


def call_ragged(name: str, arguments, options):
    from strop.trace_calls import HANDLERS

    if name in ("asarray", "asanyarray", "ascontiguousarray") and len(arguments) == 1 and not options:
        return arguments[0]
    if name in ELEMENTWISE:
        return _elementwise(HANDLERS[name], arguments, options)
    if name in FUNCTIONS:
        return FUNCTIONS[name](*arguments, **options)
    if name in NEUTRAL:
        return _reduction(name, *arguments, **options)
    if name in ("cumsum", "cumprod", "maximum.accumulate", "minimum.accumulate"):
        return _scan(name, *arguments, **options)
    raise Untraceable(REFUSAL)


def _elementwise(function, arguments, options):
    ragged = [value for value in arguments if isinstance(value, Ragged)]
    wholes, spans = _aligned(ragged, [{axis: axis for axis in value.spans} for value in ragged])
    for value in arguments:
        if isinstance(value, (list, tuple)):
            raise Untraceable(REFUSAL)
        shape = value.shape if hasattr(value, "shape") else ()
        for axis in spans:
            cut = isinstance(value, Ragged) and axis in value.spans
            if not cut and len(shape) >= -axis and not is_one(shape[axis]):
                raise Untraceable(REFUSAL)
    found = iter(wholes)
    result = function(*(next(found) if isinstance(value, Ragged) else value for value in arguments), **options)
    return tuple(Ragged(one, spans) for one in result) if isinstance(result, tuple) else Ragged(result, spans)


def _least(dtype):
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def _most(dtype):
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


# What leaves the result as it is, by the dtype.
NEUTRAL: dict = {
    **dict.fromkeys(["sum", "add.reduce"], lambda dtype: False if dtype.kind == "b" else 0),
    **dict.fromkeys(["prod", "multiply.reduce"], lambda dtype: dtype.kind == "b" or 1),
    **dict.fromkeys(["max", "amax", "maximum.reduce", "argmax"], _least),
    **dict.fromkeys(["min", "amin", "minimum.reduce", "argmin"], _most),
    "any": lambda dtype: False,
    "all": lambda dtype: True,
}


def _reduction(name: str, value: Ragged, axis=None, **options):
    from strop.trace_calls import HANDLERS

    axis = 0 if axis is None and "." in name else axis
    axes = axes_of(axis, value.ndim)
    whole, spans = value.current(), dict(value.spans)
    over = [one - value.ndim for one in axes if one - value.ndim in spans]
    if name.startswith("arg"):
        if len(axes) > 1:
            raise Untraceable(REFUSAL)
        for one in over:  # of elements that are all the least, the first
            whole = _from_its_front(whole, one, spans[one], whole.shape[one])
            spans[one] = Span(0, spans[one].count)
    whole = _filled(whole, {one: spans[one] for one in over}, NEUTRAL[name](whole.dtype))
    result = HANDLERS[name](whole, axis=axes[0] if len(axes) == 1 else axes, **options)
    right = 0 if options.get("keepdims") else None
    left = {
        one + (sum(other - value.ndim > one for other in axes) if right is None else right): span
        for one, span in spans.items()
        if one not in over
    }
    return Ragged(result, left) if left else result


def _elements(value: Ragged, axis):
    shape = value.shape
    result = 1
    for one in axes_of(axis, value.ndim):
        result = result * shape[one]
    return result


def _mean(value: Ragged, axis=None, dtype=None, keepdims=False):
    total = _reduction("sum", value, axis, keepdims=keepdims, dtype=dtype)
    return total / _elements(value, axis)


def _variance(value: Ragged, axis=None, dtype=None, ddof=0, keepdims=False):
    centred = value - _mean(value, axis, dtype, True)
    return _reduction("sum", centred * centred, axis, keepdims=keepdims) / (_elements(value, axis) - ddof)


def _norm(value: Ragged, ord=None, axis=None, keepdims=False):  # noqa: A002
    if ord not in (None, 2) or (ord == 2 and axis is None and value.ndim > 1):
        raise Untraceable(REFUSAL)
    return _called("sqrt", _reduction("sum", value * value, axis, keepdims=keepdims))


def _average(value: Ragged, axis=None, weights=None):
    if weights is None:
        return _mean(value, axis)
    if not isinstance(weights, Ragged) or weights.ndim != value.ndim:
        raise Untraceable(REFUSAL)
    return _reduction("sum", value * weights, axis) / _reduction("sum", weights, axis)


def _softmax(value: Ragged, axis=None):
    powers = _called("exp", value - _reduction("max", value, axis, keepdims=True))
    return powers / _reduction("sum", powers, axis, keepdims=True)


def _logsumexp(value: Ragged, axis=None, keepdims=False):
    most = _reduction("max", value, axis, keepdims=True)
    total = _reduction("sum", _called("exp", value - most), axis, keepdims=keepdims)
    return _called("log", total) + (most if keepdims else _reduction("max", value, axis))


def _scan(name: str, value: Ragged, axis=None, **options):
    from strop.trace_calls import HANDLERS

    if axis is None and value.ndim > 1 and "." not in name:
        raise Untraceable(REFUSAL)
    at = axis_of(0 if axis is None else axis, value.ndim) - value.ndim
    whole, spans = value.current(), dict(value.spans)
    if at in spans:
        whole = _from_its_front(whole, at, spans[at], whole.shape[at])
        spans[at] = Span(0, spans[at].count)
    return Ragged(HANDLERS[name](whole, axis=at, **options), spans)


def transposed(value: Ragged, axes=None) -> Ragged:
    axes = tuple(reversed(range(value.ndim))) if axes is None else [axis_of(axis, value.ndim) for axis in axes]
    spans = {axes.index(axis + value.ndim) - value.ndim: span for axis, span in value.spans.items()}
    return Ragged(transpose(value.current(), axes), spans)


def _swapped(value: Ragged, first, second) -> Ragged:
    axes = list(range(value.ndim))
    first, second = axis_of(first, value.ndim), axis_of(second, value.ndim)
    axes[first], axes[second] = second, first
    return transposed(value, tuple(axes))


def _flipped(value: Ragged, axis=None):
    axes = axes_of(axis, value.ndim)
    return part_of(value, tuple(slice(None, None, -1) if one in axes else slice(None) for one in range(value.ndim)))


# ---- products --------------------------------------------------------------------------------------------


def _contract(a, b, a_labels: str, b_labels: str, result: str):
    from strop.trace_contraction import contract

    operands = [(value if isinstance(value, Ragged) else lift(value), labels)
                for value, labels in ((a, a_labels), (b, b_labels))]
    label_of = sorted(set(a_labels + b_labels))
    ragged = [(value, labels) for value, labels in operands if isinstance(value, Ragged)]
    places = [{axis: label_of.index(labels[axis]) for axis in value.spans} for value, labels in ragged]
    wholes, spans = _aligned([value for value, _ in ragged], places)
    found = iter(zip(wholes, places))
    ready = []
    for value, labels in operands:
        whole, cut = next(found) if isinstance(value, Ragged) else (value, {})
        for axis, label in enumerate(labels, -len(labels)):
            if label_of.index(label) in spans and axis not in cut and not is_one(whole.shape[axis]):
                raise Untraceable(REFUSAL)
        summed = {axis: spans[place] for axis, place in cut.items() if label_of[place] not in result}
        ready.append(_filled(whole, summed, False if whole.dtype.kind == "b" else 0))
    made = contract(*ready, a_labels, b_labels, result)
    left = {result.index(label_of[p]) - len(result): span for p, span in spans.items() if label_of[p] in result}
    return Ragged(made, left) if left else made


def _matmul(a, b, dtype=None):
    ranks = [len(value.shape) for value in (a, b)]
    if not all(ranks) or dtype is not None:
        raise Untraceable(REFUSAL)
    batch = "abcdefgh"[: max(*ranks, 2) - 2]
    a_labels, b_labels = (
        vector if rank == 1 else batch[len(batch) - (rank - 2) :] + matrix
        for rank, matrix, vector in zip(ranks, ("mk", "kn"), ("k", "k"))
    )
    return _contract(a, b, a_labels, b_labels, batch + "m" * (ranks[0] > 1) + "n" * (ranks[1] > 1))


def _dot(a, b):
    if not hasattr(a, "shape") or not hasattr(b, "shape") or not a.shape or not b.shape:
        return a * b
    if max(len(a.shape), len(b.shape)) > 2:
        raise Untraceable(REFUSAL)
    return _matmul(a, b)


def _inner(a, b):
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise Untraceable(REFUSAL)
    return _contract(a, b, "k", "k", "")


def _outer(a, b):
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise Untraceable(REFUSAL)
    return _contract(a, b, "m", "n", "mn")


def _einsum(subscripts, *operands):
    left, arrow, result = subscripts.replace(" ", "").partition("->")
    labels = left.split(",")
    simple = all(len(set(one)) == len(one) for one in labels) and arrow and "." not in left
    if len(operands) != 2 or len(labels) != 2 or not simple:
        raise Untraceable(REFUSAL)
    return _contract(*operands, *labels, result)


FUNCTIONS: dict = {
    "mean": _mean,
    "var": _variance,
    "std": lambda *arguments, **options: _called("sqrt", _variance(*arguments, **options)),
    "average": _average,
    "linalg.norm": _norm,
    "ptp": lambda value, axis=None: _reduction("max", value, axis) - _reduction("min", value, axis),
    "count_nonzero": lambda value, axis=None, keepdims=False: _reduction(
        "sum", value != 0, axis, keepdims=keepdims
    ),
    "special.softmax": _softmax,
    "special.logsumexp": _logsumexp,
    "transpose": transposed,
    "swapaxes": _swapped,
    "flip": _flipped,
    "expand_dims": lambda value, axis: part_of(
        value, tuple(None if one == axis % (value.ndim + 1) else slice(None) for one in range(value.ndim + 1))
    ),
    "matmul": _matmul,
    "dot": _dot,
    "vdot": _inner,
    "inner": _inner,
    "outer": _outer,
    "einsum": _einsum,
}


# ---- assignment ------------------------------------------------------------------------------------------


def assign(target: Traced, key: list, cuts: dict[int, Span], value):
    """target[key] = value, where the key's slices of these axes have an extent that changes with the step."""
    wide = tuple(slice(None) if axis in cuts else entry for axis, entry in enumerate(key))
    old = layout.getitem(target, wide)
    kept = [axis for axis, entry in enumerate(wide) if isinstance(entry, slice)]
    spans = {kept.index(axis) - len(kept): span for axis, span in cuts.items()}
    new = _at_places(value, old, spans)
    layout.setitem(target, wide, pointwise("where", _belongs(old, spans), new, old))


def _at_places(value, old: Traced, spans: dict[int, Span]) -> Traced:
    """What is to lie in the places of `old`."""
    if not isinstance(value, Ragged):
        value = lift(value)
        if any(value.ndim >= -axis and not is_one(value.shape[axis]) for axis in spans):
            raise Untraceable(REFUSAL)
        return value
    whole = value.current()
    if set(value.spans) - set(spans):
        raise Untraceable(REFUSAL)
    for axis, span in spans.items():
        own = value.spans.get(axis)
        if own is None and (value.ndim < -axis or is_one(whole.shape[axis])):
            continue
        if own is None or not same(own.count, span.count):
            raise Untraceable(REFUSAL)
        if same(own.begin, span.begin) and same(whole.shape[axis], old.shape[axis]):
            continue
        index = pointwise("add", layout.arange(old.shape[axis]), own.begin - span.begin)
        whole = _taken(whole, axis, index)
    return whole
