"""Functions of parts of arrays whose extent changes with the step of a loop (trace_ragged), and assignment to them."""

from __future__ import annotations

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import Traced, axes_of, axis_of, is_one, lift, pointwise, transpose
from strop.trace_dims import SymInt, Untraceable, same, steps_in, with_step
from strop.trace_indexing import getitem, setitem
from strop.trace_places import with_something
from strop.trace_sizes import never_negative
from strop.trace_ragged import REFUSAL, Ragged, Span, aligned, belongs, called, filled, from_its_front, part_of, taken


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


def makes_ragged(name: str, arguments) -> bool:
    """np.arange(t), np.zeros(t)"""
    return bool(name in MAKERS and arguments and any(steps_in(one) for one in arguments[:2]))


def call_ragged(name: str, arguments, options):
    from strop.trace_calls import HANDLERS

    if name in MAKERS and not is_ragged(arguments):
        return _made(name, arguments, options)
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


MAKERS = ("arange", "zeros", "ones", "full", "empty")


def _made(name: str, arguments, options) -> Ragged:
    from strop.trace_calls import HANDLERS

    if name == "arange":
        if len(arguments) > 2:
            raise Untraceable(REFUSAL)
        begin, end = (0, *arguments) if len(arguments) == 1 else arguments
        return Ragged(pointwise("add", layout.arange(_most_of(end - begin), **options), begin), {-1: Span(0, end - begin)})
    return Ragged(HANDLERS[name](_most_of(arguments[0]), *arguments[1:], **options), {-1: Span(0, arguments[0])})


def _most_of(count):
    """Over all steps."""
    for name in steps_in(count):
        ends = [with_step(count, name, step) for step in (0, SymInt.steps[name].count - 1)]
        if None in ends:
            raise Untraceable(REFUSAL)
        count = ends[0] if never_negative(ends[0] - ends[1]) else ends[1]
        if not all(never_negative(count - end) for end in ends):
            raise Untraceable(REFUSAL)
    return count


def _joined(values, axis=0):
    """One behind the other: elements are read from the one that they belong to."""
    values = [value if isinstance(value, Ragged) else lift(value) for value in values]
    at = axis_of(axis, len(values[0].shape)) - len(values[0].shape)
    if any(isinstance(value, Ragged) and set(value.spans) != {at} for value in values):
        raise Untraceable(REFUSAL)
    total, width = 0, 0
    for value in values:
        total = total + value.shape[at]
        width = width + (value.current() if isinstance(value, Ragged) else value).shape[at]
    fixed = not steps_in(total)
    width = total if fixed else width
    place = layout.arange(width)
    result, before = None, 0
    for value in values:
        whole, begin = (value.current(), value.spans[at].begin) if isinstance(value, Ragged) else (value, 0)
        found = taken(whole, at, pointwise("add", place, begin - before))
        behind = layout.reshape(pointwise("less", place, before), (width,) + (1,) * (-at - 1))
        result = found if result is None else pointwise("where", behind, result, found)
        before = before + value.shape[at]
    assert result is not None
    return result if fixed else Ragged(result, {at: Span(0, total)})


def _elementwise(function, arguments, options):
    ragged = [value for value in arguments if isinstance(value, Ragged)]
    wholes, spans = aligned(ragged, [{axis: axis for axis in value.spans} for value in ragged])
    for value in arguments:
        if isinstance(value, (list, tuple)):
            raise Untraceable(REFUSAL)
        shape = value.shape if isinstance(value, (Traced, Ragged, np.ndarray)) else ()
        for axis in spans:
            cut = isinstance(value, Ragged) and axis in value.spans
            if not cut and len(shape) >= -axis and not is_one(shape[axis]):
                raise Untraceable(REFUSAL)
    found = iter(wholes)
    result = function(*(next(found) if isinstance(value, Ragged) else value for value in arguments), **options)
    return tuple(Ragged(one, spans) for one in result) if isinstance(result, tuple) else Ragged(result, spans)


LARGEST = 2**62  # which float64 holds, as constants of the graph are


def _least(dtype):
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else max(int(np.iinfo(dtype).min), -LARGEST)


