"""References in PyTorch whose loops cannot be followed: what they change has another name, or is kept elsewhere. As
torch_formulas.py, where extents are numbers; where they vary they may be refused, and never computed otherwise."""

import itertools

import torch
from torch import nn


def appended_and_changed(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    ys = []
    for t in range(x.shape[1]):
        h += x[:, t]
        ys.append(h)
    return torch.stack(ys)


def known_by_another_name(x):
    """x: M N"""
    h, s = torch.zeros(x.shape[0]), 0
    for t in range(x.shape[1]):
        prev = h
        h += x[:, t]
        s = s + (h - prev)
    return s, h


def seen_through_a_view(x):
    """x: M N"""
    h, s = torch.zeros(x.shape[0]), 0
    for t in range(x.shape[1]):
        v = h[1:]
        h += x[:, t]
        s = s + v
    return s


def in_a_list_before(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    ys = [h]
    for t in range(x.shape[1]):
        h += x[:, t]
    return ys[0]


def written_through_a_view(x):
    """x: M N"""
    y = x.clone()
    for t in range(x.shape[1]):
        row = y[:, t]
        row *= 2
    return y


def items_written(x):
    """x: M N"""
    y = x.clone()
    for row in y:
        row *= 3
    return y


def items_of_zip_written(x):
    """x: M N"""
    y = torch.zeros_like(x)
    for o, v in zip(y.unbind(1), x.unbind(1)):
        o.copy_(v * 2)
    return y


def written_while_walked(x):
    """x: M N"""
    y = x.clone()
    for t, row in enumerate(y[:-1]):
        y[t + 1] += 0.5 * row
    return y


class Leaky(nn.Module):
    def __init__(self):
        super().__init__()
        self.v, self.k = 0.0, 0

    def forward(self, i):
        self.v = 0.9 * self.v + i
        self.k += 1
        return self.v * self.k


def kept_in_a_module(x):
    """x: M N"""
    cell, out = Leaky(), []
    for t in range(x.shape[1]):
        out.append(cell(x[:, t]))
    return torch.stack(out, 1)


def kept_in_a_module_of_a_comprehension(x):
    """x: M N"""
    cell = Leaky()
    return torch.stack([cell(x[:, t]) for t in range(x.shape[1])], 1)


def kept_in_a_closure(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])

    def step(v):
        nonlocal h
        h = h * 0.5 + v

    for t in range(x.shape[1]):
        step(x[:, t])
    return h


def counted_elsewhere(x):
    """x: M N"""
    steps, s = itertools.count(), 0
    for t in range(x.shape[1]):
        s = s + x[:, t] * next(steps)
    return s


def other_shape_at_first(x):
    """x: M N"""
    h, s = torch.ones(1), 0
    for t in range(x.shape[1]):
        s = s + h.sum()
        h = h + x[:, t]
    return s


def other_operators(x):
    """x: M N"""
    m, h = x[:, 0] > 2, x[:, 0] * 0 + 0.5
    for t in range(x.shape[1]):
        m |= x[:, t] > 0.5
        h **= 2
    return m, h


def list_added_to(x):
    """x: M N"""
    ys = []
    for t in range(x.shape[1]):
        ys += [x[:, t] * t]
    return torch.stack(ys)


def tensors_in_a_dictionary(x):
    """x: 3 N"""
    y = x * 1
    d = {"a": y}
    for _ in range(3):
        d["a"] += x
    return y


def tensors_in_a_list(x):
    """x: 3 N"""
    y = x.clone()
    rows = [y[0], y[1], y[2]]
    for i in range(3):
        rows[i] += 1
    return y


def functions_of_the_last_item(x):
    """x: M N"""
    functions = [lambda v: v * i for i in range(3)]
    return functions[0](x)


def after_one_that_was_not_followed(x):
    """x: M 40"""
    s = torch.zeros(x.shape[0])
    for t in range(40):
        if t % 2:
            s = s + x[:, t]
    h = x[:, 0] * 1
    g = h
    for t in range(3):
        h += x[:, t]
    return s, g


def one_more_axis(x):
    """x: M 6"""
    out = torch.zeros(6, x.shape[0])
    for t in range(6):
        out[t] = x[:, t].unsqueeze(0)
    return out


class Halved(nn.Module):
    def __init__(self):
        super().__init__()
        self.split = nn.ReLU()

    def forward(self, x):
        s = 0
        for i in range(3):
            s = s + self.split(x) * i
        return s


def a_module_called_split(x):
    """x: M N"""
    return Halved()(x)


def numbered_by_a_function_in_a_comprehension(x):
    """x: M N"""
    n = 0

    def numbered(v):
        nonlocal n
        n += 1
        return v * n

    return torch.stack([numbered(x[:, t]) for t in range(x.shape[1])])


def dictionary_of_two_names(x):
    """x: M N"""
    state = {"h": torch.zeros(x.shape[0])}
    same = state
    for t in range(x.shape[1]):
        state["h"] = torch.tanh(state["h"] + x[:, t])
    return same["h"]


def part_of_a_dictionary(x):
    """x: M N"""
    state = {"a": [torch.zeros(x.shape[0])]}
    part = state["a"]
    for t in range(x.shape[1]):
        part[0] = part[0] * 0.5 + x[:, t]
    return state["a"][0]
