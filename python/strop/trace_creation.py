"""NumPy's functions that rearrange, create, convert and describe traced arrays."""

from __future__ import annotations

import numpy as np

from strop import trace_layout as layout
from strop.trace_array import (
    GRAPH,
    Traced,
    astype,
    axis_of,
    broadcast_shapes,
    broadcast_to,
    full,
    is_number,
    lift,
    pointwise,
    reduce,
    result_type,
    transpose,
)
from strop.trace_calls import HANDLERS, handles
from strop.trace_dims import SymInt, Untraceable, same, undecided
from strop.trace_lists import as_list
from strop.trace_sizes import count_where_taken, shape_where_taken
from strop.trace_views import flattened, is_contiguous, reshaped, turned, without_parent

# ---- layout --------------------------------------------------------------------------------------------


@handles("reshape")
def reshape(x, *shape, newshape=None, order="C"):
    if shape and isinstance(shape[-1], str):
        *shape, order = shape
    shape = newshape if newshape is not None else shape[0] if len(shape) == 1 else shape
    if not _is_by_columns(x, order):
        return flattened(x, shape)
    backwards = tuple(reversed(layout.shape_of(shape)))
    return without_parent(lift(layout.reshape(lift(x).T, backwards).T))


def _is_by_columns(x, order: str) -> bool:
    """Whether elements are counted with the first index running fastest."""
    if order in ("A", "K") and not is_contiguous(lift(x)):
        raise Untraceable(f"elements in the order {order!r} of an array whose own order is not known")
    return order == "F"


@handles("transpose", "permute_dims")
def transpose_(x, *axes, **options):
    x = lift(x)
    axes = options.get("axes", axes[0] if len(axes) == 1 else axes or None)
    order = reversed(range(x.ndim)) if axes is None else [axis_of(axis, x.ndim) for axis in axes]
    return transpose(x, order)


@handles("matrix_transpose", "linalg.matrix_transpose")
def matrix_transpose(x):
    return lift(x).mT


@handles("swapaxes")
def swapaxes(x, axis1, axis2):
    x = lift(x)
    order = list(range(x.ndim))
    a, b = axis_of(axis1, x.ndim), axis_of(axis2, x.ndim)
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


HANDLERS["ravel"] = lambda x, order="C": reshape(x, lift(x).size, order=order)
HANDLERS["ndarray.flatten"] = lambda x, order="C": copy_of(reshape(x, lift(x).size, order=order))
HANDLERS["moveaxis"] = layout.moveaxis
HANDLERS["expand_dims"] = lambda x, axis: reshaped(lift(x), layout.expanded(lift(x).shape, axis))
HANDLERS["squeeze"] = lambda x, axis=None: reshaped(lift(x), layout.squeezed(lift(x).shape, axis))


@handles("broadcast_to")
def broadcast_view(x, shape):
    x = lift(x)
    wide = broadcast_to(x, layout.shape_of(shape))
    return Traced(wide.node, wide.shape, wide.dtype, wide.weak, view_of=x)


HANDLERS["lib.stride_tricks.sliding_window_view"] = layout.sliding_window_view
HANDLERS["flip"] = turned
HANDLERS["flipud"] = lambda x: turned(x, 0)
HANDLERS["fliplr"] = lambda x: turned(x, 1)
HANDLERS["take"] = lambda x, indices, axis=None, mode="raise": layout.take(x, indices, axis)
HANDLERS["take_along_axis"] = lambda x, indices, axis=-1: layout.take_along_axis(x, indices, axis)


@handles("broadcast_arrays")
def broadcast_arrays(*arrays):
    values = [lift(array) for array in arrays]
    shape = broadcast_shapes(*(value.shape for value in values))
    return tuple(broadcast_to(value, shape) for value in values)


HANDLERS["broadcast_shapes"] = lambda *shapes: broadcast_shapes(*(layout.shape_of(shape) for shape in shapes))


@handles("concatenate", "concat")
def concatenate(arrays, axis=0, dtype=None):
    result = layout.concatenate(arrays, axis)
    return result if dtype is None else astype(result, dtype)