def _most(dtype):
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else min(int(np.iinfo(dtype).max), LARGEST)


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
            whole = from_its_front(whole, one, spans[one], whole.shape[one])
            spans[one] = Span(0, spans[one].count)
    whole = filled(whole, {one: spans[one] for one in over}, NEUTRAL[name](whole.dtype))
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
    centred = called("subtract", value, _mean(value, axis, dtype, True))
    return _reduction("sum", called("square", centred), axis, keepdims=keepdims) / (_elements(value, axis) - ddof)


def _norm(value: Ragged, ord=None, axis=None, keepdims=False):  # noqa: A002
    if ord not in (None, 2) or (ord == 2 and axis is None and value.ndim > 1):
        raise Untraceable(REFUSAL)
    return called("sqrt", _reduction("sum", called("square", value), axis, keepdims=keepdims))


def _average(value: Ragged, axis=None, weights=None):
    if weights is None:
        return _mean(value, axis)
    if not isinstance(weights, Ragged) or weights.ndim != value.ndim:
        raise Untraceable(REFUSAL)
    return _reduction("sum", called("multiply", value, weights), axis) / _reduction("sum", weights, axis)


def _softmax(value: Ragged, axis=None):
    powers = called("exp", called("subtract", value, _reduction("max", value, axis, keepdims=True)))
    return powers / _reduction("sum", powers, axis, keepdims=True)


def _logsumexp(value: Ragged, axis=None, keepdims=False):
    most = _reduction("max", value, axis, keepdims=True)
    total = _reduction("sum", called("exp", called("subtract", value, most)), axis, keepdims=keepdims)
    return called("log", total) + (most if keepdims else _reduction("max", value, axis))


def _scan(name: str, value: Ragged, axis=None, **options):
    from strop.trace_calls import HANDLERS

    if axis is None and value.ndim > 1 and "." not in name:
        raise Untraceable(REFUSAL)
    at = axis_of(0 if axis is None else axis, value.ndim) - value.ndim
    whole, spans = value.current(), dict(value.spans)
    if at in spans:
        whole = from_its_front(whole, at, spans[at], whole.shape[at])
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
    wholes, spans = aligned([value for value, _ in ragged], places)
    found = iter(zip(wholes, places))
    ready = []
    for value, labels in operands:
        whole, cut = next(found) if isinstance(value, Ragged) else (value, {})
        for axis, label in enumerate(labels, -len(labels)):
            if label_of.index(label) in spans and axis not in cut and not is_one(whole.shape[axis]):
                raise Untraceable(REFUSAL)
        summed = {axis: spans[place] for axis, place in cut.items() if label_of[place] not in result}
        ready.append(filled(whole, summed, False if whole.dtype.kind == "b" else 0))
    made = contract(ready[0], ready[1], a_labels, b_labels, result)
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
    "std": lambda *arguments, **options: called("sqrt", _variance(*arguments, **options)),
    "average": _average,
    "linalg.norm": _norm,
    "ptp": lambda value, axis=None: _reduction("max", value, axis) - _reduction("min", value, axis),
    "count_nonzero": lambda value, axis=None, keepdims=False: _reduction(
        "sum", value != 0, axis, keepdims=keepdims
    ),
    "special.softmax": _softmax,
    "special.logsumexp": _logsumexp,
    "concatenate": _joined,
    "append": lambda value, other, axis=None: _joined([value, other if hasattr(other, "shape") and other.shape else [other]]),
    "hstack": lambda values: _joined(values, 1 if len(values[0].shape) > 1 else 0),
    "vstack": lambda values: _joined([value if len(value.shape) > 1 else value[None] for value in values]),
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
    with_something(target)
    wide = tuple(slice(None) if axis in cuts else entry for axis, entry in enumerate(key))
    old = getitem(target, wide)
    kept = [axis for axis, entry in enumerate(wide) if isinstance(entry, slice)]
    spans = {kept.index(axis) - len(kept): span for axis, span in cuts.items()}
    new = _at_places(value, old, spans)
    setitem(target, wide, pointwise("where", belongs(old, spans), new, old))


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
        whole = taken(whole, axis, index)
    return whole
