"""Products of traced arrays: from np.dot to np.einsum, contractions of two operands with labels."""

from __future__ import annotations

from string import ascii_letters

from strop.trace_array import (
    GRAPH,
    Traced,
    astype,
    axis_of,
    broadcast_extent,
    cast,
    is_one,
    lift,
    pointwise,
    reduce,
    result_type,
    transpose,
)
from strop.trace_dims import Untraceable, is_int
from strop.trace_layout import diagonal, reshape


def _squeeze_ones(value: Traced, labels: str, extents: dict) -> tuple[Traced, str]:
    """Drops axes of extent 1 that the other operand has at full extent: they broadcast."""
    drop = [i for i, label in enumerate(labels) if is_one(value.shape[i]) and not is_one(extents[label])]
    if not drop:
        return value, labels
    value = reshape(value, [extent for i, extent in enumerate(value.shape) if i not in drop])
    return value, "".join(label for i, label in enumerate(labels) if i not in drop)


def _take_diagonals(value: Traced, labels: str) -> tuple[Traced, str]:
    """Axes of one label become their diagonal."""
    for label in sorted(set(labels)):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            value = diagonal(value, 0, first, second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    return value, labels


def _sum_private(value: Traced, labels: str, needed: set) -> tuple[Traced, str]:
    axes = [i for i, label in enumerate(labels) if label not in needed]
    if not axes:
        return value, labels
    return reduce("sum", value, axes), "".join(label for label in labels if label in needed)


def _aligned(value: Traced, labels: str, result: str) -> Traced:
    """With the axes in the order of `result`, and 1 where it has none."""
    order = sorted(range(len(labels)), key=lambda i: result.index(labels[i]))
    value = transpose(value, order)
    extents = {labels[i]: value.shape[place] for place, i in enumerate(order)}
    return reshape(value, [extents.get(label, 1) for label in result])


def contract(a, b, a_labels: str, b_labels: str, result: str) -> Traced:
    a, b = lift(a), lift(b)
    a, a_labels = _take_diagonals(a, a_labels)
    b, b_labels = _take_diagonals(b, b_labels)
    extents: dict = {}
    for value, labels in ((a, a_labels), (b, b_labels)):
        for label, extent in zip(labels, value.shape):
            extents[label] = broadcast_extent(extents[label], extent) if label in extents else extent
    a, a_labels = _squeeze_ones(a, a_labels, extents)
    b, b_labels = _squeeze_ones(b, b_labels, extents)
    a, a_labels = _sum_private(a, a_labels, set(b_labels + result))
    b, b_labels = _sum_private(b, b_labels, set(a_labels + result))
    summed = [label for label in a_labels if label not in result]
    private = set(result) - (set(a_labels) & set(b_labels))
    if not summed or not private:  # nothing to reuse: a product, and a sum over it
        whole = result + "".join(summed)
        value = pointwise("multiply", _aligned(a, a_labels, whole), _aligned(b, b_labels, whole))
        return reduce("sum", value, range(len(result), len(whole))) if summed else value
    dtype, _ = result_type([a, b])
    if dtype.kind == "b":
        raise Untraceable("a product of boolean arrays has no graph operation")
    shape = [extents[label] for label in result]
    node = GRAPH.add(
        "contraction",
        "einsum",
        [cast(a, dtype), cast(b, dtype)],
        shape,
        dtype,
        labels=[a_labels, b_labels, result],
    )
    return Traced(node, shape, dtype)


def matmul(a, b) -> Traced:
    a, b = lift(a), lift(b)
    if not a.ndim or not b.ndim:
        raise Untraceable("matmul of a scalar")
    batch = "abcdefgh"[: max(a.ndim, b.ndim) - 2] if max(a.ndim, b.ndim) > 2 else ""

    def labels(value, matrix, vector):
        lead = value.ndim - 2
        return vector if value.ndim == 1 else batch[len(batch) - lead :] + matrix

    result = batch + ("m" if a.ndim > 1 else "") + ("n" if b.ndim > 1 else "")
    return contract(a, b, labels(a, "mk", "k"), labels(b, "kn", "k"), result)


def tensordot(a, b, axes=2) -> Traced:
    a, b = lift(a), lift(b)
    if is_int(axes):
        pairs = [list(range(a.ndim - axes, a.ndim)), list(range(axes))]
    else:
        pairs = [list(part) if isinstance(part, (tuple, list)) else [part] for part in axes]
    left = [axis_of(axis, a.ndim) for axis in pairs[0]]
    right = [axis_of(axis, b.ndim) for axis in pairs[1]]
    if len(left) != len(right):
        raise Untraceable("tensordot over different numbers of axes")
    a_labels = list(ascii_letters[: a.ndim])
    b_labels = list(ascii_letters[a.ndim : a.ndim + b.ndim])
    for i, j in zip(left, right):
        b_labels[j] = a_labels[i]
    result = [label for i, label in enumerate(a_labels) if i not in left]
    result += [label for j, label in enumerate(b_labels) if j not in right]
    return contract(a, b, "".join(a_labels), "".join(b_labels), "".join(result))


def dot(a, b) -> Traced:
    a, b = lift(a), lift(b)
    if not a.ndim or not b.ndim:
        return pointwise("multiply", a, b)
    return tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))


