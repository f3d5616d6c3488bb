"""Arrays that record what is done to them.

Every operation that a reference applies becomes one or more nodes of src/graph/graph.h.
"""

from __future__ import annotations

import numpy as np

from strop.trace_dims import SymInt, Untraceable, Unwritten, is_int, same, terms_of, show, text
from strop.trace_graph import GRAPH
from strop.trace_operators import Operators
from strop.trace_storage import Storage

COMPARISONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"}
LOGICAL = {"logical_and", "logical_or", "logical_not", "isnan"}
FLOATING = set(
    "divide exp exp2 expm1 log log2 log1p sqrt rsqrt tanh erf atan lgamma sin cos sigmoid floor ceil round".split()
)


class Traced(Operators):
    """An array (or, with `weak`, a Python number) whose value is a node of the graph."""

    __hash__ = None  # type: ignore[assignment]  # as for numpy.ndarray
    own: np.dtype | None = None  # of a whole number of NumPy's: the type that it has
    is_list = False  # of numbers, in Python: it has no arithmetic

    def __init__(self, node, shape, dtype, weak=False, view_of=None, fill=None):
        self._node = node
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.weak = weak
        self.filled = fill  # the value of every element, for what np.zeros and the like made
        self.iota = None  # the extent, for what np.arange(n) made
        self.step = None  # for what np.arange(0, n, step) made
        self.key = self.parent = None  # of another array, for a view of a part of it
        self.is_given = self.mixed = False  # by the caller; by a branch, of sides of different kinds
        # Storages that it may be a view of, each with its version: of a branch.
        self.others: list = list(view_of.others) if view_of is not None else []
        # For a comparison of extents: (difference, how it compares with 0), what holds where it is true, and where not.
        self.facts: list = []
        self.denied: list = []
        self.undecided = None  # for a comparison of extents: why it cannot be a condition of Python's
        self.stands_in = False  # for the array that a name has before a loop
        self.pieces = None  # what was written part by part and not put together yet (trace_pieces)
        self._storage = view_of._storage if view_of is not None else Storage()
        self.owns = view_of is None  # the storage
        self._version = self._storage.version
        self.born = GRAPH.tick()

    @property
    def node(self) -> int:
        if self.is_outdated() and not self._is_unwritten():
            return self.now().node
        self._storage.seen = GRAPH.clock
        if self.pieces is not None and GRAPH.passes:  # it may be put back as it was
            return self.pieces.whole().node
        if self.pieces is not None:
            self._node, self.pieces = self.pieces.whole().node, None
        if self.filled == "empty":
            raise Unwritten()
        if self.filled == "lost":
            raise Untraceable("a value of a loop is kept where it cannot be followed")
        return self._node

    def is_outdated(self) -> bool:
        """Whether the array that it is a view of has changed."""
        views = [(self._storage, self._version), *self.others]
        return any(storage.version != version for storage, version in views)

    def has_known_values(self) -> bool:
        return any(one is not None for one in (self.filled, self.iota, self.step))

    def now(self) -> Traced:
        """What it shows."""
        if not self.is_outdated() or self._is_unwritten():
            return self
        from strop.trace_views import is_shown, read_again

        if not is_shown(self):
            raise Untraceable("an array is changed through another view of it")
        return read_again(self)

    def assign(self, value):
        """In place, as `self[...] = value`."""
        if self.weak:
            raise Untraceable("assignment to a number")
        if self.pieces is not None and self.pieces.by_step:
            self.pieces.whole()  # refuses
        from strop.trace_views import is_shown, write

        shown = is_shown(self)
        if not shown:
            GRAPH.touch(self)
        value = broadcast_to(lift(value), self.shape)
        if value.shape != self.shape and not all(same(a, b) for a, b in zip(value.shape, self.shape)):
            raise Untraceable(f"could not assign shape {show(value.shape)} to {show(self.shape)}")
        if shown:
            write(self, value)
            return self
        self._node = cast(value, self.dtype)
        self.pieces = None
        self.changed()
        return self

    def changed(self):
        """It is nothing anymore that was known of it, and its views are not what they were."""
        self.filled = self.iota = self.step = None
        self.outdate_views()

    def outdate_views(self, unwritten=0):
        self._version = self._storage.outdate(unwritten)

    def _is_unwritten(self) -> bool:
        """A row of an array that a loop writes from a later one on."""
        row = is_int(self.key) and not self.others and self.parent.key is None and self.key >= 0
        return row and self._version == self._storage.version - 1 and self.key < self._storage.unwritten

    def kept(self) -> tuple:
        """What `restore` needs to put it back as it is now."""
        pieces = self.pieces.copy() if self.pieces is not None else None
        return self._node, pieces, self.filled, self.iota, self.step, self._version, self._storage.version

    def restore(self, kept: tuple):
        self._node, pieces, self.filled, self.iota, self.step, self._version, self._storage.version = kept
        self.pieces = pieces.copy() if pieces is not None else None

    # ---- properties ----

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: product(self.shape))
    flat = property(lambda self: _flat_view(self))
    T = property(lambda self: transpose(self, tuple(reversed(range(self.ndim)))))
    mT = property(lambda self: transpose(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    real = property(lambda self: self)
    flags = property(lambda self: _refuse("ndarray.flags"))
    strides = property(lambda self: _refuse("ndarray.strides"))

    # ---- protocols ----

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        from strop.trace_calls import call

        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        return call(name, inputs, options)

    def __array_function__(self, function, types, arguments, options):
        from strop.trace_calls import call, name_of

        return call(name_of(function), arguments, options)

    def __array__(self, *_, **__):
        raise Untraceable("an array is read by code that is not traced")

    def __bool__(self):
        if self.undecided is not None:
            raise self.undecided
        raise Untraceable("control flow depends on the values of an array")

    def __index__(self):
        raise Untraceable("an array's value is used as an integer")

    def __float__(self):
        raise Untraceable("an array's value is used as a number")

    __int__ = __index__
    item = tolist = __float__

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0].__index__()

    def __iter__(self):
        if not self.shape:
            raise Untraceable("iteration over a scalar")
        if isinstance(self.shape[0], SymInt):
            self.shape[0].__index__()
        return iter([self[i] for i in range(self.shape[0])])

    def __contains__(self, value):
        raise Untraceable("control flow depends on the values of an array")

    def __getitem__(self, key):
        try:
            return self.part(key)
        except Unwritten:
            from strop.trace_views import unwritten

            return unwritten(self, key)

    def part(self, key) -> Traced:
        """self[key], of which something was written."""
        from strop.trace_indexing import getitem
        from strop.trace_views import part_now

        if self.is_outdated():
            return part_now(self, key)
        part = getitem(self, key)
        if part is not self and isinstance(part, Traced) and not part.shape and part.filled not in ("empty", "lost"):
            return Traced(part.node, (), part.dtype, part.weak)  # NumPy's scalars are no views
        if part is not self:
            part.key, part.parent = key, self
        return part

    def __setitem__(self, key, value):
        from strop.trace_indexing import setitem

        from strop.trace_views import is_shown, write_part

        own = getattr(value, "key", None) is key and value._storage is self._storage
        if own and isinstance(value, Traced) and is_shown(value):  # x[key] += y has changed x through a view
            return
        if own and self._version + 1 == value._version == self._storage.version:
            self._version = value._version
        if is_shown(self):
            write_part(self, key, value)
        else:
            setitem(self, key, value)

    def __getattr__(self, name):
        from strop.trace_calls import METHODS, call

        if name in METHODS:
            return lambda *arguments, **options: call(METHODS[name], (self, *arguments), options)
        if self.is_list and hasattr(list, name):
            raise Untraceable(f"'{name}' of a list of varying length: make an array of it")
        if hasattr(np.ndarray, name):
            _refuse(f"ndarray.{name}")
        raise AttributeError(f"arrays have no attribute '{name}'")


def _refuse(name):
    raise Untraceable(f"'{name}' has no graph operation")


def is_number(value) -> bool:
    return isinstance(value, (bool, int, float, np.generic, SymInt))


def product(extents):
    result = 1
    for extent in extents:
        result = result * extent
    return result


# ---- values ----------------------------------------------------------------------------------------


def number(value, dtype=None) -> Traced:
    """A Python number or dimension as a traced scalar.

    NumPy's own scalars count as Python numbers: constants take the precision of the arrays, so that
    np.sqrt(2 / np.pi) does not turn float32 formulas into float64. Who writes np.float32(0.3) means it, and whole ones
    have their types among each other.
    """
    own = value.dtype if isinstance(value, np.integer) and dtype is None else None
    if isinstance(value, np.float32) and dtype is None:
        return Traced(GRAPH.constant(float(value), "float32"), (), np.dtype(np.float32), fill=value)
    if isinstance(value, SymInt):
        kind: np.dtype = np.dtype(np.int64)
    else:
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, complex):
            raise Untraceable("complex numbers have no graph operation")
        kind = np.dtype(bool if isinstance(value, bool) else np.int64 if isinstance(value, int) else np.float64)
    if kind == np.int64 and not isinstance(value, SymInt) and int(float(value)) != value:
        raise Untraceable(f"the integer {value}, which float64 does not hold")
    stored = dtype if dtype is not None else GRAPH.working if kind == np.float64 else kind
    node = GRAPH.constant(value if isinstance(value, SymInt) else float(value), stored)
    result = Traced(node, (), kind, weak=True, fill=value)
    result.own = own
    return result


