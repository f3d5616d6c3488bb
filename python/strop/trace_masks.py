"""Elements that a boolean mask keeps, x[m]: how many there are is known when a kernel runs.

All elements stay where they are, with the mask beside them: what is computed element by element is computed of all,
reductions leave out those that the mask does, and an assignment through the same mask chooses (numpy.where).
"""

from __future__ import annotations

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import GRAPH, Traced, astype, lift, pointwise, product
from strop.trace_calls import METHODS, call, reduced_where
from strop.trace_dims import Untraceable
from strop.trace_indexing import is_mask
from strop.trace_ragged_calls import ELEMENTWISE, NEUTRAL

REFUSAL = "boolean mask indexing gives a shape that depends on values"


class Masked:
    """The mask is over the first axes of `whole`; here they are one."""

    __hash__ = None  # type: ignore[assignment]
    is_masked = True
    _storage = None  # a copy

    def __init__(self, whole: Traced, mask: Traced):
        self.whole, self.mask = whole, mask

    dtype = property(lambda self: self.whole.dtype)
    ndim = property(lambda self: self.whole.ndim - self.mask.ndim + 1)
    shape = property(lambda self: (self.length(), *self.rest))
    size = property(lambda self: self.length() * product(self.rest))
    rest = property(lambda self: self.whole.shape[self.mask.ndim :])
    _whole_mask = property(lambda self: (slice(None),) * self.mask.ndim)

    def length(self) -> Traced:
        count = call("sum", (self.mask,), {})
        return Traced(count.node, (), count.dtype, weak=True)  # Python's integer

    def kept(self) -> Traced:
        """The mask over all axes."""
        return over_more_axes(self.mask, len(self.rest))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return self.whole.__array_ufunc__(ufunc, method, *inputs, **options)

    def __array_function__(self, function, types, arguments, options):
        return self.whole.__array_function__(function, types, arguments, options)

    def __array__(self, *_, **__):
        raise Untraceable(REFUSAL)

    def __getattr__(self, name):
        if name in METHODS:
            return lambda *arguments, **options: call(METHODS[name], (self, *arguments), options)
        if hasattr(np.ndarray, name):
            raise Untraceable(REFUSAL)
        raise AttributeError(f"arrays have no attribute '{name}'")

    def joined(self):
        """As an operand of what does not know masks (trace_array.lift)."""
        raise Untraceable(REFUSAL)

    def __getitem__(self, key):
        """All that are kept, and of their other axes a part: x[m][:, 0], x[m][:, None]."""
        first, *others = key if isinstance(key, tuple) else (key,)
        others = [first, *others] if first is Ellipsis else others
        if not (first is Ellipsis or isinstance(first, slice) and first == slice(None)):
            raise Untraceable(REFUSAL)
        return Masked(self.whole[tuple([*self._whole_mask, *others])], self.mask)

    def _refuse(self, *_):
        raise Untraceable(REFUSAL)

    __setitem__ = __iter__ = _refuse


def _add_operators():
    for python in "add sub mul truediv pow floordiv mod matmul and or xor lt le gt ge eq ne".split():
        for name in (f"__{python}__", f"__r{python}__"):
            if hasattr(Traced, name):
                function = getattr(Traced, name)
                setattr(Masked, name, lambda self, other, function=function: function(self, other))
    for name in ("neg", "abs", "invert"):
        operation = {"neg": "negative", "abs": "absolute", "invert": "logical_not"}[name]
        setattr(Masked, f"__{name}__", lambda self, operation=operation: call(operation, (self,), {}))


_add_operators()


def over_more_axes(mask: Traced, count: int) -> Traced:
    return layout.reshape(mask, (*mask.shape, *(1,) * count)) if count else mask


def masked(value: Traced, mask) -> Masked:
    mask = lift(mask)
    if mask.ndim > value.ndim:
        raise IndexError(f"a mask of rank {mask.ndim} for an array of rank {value.ndim}")
    return Masked(Traced(value.node, value.shape, value.dtype), Traced(mask.node, mask.shape, mask.dtype))


def is_masked(arguments) -> bool:
    return any(isinstance(one, Masked) for one in arguments)


def are_one(a: int, b: int) -> bool:
    """Nodes that compute the same of the same."""
    seen: set[tuple[int, int]] = set()
    open_ = [(a, b)]
    while open_:
        pair = open_.pop()
        if pair[0] == pair[1] or pair in seen:
            continue
        seen.add(pair)
        one, other = (GRAPH.nodes[index] for index in pair)
        plain = [{key: value for key, value in node.items() if key != "operands"} for node in (one, other)]
        if one["family"] in ("input", "repeat") or plain[0] != plain[1]:
            return False
        if len(one["operands"]) != len(other["operands"]):
            return False
        open_ += zip(one["operands"], other["operands"])
    return True


def mask_of(arguments) -> Traced:
    """That all of them have in common."""
    masks = [one.mask for one in arguments if isinstance(one, Masked)]
    if not all(are_one(masks[0].node, mask.node) for mask in masks):
        raise Untraceable("elements that different masks keep meet each other")
    return masks[0]


