"""The table of what functions mean on traced arrays, by NumPy's names.

`call` is the one entrance, from the protocols, the operators, the methods and the stand-in modules.
"""

from __future__ import annotations

from strop.trace_array import Traced
from strop.trace_dims import Untraceable
from strop.trace_lists import JOINS, StepList
from strop.trace_ragged_calls import call_ragged, is_ragged, makes_ragged

HANDLERS: dict = {}

# Methods of arrays that mean the function of the same (or another) name.
METHODS = {
    name: name
    for name in (
        "sum prod max min any all argmax argmin mean var std ptp cumsum cumprod reshape transpose ravel "
        "squeeze swapaxes clip dot round repeat take choose argpartition"
    ).split()
}
METHODS |= {
    "astype": "astype",
    "copy": "ndarray.copy",
    "flatten": "ndarray.flatten",
    "conj": "copy",
    "conjugate": "copy",
    "fill": "copyto",
    "sort": "ndarray.sort",
    "argsort": "argsort",
    "trace": "trace",
    "diagonal": "diagonal",
    "nonzero": "nonzero",
    "searchsorted": "searchsorted",
    "view": "ndarray.view",
}


# Functions that take an order of elements, by what they take it for where nothing is said.
ORDERED = dict.fromkeys("zeros ones empty reshape ravel ndarray.flatten ndarray.copy".split(), "C") | {"array": "K", "copy": "K"}


# Functions whose result may be their argument, or a view of it. All others give a new array.
VIEWS = set(
    "array reshape ravel transpose permute_dims swapaxes moveaxis rollaxis squeeze expand_dims atleast_1d atleast_2d "
    "atleast_3d broadcast_to broadcast_arrays split array_split hsplit vsplit dsplit unstack flip flipud fliplr rot90 asarray "
    "asanyarray ascontiguousarray asfortranarray asarray_chkfinite asfarray require real diagonal linalg.diagonal "
    "matrix_transpose linalg.matrix_transpose einsum astype nan_to_num ndarray.view lib.stride_tricks.as_strided "
    "lib.stride_tricks.sliding_window_view".split()
)


def apart(result, arguments):
    """A new array, where what computes it has left an argument as it is."""
    if not isinstance(result, Traced) or not result.shape or result.is_list:
        return result
    if not any(isinstance(one, Traced) and one._storage is result._storage for one in _flat(arguments)):
        return result
    return Traced(result.node, result.shape, result.dtype, result.weak)


def _flat(values) -> list:
    return [inner for one in values for inner in (_flat(one) if isinstance(one, (list, tuple)) else [one])]


def handles(*names):
    def register(function):
        for name in names:
            HANDLERS[name] = function
        return function

    return register


def name_of(function) -> str:
    """'linalg.norm' of np.linalg.norm."""
    module = (getattr(function, "__module__", None) or "numpy").partition(".")[2]
    return f"{module}.{function.__name__}" if module and not module.startswith("_") else function.__name__


# Reductions, by what leaves a result as it is.
REDUCTIONS: dict = {"sum": 0, "add.reduce": 0, "prod": 1, "multiply.reduce": 1, "any": False, "all": True,
                    "logical_or.reduce": False, "logical_and.reduce": True, "count_nonzero": 0}
REDUCTIONS |= dict.fromkeys("max min amax amin maximum.reduce minimum.reduce mean".split())


def reduced_where(name: str, where, x, *arguments, **options):
    """Over the elements where it holds; an extremum of none is the initial value."""
    if name == "mean":
        total = call("sum", (x, *arguments), options | {"where": where})
        kept = HANDLERS["broadcast_to"](HANDLERS["astype"](where, total.dtype), x.shape)
        return total / call("sum", (kept, *arguments), options)
    nothing = options.get("initial") if REDUCTIONS[name] is None else REDUCTIONS[name]
    if nothing is None:
        raise Untraceable(f"'np.{name}' with where= needs an initial value")
    return HANDLERS[name](HANDLERS["where"](where, x, nothing), *arguments, **options)


def call(name: str, arguments, options):
    options = {key: value for key, value in options.items() if value is not None or key in ("axis", "axes")}
    out = options.pop("out", None)
    out = out[0] if isinstance(out, tuple) else out
    order = options.pop("order", ORDERED.get(name, "K"))
    if name in ORDERED and order != ORDERED[name]:
        options["order"] = order
    for ignored in ("casting", "subok", "optimize", "writeable", "like", "device"):
        options.pop(ignored, None)
    if name not in ("array", "astype", "asarray", "asanyarray", "nan_to_num"):  # which may give the array itself
        options.pop("copy", None)
    if is_ragged(arguments) or makes_ragged(name, arguments):
        if out is not None or options.get("where", True) is not True:
            raise Untraceable("an extent that changes with each step")
        return call_ragged(name, arguments, options)
    if any(hasattr(one, "is_masked") for one in arguments if not isinstance(one, Traced)):
        from strop.trace_masks import call_masked

        return call_masked(name, arguments, options)
    from strop import trace_complex

    if trace_complex.concerns(name, arguments, options):
        if out is not None or options.pop("where", True) is not True:
            raise Untraceable(f"'np.{name}' of complex numbers into an array has no graph operation")
        return trace_complex.call_complex(name, arguments, options)
    where = options.pop("where", True)
    if name in JOINS and isinstance(arguments[0], StepList):
        return JOINS[name](*arguments, **options)
    if name not in HANDLERS:
        raise Untraceable(
            f"'{name if name.startswith(('ndarray.', 'math.')) else 'np.' + name}' has no graph operation"
        )
    if where is not True and name == "copyto":
        options["where"], where = where, True
    if where is not True and name in REDUCTIONS:
        result = reduced_where(name, where, *arguments, **options)
        where = True
    else:
        result = HANDLERS[name](*arguments, **options)
    if order == "F" and name in ("full", "zeros_like", "ones_like", "empty_like", "full_like"):
        result._storage.contiguous = False
    if where is not True:
        if out is None:
            raise Untraceable(f"'np.{name}' with where= and without out= has no graph operation")
        result = HANDLERS["where"](where, result, out)
    if out is None:
        return result if name in VIEWS else apart(result, arguments)
    if not isinstance(out, Traced):
        raise Untraceable(f"'np.{name}' writes into an array that is not traced")
    return out.assign(result)
