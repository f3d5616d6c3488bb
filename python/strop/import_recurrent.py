"""PyTorch's recurrent layers and cells as nodes of the graph.

PyTorch takes them apart step by step while it exports, in seconds for some dozens of steps. Here they are exported as
operators of our own, which say only what shapes they give, and are written out by the tracer.
"""

from __future__ import annotations

import contextlib

import torch

from strop import trace_layout as layout
from strop.import_products import _linear
from strop.import_values import OPERATIONS
from strop.trace_array import Traced, pointwise, transpose
from strop.trace_dims import Untraceable
from strop.trace_layout import part
from strop.trace_repeat import over_steps

LIBRARY = torch.library.Library("strop", "FRAGMENT")
LAYER = "Tensor[] weights, bool biases, int layers, float dropout, bool train, bool bidirectional, bool batch_first"
CELL = "Tensor w, Tensor u, Tensor? b=None, Tensor? c=None"
LAYERS, CELLS = ("gru", "rnn_tanh", "rnn_relu"), ("gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
LIBRARY.define(f"lstm(Tensor x, Tensor[] state, {LAYER}) -> (Tensor, Tensor, Tensor)")
LIBRARY.define(f"lstm_cell(Tensor x, Tensor[] state, {CELL}) -> (Tensor, Tensor)")
for _name in LAYERS:
    LIBRARY.define(f"{_name}(Tensor x, Tensor state, {LAYER}) -> (Tensor, Tensor)")
for _name in CELLS:
    LIBRARY.define(f"{_name}(Tensor x, Tensor state, {CELL}) -> Tensor")


# ---- what PyTorch sees while it exports ------------------------------------------------------------------


def _seen_output(x, state, weights, bidirectional):
    """oneDNN's layer would take any extent of an input, and read beyond it."""
    torch._check(x.shape[-1] == weights[0].shape[-1], lambda: "the input has another extent than the weights")
    return x.new_empty([*x.shape[:-1], state.shape[-1] * (2 if bidirectional else 1)])


def _seen_layer(x, state, weights, biases, layers, dropout, train, bidirectional, batch_first):
    return _seen_output(x, state, weights, bidirectional), torch.empty_like(state)


def _seen_lstm(x, state, weights, biases, layers, dropout, train, bidirectional, batch_first):
    return _seen_output(x, state[0], weights, bidirectional), torch.empty_like(state[0]), torch.empty_like(state[1])


torch.library.register_fake("strop::lstm", _seen_lstm, lib=LIBRARY)
torch.library.register_fake("strop::lstm_cell", lambda x, state, *_: tuple(map(torch.empty_like, state)), lib=LIBRARY)
for _name in LAYERS:
    torch.library.register_fake(f"strop::{_name}", _seen_layer, lib=LIBRARY)
for _name in CELLS:
    torch.library.register_fake(f"strop::{_name}", lambda x, state, *_: torch.empty_like(state), lib=LIBRARY)


def _refusing_packed(operator):
    def call(x, second, *rest):
        if isinstance(second, torch.Tensor) and isinstance(rest[0], (torch.Tensor, tuple, list)) and \
                isinstance(rest[1], (tuple, list)):
            raise Untraceable("packed sequences have no graph operation")
        return operator(x, second, *rest)

    return call


@contextlib.contextmanager
def recurrences_kept():
    own = {name: getattr(torch.ops.strop, name) for name in ("lstm", "lstm_cell", *LAYERS, *CELLS)}
    own = {name: operator if name.endswith("cell") else _refusing_packed(operator) for name, operator in own.items()}
    theirs = {name: getattr(torch, name) for name in own}
    for name, operator in own.items():
        setattr(torch, name, operator)
        setattr(torch._VF, name, operator)  # what the modules call
    try:
        yield
    finally:
        for name, operator in theirs.items():
            setattr(torch, name, operator)
            delattr(torch._VF, name)


# ---- one step --------------------------------------------------------------------------------------------


def _quarters(gates: Traced, extent, count: int) -> list:
    return [part(gates, gates.ndim - 1, k * extent, (k + 1) * extent) for k in range(count)]


def _sigmoid(x):
    return pointwise("sigmoid", x)


def _tanh(x):
    return pointwise("tanh", x)


def _lstm_step(of_input, state, u, c, projection=None):
    h, cell = state
    i, f, g, o = _quarters(of_input + _linear(None, h, u, c), cell.shape[-1], 4)
    cell = _sigmoid(f) * cell + _sigmoid(i) * _tanh(g)
    h = _sigmoid(o) * _tanh(cell)
    return [h if projection is None else _linear(None, h, projection), cell]


def _gru_step(of_input, state, u, c):
    h = state[0]
    a, b = _quarters(of_input, h.shape[-1], 3), _quarters(_linear(None, h, u, c), h.shape[-1], 3)
    reset, update = _sigmoid(a[0] + b[0]), _sigmoid(a[1] + b[1])
    new = _tanh(a[2] + reset * b[2])
    return [(h - new) * update + new]


def _relu(x):
    return pointwise("maximum", x, 0.0)


STEPS = {
    "lstm": _lstm_step,
    "gru": _gru_step,
    "rnn_tanh": lambda of_input, state, u, c: [_tanh(of_input + _linear(None, state[0], u, c))],
    "rnn_relu": lambda of_input, state, u, c: [_relu(of_input + _linear(None, state[0], u, c))],
}

# ---- layers ----------------------------------------------------------------------------------------------


def _direction(step, x, batch_first, state, weights, biases, backwards):
    """Over x[T, B, I], or [B, T, I]: what each step gives, in the order of x, as [T, B, H], and the last state."""
    w, u, b, c = weights[:4] if biases else (*weights[:2], None, None)
    projection = weights[4:] if biases else weights[2:]
    of_input = _linear(None, x, w, b)  # in the order of memory: one product over all rows
    of_input = transpose(of_input, (1, 0, 2)) if batch_first else of_input
    count = of_input.shape[0]

    def one_step(t, state):
        place = count - 1 - t if backwards else t
        row = layout.reshape(part(of_input, 0, place, place + 1), of_input.shape[1:])
        state = step(row, state, u, c, *projection)
        return state, state[:1]

    (made,), last = over_steps(count, state, one_step)
    return layout.reverse(made, [0]) if backwards else made, last


def _layers(name, x, states, weights, biases, layers, dropout, train, bidirectional, batch_first):
    if dropout and train and layers > 1:
        raise Untraceable(f"'{name}' with dropout between its layers draws random numbers")
    directions = 2 if bidirectional else 1
    each, last = len(weights) // (layers * directions), []
    for layer in range(layers):
        made = []
        for direction in range(directions):
            place = layer * directions + direction
            own = weights[place * each : (place + 1) * each]
            values, state = _direction(STEPS[name], x, batch_first and layer == 0, [h[place] for h in states], own,
                                       biases, direction == 1)
            made.append(values)
            last.append(state)
        x = made[0] if directions == 1 else layout.concatenate(made, 2)
    x = transpose(x, (1, 0, 2)) if batch_first else x
    return [x, *(layout.stack([state[k] for state in last], 0) for k in range(len(states)))]


def _cell(name, x, states, w, u, b=None, c=None):
    return STEPS[name](_linear(None, x, w, b), states, u, c)


for _name in ("lstm", *LAYERS):
    OPERATIONS[_name] = lambda out, x, state, *rest, _name=_name: _layers(
        _name, x, state if isinstance(state, list) else [state], *rest)
    OPERATIONS[f"{_name}_cell"] = lambda out, x, state, *rest, _name=_name: (
        _cell(_name, x, state, *rest) if isinstance(state, list) else _cell(_name, x, [state], *rest)[0])