SymInt.lift = staticmethod(number)


def lift(value) -> Traced:
    """Anything that an operation takes as an operand."""
    if isinstance(value, Traced):
        return value.now() if value.has_known_values() and value.is_outdated() else value
    if is_number(value):
        return number(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return number(value[()])
    if hasattr(value, "joined"):  # a list that a loop made (trace_lists)
        return value.joined()
    if isinstance(value, (list, tuple)):
        if not value:
            raise Untraceable("an empty list as an array")
        from strop.trace_layout import stack

        return stack([lift(item) for item in value], 0)
    if isinstance(value, np.ndarray):
        from strop.trace_constants import constant_array

        return constant_array(value)
    from strop.trace_complex import Complex

    if isinstance(value, Complex):
        raise Untraceable("complex numbers where real ones are needed: return their two parts")
    raise Untraceable(f"a {type(value).__name__} as an array")


def full(shape, value, dtype) -> Traced:
    node, fill = -1, value
    if value != "empty":
        scalar = lift(value)
        node, fill = broadcast_to(Traced(cast(scalar, dtype), (), dtype), shape).node, scalar.filled
    result = Traced(node, shape, dtype, fill=fill)
    result._storage.contiguous = True
    return result


def result_type(operands) -> tuple[np.dtype, bool]:
    """NumPy's promotion; Python numbers are weak. Also whether the result is a Python number itself."""
    stand_in = {"b": False, "i": 0, "u": 0, "f": 0.0}
    whole = all(v.dtype.kind in "biu" for v in operands)
    kinds = [v.own if v.own and whole else stand_in[v.dtype.kind] if v.weak else v.dtype for v in operands]
    dtype = np.result_type(*kinds)
    return np.dtype(dtype), all(v.weak for v in operands)


def cast(value: Traced, dtype) -> int:
    """The node of `value` in this dtype."""
    dtype = np.dtype(dtype)
    if value.weak and not isinstance(value.filled, (str, type(None))):
        if isinstance(value.filled, SymInt):
            return GRAPH.constant(value.filled, dtype)
        return GRAPH.constant(float(value.filled), dtype)
    if GRAPH.dtype(value.node) == dtype:
        return value.node
    return GRAPH.add("pointwise", "cast", [value.node], value.shape, dtype)


def astype(value: Traced, dtype) -> Traced:
    return in_order_of(Traced(cast(value, dtype), value.shape, dtype), [value])


def in_order_of(result: Traced, operands: list) -> Traced:
    """NumPy keeps the order in which the elements of the operands lie."""
    from strop.trace_views import is_contiguous

    result._storage.contiguous = all(is_contiguous(one) for one in operands if one.shape)
    return result


def real(value) -> Traced:
    """Whole numbers as float64, whose sums and differences do not wrap."""
    value = lift(value)
    return value if value.dtype.kind == "f" else pointwise("multiply", value, 1.0)


def boolean(value, name) -> Traced:
    value = lift(value)
    if value.dtype != np.bool_:
        raise Untraceable(f"'{name}' has to be boolean")
    return value


def bitwise(op: str, a, b) -> Traced:
    """`and`, `or` or `xor`: of booleans the logical one."""
    a, b = lift(a), lift(b)
    if a.dtype != np.bool_ or b.dtype != np.bool_:
        return pointwise(f"bitwise_{op}", a, b)
    return pointwise("not_equal" if op == "xor" else f"logical_{op}", a, b)


def inverted(value) -> Traced:
    value = lift(value)
    if value.dtype == np.bool_:
        return pointwise("logical_not", value)
    ones = np.iinfo(value.dtype).max if value.dtype.kind == "u" else -1
    return pointwise("bitwise_xor", value, ones)


# ---- pointwise -------------------------------------------------------------------------------------


def broadcast_extent(a, b):
    if same(a, b) or (not isinstance(b, SymInt) and b == 1):
        return a
    if not isinstance(a, SymInt) and a == 1:
        return b
    if not isinstance(a, SymInt) and not isinstance(b, SymInt):
        raise Untraceable(f"extents {a} and {b} do not broadcast")
    # Different expressions: equal, or NumPy would fail. The simpler one stands for both.
    return min(a, b, key=lambda extent: (len(terms_of(extent)), len(text(extent))))


def broadcast_shapes(*shapes) -> tuple:
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, extent in enumerate(shape):
            at = rank - len(shape) + i
            result[at] = broadcast_extent(result[at], extent)
    return tuple(result)


def broadcast_to(value: Traced, shape) -> Traced:
    shape = tuple(shape)
    if len(value.shape) == len(shape) and all(same(a, b) for a, b in zip(value.shape, shape)):
        return value
    pairs = zip(reversed(value.shape), reversed(shape))
    misfit = any(is_int(have) and is_int(want) and have not in (1, want) for have, want in pairs)
    if misfit or len(value.shape) > len(shape):
        raise Untraceable(f"shape {show(value.shape)} does not broadcast to {show(shape)}")
    from strop.trace_sizes import fit_where_taken

    node = GRAPH.add("layout", "broadcast", [fit_where_taken(value, shape).node], shape, GRAPH.dtype(value.node))
    return Traced(node, shape, value.dtype, value.weak)


def is_one(extent) -> bool:
    return not isinstance(extent, SymInt) and extent == 1


def pointwise(op: str, *operands) -> Traced:
    values = [lift(operand) for operand in operands]
    shape = broadcast_shapes(*(value.shape for value in values))
    data = values[1:] if op == "where" else values
    compute, weak = result_type(data)
    if op in ("logical_and", "logical_or", "logical_not"):
        values = [value if value.dtype == np.bool_ else pointwise("not_equal", value, 0) for value in values]
        compute = np.dtype(bool)
    elif op in FLOATING and compute.kind not in "f":
        if op in ("floor", "ceil", "round"):
            return data[0]
        compute = np.dtype(np.float64)
    elif (
        op in ("subtract", "negative", "square", "power", "floor_divide", "remainder") and compute.kind == "b"
    ):
        raise Untraceable(f"'{op}' of booleans")
    elif op in BITS and compute.kind not in "iu":
        raise Untraceable(f"'{op}' of {compute}")
    dtype = np.dtype(bool) if op in COMPARISONS or op in LOGICAL else compute
    stored = GRAPH.working if weak and compute.kind == "f" else compute
    if weak and compute.kind == "f" and any(GRAPH.depends[value.node] for value in values if value.filled != "empty"):
        stored = np.dtype(np.float64)  # of a step's number, as Python computes with it
    nodes = [cast(value, stored) for value in (values[1:] if op == "where" else values)]
    if op == "where":
        condition = values[0] if values[0].dtype == np.bool_ else pointwise("not_equal", values[0], 0)
        nodes.insert(0, condition.node)
    node = GRAPH.add("pointwise", op, nodes, shape, stored if dtype == compute else dtype)
    return in_order_of(Traced(node, shape, dtype, weak and not shape), values)


# ---- the layout operations that everything needs -----------------------------------------------------


def transpose(value: Traced, permutation) -> Traced:
    permutation = tuple(permutation)
    if permutation == tuple(range(value.ndim)):
        return value
    from strop.trace_views import Transposed, shown

    shape = tuple(value.shape[axis] for axis in permutation)
    if value.filled == "empty" and value.pieces is None:
        return shown(Traced(-1, shape, value.dtype, view_of=value), value, Transposed(permutation))
    node = GRAPH.add(
        "layout", "transpose", [value.node], shape, GRAPH.dtype(value.node), axes=list(permutation)
    )
    return shown(Traced(node, shape, value.dtype, view_of=value), value, Transposed(permutation))


def axis_of(axis, rank: int) -> int:
    if isinstance(axis, SymInt):
        axis.__index__()
    axis = axis.__index__()
    if not -rank <= axis < rank:
        raise Untraceable(f"axis {axis} is out of bounds for rank {rank}")
    return axis % rank


def axes_of(axis, rank: int) -> tuple:
    """None: all of them."""
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, (tuple, list, range)) else (axis,)
    result = tuple(axis_of(one, rank) for one in axes)
    if len(set(result)) != len(result):
        raise Untraceable("an axis is named twice")
    return tuple(sorted(result))


