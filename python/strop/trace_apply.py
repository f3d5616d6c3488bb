"""Functions that are loops, as if the reference had written them: np.apply_along_axis, scipy.signal.lfilter."""

from __future__ import annotations

from strop import trace_layout as layout
from strop.trace_array import GRAPH, axis_of, broadcast_shapes, broadcast_to, lift, product, transpose
from strop.trace_calls import handles
from strop.trace_dims import Untraceable, is_int
from strop.trace_rewrite import rewritten

LOOPS = """
def each_row(function, rows, arguments, options):
    return stack([function(row, *arguments, **options) for row in rows])


def each_element(function, arrays, count):
    return stack([function(*[array[i] for array in arrays]) for i in range(count)])


def each_step(b, a, x):
    states, out = [x[0] * 0] * (len(b) - 1), []
    for row in x:
        y = b[0] * row + states[0]
        states = [after + p * row - q * y for after, p, q in zip(states[1:] + [0.0], b[1:], a[1:])]
        out.append(y)
    return stack(out)
"""


def loop(name: str):
    from strop.trace_modules import BUILTINS  # which knows this table

    names = {"__builtins__": BUILTINS, "stack": lift}
    exec(compile(rewritten(LOOPS, __file__), __file__, "exec"), names)
    return names[name]


@handles("vectorize", "frompyfunc")
def vectorize(function, *_, **__):
    """Of whole arrays where that does; where it asks for an element's value, element by element."""

    def apply(*arguments, **options):
        if options:
            raise Untraceable("named arguments of a function of np.vectorize")
        values = [lift(one) for one in arguments]
        shape = broadcast_shapes(*(one.shape for one in values))
        forks, passes = list(GRAPH.forks), list(GRAPH.passes)
        try:
            result = function(*arguments)
            return result if isinstance(result, tuple) else broadcast_to(lift(result), shape)
        except Untraceable as error:
            if not str(error).startswith("control flow depends on the values of an array"):
                raise
            GRAPH.forks[:], GRAPH.passes[:] = forks, passes
        count = product(shape)
        flat = [layout.reshape(broadcast_to(one, shape), (count,)) for one in values]
        return layout.reshape(loop("each_element")(function, flat, count), shape)

    return apply


@handles("apply_along_axis")
def apply_along_axis(func1d, axis, arr, *arguments, **options):
    x = lift(arr)
    axis = axis_of(axis, x.ndim)
    outer = (*x.shape[:axis], *x.shape[axis + 1 :])
    rows = layout.reshape(layout.moveaxis(x, axis, -1), (product(outer), x.shape[axis]))
    result = loop("each_row")(func1d, rows, arguments, options)
    result = layout.reshape(result, (*outer, *result.shape[1:]))
    inner = result.ndim - len(outer)
    order = [*range(axis), *range(len(outer), result.ndim), *range(axis, len(outer))]
    return transpose(result, order) if inner else result


@handles("signal.lfilter")
def filtered(b, a, x, axis=-1):
    """In direct form II transposed, a step at a time."""
    counts = [lift(one).shape[0] for one in (b, a)]
    if not all(is_int(count) for count in counts):
        raise Untraceable("'scipy.signal.lfilter' with a varying number of coefficients has no graph operation")
    first, count = a[0], max(*counts, 2)
    b, a = ([one[i] / first for i in range(have)] + [0.0] * (count - have) for one, have in zip((b, a), counts))
    x = lift(x)
    place = axis_of(axis, x.ndim)
    return layout.moveaxis(loop("each_step")(b, a, layout.moveaxis(x, place, 0)), 0, place)