HANDLERS["stack"] = lambda arrays, axis=0: layout.stack(arrays, axis)
HANDLERS["vstack"] = HANDLERS["row_stack"] = lambda arrays: layout.concatenate([_at_least(a, 2) for a in arrays], 0)
HANDLERS["hstack"] = lambda arrays: layout.concatenate(
    [_at_least(a, 1) for a in arrays], 0 if lift(arrays[0]).ndim <= 1 else 1
)
HANDLERS["split"], HANDLERS["array_split"] = layout.split, layout.array_split


def _at_least(x, rank):
    x = lift(x)
    return reshaped(x, (1,) * (rank - x.ndim) + x.shape) if x.ndim < rank else x


HANDLERS["atleast_1d"] = lambda x: _at_least(x, 1)
HANDLERS["atleast_2d"] = lambda x: _at_least(x, 2)


@handles("repeat")
def repeat(x, repeats, axis=None):
    x = lift(x)
    if not layout.is_extent(repeats):
        raise Untraceable("'np.repeat' by an array has no graph operation")
    if axis is None:
        x, axis = layout.reshape(x, (x.size,)), 0
    place = axis_of(axis, x.ndim) + 1
    wide = layout.expand_dims(x, place)
    wide = broadcast_to(wide, wide.shape[:place] + (repeats,) + wide.shape[place + 1 :])
    return layout.reshape(wide, x.shape[: place - 1] + (x.shape[place - 1] * repeats,) + x.shape[place:])


@handles("tile")
def tile(x, reps):
    reps = layout.shape_of(reps)
    x = _at_least(x, len(reps))
    reps = (1,) * (x.ndim - len(reps)) + reps
    mixed = [extent for pair in zip(reps, x.shape) for extent in pair]
    wide = layout.reshape(x, [extent for one in x.shape for extent in (1, one)])
    return layout.reshape(broadcast_to(wide, mixed), [n * extent for n, extent in zip(reps, x.shape)])


def repeated(items, count):
    """[0.0] * n: a list of numbers, which stands for an array of them."""
    number = items[0] if len(items) == 1 and isinstance(items, list) else None
    if not is_number(number) or isinstance(number, SymInt):
        raise undecided(count)
    return as_list(full((count_where_taken(count),), number, _float_type(None) if isinstance(number, float) else np.dtype(type(number))))


# ---- creation, conversion, questions --------------------------------------------------------------------


def _float_type(dtype):
    """np.zeros(shape) without a dtype: Python's float, in the arrays' precision."""
    return GRAPH.working if dtype is None else dtype


def _new(shape, value, dtype, order) -> Traced:
    result = full(shape_where_taken(shape), value, _float_type(dtype))
    result._storage.contiguous = order == "C"
    return result


HANDLERS["zeros"] = lambda shape, dtype=None, order="C": _new(shape, 0, dtype, order)
HANDLERS["ones"] = lambda shape, dtype=None, order="C": _new(shape, 1, dtype, order)
HANDLERS["empty"] = lambda shape, dtype=None, order="C": _new(shape, "empty", dtype, order)


@handles("full")
def full_(shape, fill_value, dtype=None):
    value = lift(fill_value)
    kind = dtype or (_float_type(None) if value.weak and value.dtype.kind == "f" else value.dtype)
    return full(shape_where_taken(shape), value, kind)


def _like(fill):
    def apply(x, dtype=None, shape=None):
        x = lift(x)
        result = full(x.shape if shape is None else layout.shape_of(shape), fill, dtype or x.dtype)
        result._storage.contiguous = shape is not None or is_contiguous(x)
        return result

    return apply


HANDLERS["zeros_like"], HANDLERS["ones_like"], HANDLERS["empty_like"] = _like(0), _like(1), _like("empty")
HANDLERS["full_like"] = lambda x, fill_value, dtype=None, shape=None: _like(lift(fill_value))(x, dtype, shape)


def converted(value: Traced, dtype) -> Traced:
    """As the reference asks for: what is float32 for the sake of other arrays is rounded to it only now."""
    if value.node in GRAPH.wide and np.dtype(dtype) == np.float32:
        return Traced(GRAPH.rounded(GRAPH.wide[value.node], value.shape), value.shape, dtype)
    return astype(value, dtype)


@handles("asfortranarray")
def in_columns(x, dtype=None):
    return without_parent(asarray(x, dtype))


@handles("ascontiguousarray", "require")
def in_order(x, dtype=None, *_, **__):
    result = asarray(x, dtype)
    return without_parent(result) if result is x and not is_contiguous(x) else result