def inner(a, b) -> Traced:
    a, b = lift(a), lift(b)
    if not a.ndim or not b.ndim:
        return pointwise("multiply", a, b)
    return tensordot(a, b, ([a.ndim - 1], [b.ndim - 1]))


def outer(a, b) -> Traced:
    a, b = lift(a), lift(b)
    return pointwise("multiply", reshape(a, (a.size, 1)), reshape(b, (1, b.size)))


def vdot(a, b) -> Traced:
    a, b = lift(a), lift(b)
    return dot(reshape(a, (a.size,)), reshape(b, (b.size,)))


def einsum(subscripts, *operands, dtype=None) -> Traced:
    if not isinstance(subscripts, str):
        raise Untraceable("np.einsum without a subscripts string")
    values = [lift(operand) if dtype is None else astype(lift(operand), dtype) for operand in operands]
    terms, result = _subscripts(subscripts.replace(" ", ""), values)
    if len(values) == 1:
        return _single(values[0], terms[0], result)
    value, labels = values[0], terms[0]
    for i in range(1, len(values)):
        later = set("".join(terms[i + 1 :])) | set(result)
        both = labels + "".join(label for label in terms[i] if label not in labels)
        target = result if i + 1 == len(values) else "".join(label for label in both if label in later)
        value = contract(value, values[i], labels, terms[i], target)
        labels = target
    return value


def _subscripts(text: str, values) -> tuple[list[str], str]:
    """The labels of each operand and of the result; an ellipsis becomes letters of its own."""
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(values):
        raise Untraceable(f"np.einsum '{text}' with {len(values)} operands")
    free = [letter for letter in reversed(ascii_letters) if letter not in text]
    ranks = [
        value.ndim - len(term.replace("...", "")) if "..." in term else 0
        for term, value in zip(terms, values)
    ]
    dots = "".join(free[: max(ranks, default=0)])
    if not arrow:
        letters = inputs.replace("...", "").replace(",", "")
        result = "..." + "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    terms = [
        term.replace("...", dots[len(dots) - rank :] if rank > 0 else "") for term, rank in zip(terms, ranks)
    ]
    for term, value in zip(terms, values):
        if len(term) != value.ndim:
            raise Untraceable(f"np.einsum '{text}' with an operand of rank {value.ndim}")
    return terms, result.replace("...", dots)


def _single(value: Traced, labels: str, result: str) -> Traced:
    value, labels = _take_diagonals(value, labels)
    value, labels = _sum_private(value, labels, set(result))
    return transpose(value, [labels.index(label) for label in result])