def reduce(op: str, value, axis=None, keepdims=False, dtype=None) -> Traced:
    value = lift(value)
    axes = axes_of(axis, value.ndim)
    if value.dtype == np.bool_ and op in ("max", "min"):
        op = "any" if op == "max" else "all"
    elif value.dtype == np.bool_ and op.startswith("arg"):
        value = astype(value, np.uint8)  # truth values are in no order
    if op in ("any", "all"):
        value = value if value.dtype == np.bool_ else pointwise("not_equal", value, 0)
    elif op in ("sum", "prod"):
        wide = dtype if dtype is not None else value.dtype if value.dtype.kind == "f" else np.int64
        value = (
            value if value.dtype == wide and not value.weak else Traced(cast(value, wide), value.shape, wide)
        )
    if op in ("argmax", "argmin") and len(axes) > 1:
        if keepdims:
            raise Untraceable(f"'{op}' over all axes with keepdims")
        value, axes = _flat(value), (0,)
    kept = tuple(1 if i in axes else extent for i, extent in enumerate(value.shape))
    shape = kept if keepdims else tuple(extent for i, extent in enumerate(value.shape) if i not in axes)
    result = np.dtype(np.int64) if op.startswith("arg") else value.dtype
    if not axes:
        return value
    node = GRAPH.add("reduction", op, [value.node], shape, result, axes=list(axes), keepdims=bool(keepdims))
    return Traced(node, shape, result)