def call_masked(name: str, arguments, options):
    if name in ("matmul", "dot", "vdot", "inner") and len(arguments) == 2 and not options:
        return _dot(*arguments)
    if name == "linalg.norm" and len(arguments) == 1 and arguments[0].ndim == 1 and not options:
        return call("sqrt", (_dot(arguments[0], arguments[0]),), {})
    if name in ("asarray", "asanyarray", "ascontiguousarray", "copy") and not options:
        return arguments[0]
    if name in ELEMENTWISE or name == "astype":
        return _elementwise(name, arguments, options)
    if isinstance(arguments[0], Masked) and not is_masked(arguments[1:]):
        axis = options.pop("axis", None) if len(arguments) < 2 else arguments[1]
        if axis in (None, 0) and len(arguments) <= 2:
            return _reduced(name, arguments[0], axis, options)
    raise Untraceable(REFUSAL)


def _elementwise(name: str, arguments, options):
    mask = mask_of(arguments)
    rest = next(one.rest for one in arguments if isinstance(one, Masked))
    for one in arguments:
        if not isinstance(one, Masked) and isinstance(one, (Traced, np.ndarray, list, tuple)) and lift(one).ndim > len(rest):
            raise Untraceable("elements that a mask keeps meet an array of another length")
    wholes = [one.whole if isinstance(one, Masked) else one for one in arguments]
    return Masked(call(name, wholes, options), mask)


def _dot(a, b):
    if not (isinstance(a, Masked) and isinstance(b, Masked) and a.ndim == b.ndim == 1):
        raise Untraceable(REFUSAL)
    return call("sum", (a * b,), {})


def _reduced(name: str, value: Masked, axis, options):
    axes = {} if axis is None else {"axis": tuple(range(value.mask.ndim))}
    if name in ("std", "var"):
        return _deviation(name, value, axis, **options)
    if name == "ptp":
        return _reduced("max", value, axis, options) - _reduced("min", value, axis, options)
    if name == "median" and axis is None and value.dtype.kind == "f" and not options:
        return _median(value)
    if options or name not in ("mean", "count_nonzero", *NEUTRAL) or name.startswith("arg"):
        raise Untraceable(REFUSAL)
    if name in ("max", "min", "amax", "amin", "maximum.reduce", "minimum.reduce"):
        options = {"initial": NEUTRAL[name](value.dtype)}
    return reduced_where(name, value.kept(), value.whole, **axes, **options)


def _deviation(name: str, value: Masked, axis, ddof=0):
    centred = value - _reduced("mean", value, axis, {})
    count = astype(value.length() if axis == 0 else value.size, centred.dtype)
    variance = _reduced("sum", centred * centred, axis, {}) / (count - ddof)
    return call("sqrt", (variance,), {}) if name == "std" else variance


def _median(value: Masked):
    """A NaN that is kept stays one."""
    kept = value.kept()
    wanted = call("where", (kept, value.whole, np.nan), {})
    lost = call("any", (call("logical_and", (kept, call("isnan", (value.whole,), {})), {}),), {})
    return call("where", (lost, np.nan, call("nanmedian", (wanted,), {})), {})


# ---- masks among other indices -----------------------------------------------------------------------------


def _without_mask(key, rank: int) -> tuple[tuple, Traced, int, int]:
    """The key with all of the axes that its mask is for, the mask, and how many axes are left before and after."""
    key = key if isinstance(key, tuple) else (key,)
    masks = [lift(one) for one in key if is_mask(one)]
    others = [one for one in key if not is_mask(one)]
    if len(masks) > 1 or not all(isinstance(one, slice) or one is Ellipsis or layout.is_extent(one) for one in others):
        raise Untraceable("a boolean mask among other index arrays")
    missing = rank - masks[0].ndim - sum(one is not Ellipsis for one in others)
    if missing < 0:
        raise IndexError(f"too many indices for an array of rank {rank}")
    wide: list = []
    place = 0
    for one in key if any(one is Ellipsis for one in others) else (*key, Ellipsis):
        if is_mask(one):
            place = sum(isinstance(before, slice) for before in wide)
        count = masks[0].ndim if is_mask(one) else missing if one is Ellipsis else 0
        wide += [slice(None)] * count if is_mask(one) or one is Ellipsis else [one]
    after = sum(isinstance(one, slice) for one in wide) - place - masks[0].ndim
    return tuple(wide), masks[0], place, after


def get_masked(value: Traced, key) -> Masked:
    wide, mask, before, _ = _without_mask(key, value.ndim)
    if before:
        raise Untraceable(REFUSAL)
    return masked(value[wide], mask)


def where_masked(target: Traced, key, value) -> Traced:
    """`target` after target[key] = value, of which all other axes are taken whole."""
    wide, mask, _, after = _without_mask(key, target.ndim)
    assert all(one == slice(None) for one in wide)
    if isinstance(value, Traced) and value.ndim == after + 1 and value.shape[0] == 1:
        value = layout.reshape(value, value.shape[1:])
    return _chosen(target, mask, value, after)


def set_masked(target: Traced, key, value):
    wide, mask, _, after = _without_mask(key, target.ndim)
    if all(one == slice(None) for one in wide):
        target.assign(_chosen(target, mask, value, after))
    else:
        target[wide] = _chosen(target[wide], mask, value, after)


def _chosen(old: Traced, mask: Traced, value, after: int) -> Traced:
    if isinstance(value, Masked):
        if value.ndim - 1 > after or not are_one(mask.node, value.mask.node):
            raise Untraceable("elements that different masks keep meet each other")
        value = value.whole
    elif lift(value).ndim > after:
        raise Untraceable("assignment of an array to a boolean mask")
    return pointwise("where", over_more_axes(mask, after), astype(lift(value), old.dtype), old)