@handles("asarray", "asanyarray", "asarray_chkfinite")
def asarray(x, dtype=None, copy=None, **_):
    """The array itself, where it is one of the type."""
    same = isinstance(x, Traced) and not x.weak and (dtype is None or np.dtype(dtype) == x.dtype)
    same = same and (dtype is None or x.node not in GRAPH.wide)
    return x if same and not copy else array(x, dtype)


@handles("array", "copy")
def array(x, dtype=None, copy=None, order="K", **_):
    if copy is False:
        return asarray(x, dtype)
    value = lift(x)
    result = Traced(
        value.node if value.filled != "empty" else -1, value.shape, value.dtype, value.weak, fill=value.filled
    )
    result = result if dtype is None else converted(result, dtype)
    kept = not isinstance(x, Traced) or is_contiguous(value)
    result._storage.contiguous = order == "C" or order != "F" and kept
    return result


@handles("ndarray.copy")
def copy_of(x, order="C"):
    return array(x, order=order)


@handles("asfarray")
def asfarray(x):
    return lift(x)


@handles("astype")
def astype_(x, dtype, copy=True):
    return converted(lift(x), dtype) if copy else asarray(x, dtype)


@handles("copyto")
def copyto(target, value, where=True):
    target.assign(value if where is True else HANDLERS["where"](where, astype(lift(value), target.dtype), target))


@handles("putmask", "place")
def putmask(target, mask, value):
    shape = lift(value).shape
    if shape and not (len(shape) == target.ndim and all(map(same, shape, target.shape))):
        raise Untraceable("np.putmask with values that repeat")
    target.assign(pointwise("where", mask, astype(lift(value), target.dtype), target))


@handles("put")
def put(target, indices, values):
    reshaped(target, (target.size,))[lift(indices)] = values


@handles("put_along_axis")
def put_along_axis(target, indices, values, axis):
    index, axis = lift(indices), axis_of(axis, target.ndim)
    places = [
        index if one == axis else layout.reshape(layout.arange(extent), (extent,) + (1,) * (target.ndim - 1 - one))
        for one, extent in enumerate(target.shape)
    ]
    target[tuple(places)] = values


@handles("arange")
def arange(*bounds, dtype=None):
    return layout.arange(*bounds, dtype=dtype)


@handles("eye", "identity")
def eye(rows, columns=None, k=0, dtype=None):
    i, j = layout.index_grid(rows, rows if columns is None else columns)
    return astype(pointwise("equal", i + k, j), _float_type(dtype))


@handles("tri")
def tri(rows, columns=None, k=0, dtype=None):
    return astype(layout.triangle(rows, rows if columns is None else columns, k, True), _float_type(dtype))


@handles("tril")
def tril(x, k=0):
    x = lift(x)
    return pointwise("where", layout.triangle(x.shape[-2], x.shape[-1], k, True), x, _zero(x))


@handles("triu")
def triu(x, k=0):
    x = lift(x)
    return pointwise("where", layout.triangle(x.shape[-2], x.shape[-1], k, False), x, _zero(x))


HANDLERS["diagonal"] = HANDLERS["linalg.diagonal"] = layout.diagonal


@handles("trace", "linalg.trace")
def trace(x, offset=0, axis1=0, axis2=1):
    return reduce("sum", layout.diagonal(x, offset, axis1, axis2), -1)


def _zero(x):
    return False if x.dtype.kind == "b" else 0


@handles("shape")
def shape_(x):
    return lift(x).shape


HANDLERS["ndim"] = lambda x: lift(x).ndim
HANDLERS["size"] = lambda x, axis=None: lift(x).size if axis is None else lift(x).shape[axis]
HANDLERS["isscalar"] = lambda x: is_number(x) or (isinstance(x, Traced) and not x.shape)
HANDLERS["iscomplexobj"] = lambda x: False
HANDLERS["real"] = lambda x: lift(x)
HANDLERS["result_type"] = lambda *values: result_type(
    [lift(v) if isinstance(v, (Traced, SymInt, int, float)) else Traced(-1, (), v) for v in values]
)[0]
HANDLERS["can_cast"] = lambda a, b: np.can_cast(lift(a).dtype, b)
HANDLERS["may_share_memory"] = HANDLERS["shares_memory"] = lambda a, b: False
HANDLERS["finfo"] = lambda x: np.finfo(lift(x).dtype)