def scan(op: str, value: Traced, axis) -> Traced:
    node = GRAPH.add("scan", op, [value.node], value.shape, value.dtype, axes=[axis_of(axis, value.ndim)])
    return Traced(node, value.shape, value.dtype)


def _flat_view(value: Traced) -> Traced:
    from strop.trace_views import reshaped

    return reshaped(value, (value.size,))


def _flat(value: Traced) -> Traced:
    from strop.trace_layout import reshape

    return reshape(value, (value.size,))


def extents_product(value: Traced, axes):
    return product(value.shape[axis] for axis in axes)


def mean(value, axis=None, keepdims=False, dtype=None) -> Traced:
    value = lift(value)
    if dtype is None and value.dtype.kind != "f":
        dtype = np.float64
    axes = axes_of(axis, value.ndim)
    return pointwise("divide", reduce("sum", value, axes, keepdims, dtype), extents_product(value, axes))


def variance(value, axis=None, keepdims=False, ddof=0, centre=None) -> Traced:
    value = lift(value)
    axes = axes_of(axis, value.ndim)
    centred = pointwise("subtract", value, mean(value, axes, True) if centre is None else centre)
    total = reduce("sum", pointwise("square", centred), axes, keepdims)
    return pointwise("divide", total, extents_product(value, axes) - ddof)
