"""References in PyTorch with loops over extents that vary. As torch_formulas.py."""

import torch
import torch.nn.functional as F


def cumulated(x):
    """x: M N"""
    h = x.new_zeros(x.shape[0])
    for t in range(x.shape[1]):
        h = h * 0.5 + x[:, t]
    return h


def listed(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    ys = []
    for t in range(x.size(1)):
        h = torch.tanh(h + x[:, t])
        ys.append(h)
    return torch.stack(ys, dim=1), h


def catted(x, y):
    """x: M N K, y: K B"""
    h = torch.zeros(x.shape[0], y.shape[1])
    out = []
    for t in range(x.shape[1]):
        h = (x[:, t] @ y + h).sigmoid()
        out.append(h.unsqueeze(1))
    return torch.cat(out, dim=1)


def begun_with_a_number(x):
    """x: M N"""
    s = 0
    for t in range(x.shape[1]):
        s = s + x[:, t] ** 2
    return s


def step_used(x):
    """x: M N"""
    s = 0.0
    for t in range(x.shape[1]):
        s = s + x[:, t] * t / x.shape[1]
    return s, t * x


def viterbi(x, y):
    """x: B M K, y: K K"""
    score = x[:, 0]
    back = []
    for i in range(1, x.size(1)):
        v, b = (score.unsqueeze(2) + y).max(dim=1)
        score = v + x[:, i]
        back.append(b)
    best, last = score.max(1)
    return best, torch.stack(back, 1)


def written(x):
    """x: M N"""
    out = torch.zeros_like(x)
    h = torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h = 0.9 * h + x[:, t]
        out[:, t] = h
    return out


def written_back(x):
    """x: M N"""
    y = x.clone()
    for t in range(1, x.shape[1]):
        y[:, t] = y[:, t] + 0.5 * y[:, t - 1]
    return y


def nested(x, y):
    """x: M N, y: N K"""
    rows = []
    for i in range(x.shape[0]):
        acc = torch.zeros(y.shape[1])
        for j in range(x.shape[1]):
            acc = acc + x[i, j] * y[j]
        rows.append(acc)
    return torch.stack(rows)


def two_states(x):
    """x: M N"""
    m = torch.full((x.shape[0],), float("-inf"))
    l = torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        new = torch.maximum(m, x[:, t])
        l = l * torch.exp(m - new) + torch.exp(x[:, t] - new)
        m = new
    return m + torch.log(l)


def decided_by_the_step(x):
    """x: M 6"""
    h = x[:, 0]
    for t in range(x.shape[1]):
        if t % 2 == 0:
            h = h + x[:, t]
    return h


def many_steps(x):
    """x: M 64"""
    h = x[:, 0]
    for t in range(64):
        h = h * 0.5 + x[:, t]
    return h


def two_loops(x):
    """x: M N"""
    a = torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        a = a + x[:, t]
    b = torch.zeros(x.shape[1])
    for t in range(x.shape[0]):
        b = b * 0.3 + x[t] * a[t]
    return a, b


def cell(x, w, u):
    """x: B M K, w: K K, u: K K"""
    h = x.new_zeros(x.shape[0], x.shape[2])
    c = x.new_zeros(x.shape[0], x.shape[2])
    outs = []
    for t in range(x.shape[1]):
        z = F.linear(x[:, t], w) + F.linear(h, u)
        c = torch.sigmoid(z) * c + (1 - torch.sigmoid(z)) * torch.tanh(z)
        h = torch.tanh(c) * torch.sigmoid(z)
        outs.append(h)
    y = torch.stack(outs)
    return y.permute(1, 0, 2).mean(1), h


def augmented(x):
    """x: M N"""
    y = x.clone()
    for t in range(1, x.shape[1]):
        y[:, t] += 0.5 * y[:, t - 1]
    return y


def rows(x):
    """x: M N"""
    y = torch.empty(x.shape[1], x.shape[0])
    for t in range(x.shape[1]):
        y[t] = x[:, t] * 2
    return y


def stepped(x):
    """x: M N"""
    s = torch.zeros(x.shape[0])
    for t in range(0, x.shape[1], 2):
        s = s * 0.5 + x[:, t]
    return s


def neighbours(x):
    """x: M N"""
    s = x[:, 0]
    for t in range(1, x.shape[1] - 1):
        s = s + x[:, t - 1] * x[:, t + 1]
    return s


def mask_step(x):
    """x: M N"""
    s = torch.zeros_like(x)
    for t in range(x.shape[1]):
        s = torch.where(torch.arange(x.shape[1]) <= t, s + x[:, t:t+1], s)
    return s


def left_by_the_last_step(x):
    """x: M N"""
    for t in range(x.shape[1]):
        y = x[:, t] * 2
    return y + t


def added_in_place(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h += x[:, t]
    return h


def pair(x):
    """x: M N"""
    a, b = torch.zeros(x.shape[0]), torch.ones(x.shape[0])
    for t in range(x.shape[1]):
        a, b = b * 0.5, a + x[:, t]
    return a, b
