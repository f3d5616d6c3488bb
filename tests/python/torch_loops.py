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


def unbound(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    for x_t in x.unbind(1):
        h = torch.tanh(h + x_t)
    return h


def unbound_by_a_function(x):
    """x: M N K"""
    h = torch.zeros(x.shape[0], x.shape[2])
    ys = []
    for t, x_t in enumerate(torch.unbind(x, dim=1)):
        h = 0.5 * h + x_t * t
        ys.append(h)
    return torch.stack(ys, 1)


def over_rows(x):
    """x: M N"""
    s = torch.zeros(x.shape[1])
    for row in x:
        s = s * 0.5 + row
    return s


def backwards(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    ys = []
    for t in reversed(range(x.shape[1])):
        h = 0.5 * h + x[:, t]
        ys.append(h)
    ys.reverse()
    return torch.stack(ys, 1)


def counted_down(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    for t in range(x.shape[1] - 1, -1, -1):
        h = torch.relu(0.5 * h + x[:, t])
    return h


def both_ways(x):
    """x: M N"""
    h, g = x[:, 0] * 0, x[:, 0] * 0
    there, back = [], []
    for t in range(x.shape[1]):
        h = torch.tanh(h + x[:, t])
        there.append(h)
    for t in reversed(range(x.shape[1])):
        g = torch.tanh(g + x[:, t])
        back.append(g)
    return torch.stack([torch.stack(there, 1), torch.stack(back[::-1], 1)], 2)


def zipped(x, y):
    """x: M N, y: M N"""
    s = torch.zeros(x.shape[0])
    for a, b in zip(x.unbind(1), y.unbind(1)):
        s = s * 0.9 + a * b
    return s


def counter(x):
    """x: M N"""
    k = 1
    s = torch.zeros(x.shape[0])
    for x_t in x.unbind(1):
        s = s + x_t / k
        k += 1
    return s / k


def tuple_of_states(x):
    """x: M N"""
    state = (torch.zeros(x.shape[0]), torch.ones(x.shape[0]))
    for t in range(x.shape[1]):
        h, c = state
        c = c * 0.5 + x[:, t]
        state = (torch.tanh(c) + h * 0.1, c)
    return state[0], state[1]


def list_of_states(x):
    """x: M N"""
    hs = [torch.zeros(x.shape[0]) for _ in range(3)]
    for t in range(x.shape[1]):
        y = x[:, t]
        for l in range(3):
            hs[l] = torch.tanh(hs[l] + y)
            y = hs[l]
    return torch.stack(hs, 1), y


def latest(x):
    """x: M N"""
    ys = [x[:, 0]]
    for t in range(1, x.shape[1]):
        ys.append(0.5 * ys[-1] + x[:, t])
    return torch.stack(ys, 1)


def first_step_apart(x):
    """x: M N"""
    for t in range(x.shape[1]):
        if t == 0:
            h = x[:, t]
        else:
            h = 0.5 * h + x[:, t]
    return h


def none_at_first(x):
    """x: M N"""
    h = None
    ys = []
    for x_t in x.unbind(1):
        h = x_t if h is None else torch.tanh(h * 0.5 + x_t)
        ys.append(h)
    return torch.stack(ys, dim=1)


def two_a_step(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    ys = []
    for t in range(x.shape[1]):
        h = h * 0.5 + x[:, t]
        ys.append(h)
        ys.append(h * h)
    return torch.stack(ys, 1)


def two_names(x):
    """x: M 6"""
    h = x[:, 0] * 1
    first = h
    for t in range(6):
        h += x[:, t]
    return first + h


def listed_then_walked(x):
    """x: M N"""
    ys = []
    for t in range(x.shape[1]):
        ys.append(x[:, t] * 2)
    s = torch.zeros(x.shape[0])
    for y in ys:
        s = s * 0.5 + y
    return s


def zipped_with_numbers(x):
    """x: M N"""
    s = torch.zeros(x.shape[0])
    for t, x_t in zip(range(x.shape[1]), x.T):
        s = s + x_t * (t + 1)
    return s


def stacked_layers(x, w):
    """x: B M K, w: 2 K K"""
    hs = [x.new_zeros(x.size(0), x.size(2)) for _ in range(2)]
    out = []
    for t in range(x.size(1)):
        inp = x[:, t, :]
        for i, h in enumerate(hs):
            hs[i] = torch.tanh(inp @ w[i] + h)
            inp = hs[i]
        out.append(inp)
    return torch.stack(out).transpose(0, 1)


def horner_flip(c, x):
    """c: M, x: N"""
    y = torch.zeros_like(x)
    for ck in c.flip(0):
        y = y * x + ck
    return y


def discounted(r):
    """r: B M"""
    R = torch.zeros(r.shape[0])
    out = []
    for i in range(r.shape[1] - 1, -1, -1):
        R = r[:, i] + 0.99 * R
        out.insert(0, R)
    return torch.stack(out, 1)


def gae(r, v):
    """r: B M, v: B M"""
    adv, last = torch.zeros_like(r), 0
    for t in reversed(range(r.shape[1])):
        nextv = v[:, t + 1] if t < r.shape[1] - 1 else 0.0
        delta = r[:, t] + 0.99 * nextv - v[:, t]
        adv[:, t] = last = delta + 0.95 * last
    return adv


def window_sum(x):
    """x: M N"""
    outs = []
    for i in range(x.shape[1] - 2):
        outs.append(x[:, i:i + 3].sum(1))
    return torch.stack(outs, 1)


def conv_by_hand(x, w):
    """x: M N, w: 3 3"""
    rows = []
    for i in range(x.shape[0] - 2):
        row = []
        for j in range(x.shape[1] - 2):
            row.append((x[i:i+3, j:j+3] * w).sum())
        rows.append(torch.stack(row))
    return torch.stack(rows)


def comp_pairs(x, y):
    """x: M N, y: M N"""
    return torch.stack([(a * b).sum() for a, b in zip(x, y)])


def summed(x):
    """x: M N"""
    return sum(x[:, t] * (t + 1) for t in range(x.shape[1]))


def listed_tuple(x):
    """x: M N"""
    return torch.stack(tuple(row.cumsum(0) for row in x))


def newton(x):
    """x: M N"""
    y = x.abs() + 1
    for _ in range(50):
        y = 0.5 * (y + (x.abs() + 1) / y)
    return y


def last_is_other(x):
    """x: M N"""
    h = torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h = h + x[:, t]
        if t < x.shape[1] - 1:
            h = torch.relu(h)
    return h


def dictstate(x):
    """x: M N"""
    s = {"h": torch.zeros(x.shape[0])}
    for t in range(x.shape[1]):
        s["h"] = s["h"] * 0.5 + x[:, t]
    return s["h"]


def copied(x):
    """x: M N"""
    out = torch.empty_like(x)
    h = torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h.mul_(0.5).add_(x[:, t]).clamp_(min=0)
        out[:, t].copy_(h)
    return out


def alias(x):
    """x: M 6"""
    h = torch.zeros(x.shape[0])
    g = h
    for t in range(6):
        h.add_(x[:, t])
    return g


def split_(x):
    """x: M N"""
    h = 0
    for c in x.split(1, dim=1):
        h = h * 0.5 + c.squeeze(1)
    return h


def window_every(x, w):
    """x: B 2*M+1, w: 3"""
    return torch.stack([(x[:, 2 * i:2 * i + 3] * w).sum(1) for i in range((x.shape[1] - 1) // 2)], 1)


def windows_over_the_edge(x):
    """x: M 40"""
    return torch.stack([x[:, i:i + 3].sum(1) for i in range(x.shape[1])], 1)


def while_after(x):
    """x: M N"""
    t, s = 1, x[:, 0]
    while t < x.size(1):
        s = torch.tanh(s) + x[:, t]
        t += 1
    return s * t


def while_down(x):
    """x: M N"""
    t = x.shape[1] - 1
    h = torch.zeros(x.shape[0])
    while t >= 0:
        h = h * 0.5 + x[:, t]
        t = t - 1
    return h


def after_enumerate(x):
    """x: M N"""
    for i, row in enumerate(x):
        y = row * i
    return y + i, row


def mean_of_a_list(x):
    """x: M N"""
    ys = []
    h = torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h = torch.tanh(h + x[:, t])
        ys.append(h)
    return sum(ys) / len(ys)


def list_without_its_first(x):
    """x: M N"""
    hs = [torch.zeros(x.shape[0])]
    for t in range(x.shape[1]):
        hs.append(hs[-1] * 0.5 + x[:, t])
    return torch.stack(hs[1:], 1), torch.stack(hs[:-1])


def rows_above_each_other(x, w):
    """x: M N, w: N K"""
    return torch.vstack([row @ w for row in x]), torch.hstack([row.sum() for row in x])


def columns_beside_each_other(x):
    """x: M N"""
    out = []
    for column in x.unbind(1):
        out.append(torch.relu(column).unsqueeze(1))
    return torch.hstack(out)


def two_at_once(x):
    """x: M N"""
    ys, h = [], torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h = h * 0.9 + x[:, t]
        ys.extend([h, -h])
    return torch.stack(ys, 1)


def list_of_columns(x):
    """x: M N"""
    columns = list(x.unbind(1))
    h = columns[0]
    for column in columns[1:]:
        h = torch.maximum(h * 0.5, column)
    return h


def padded_at_both_ends(x):
    """x: M N"""
    edge = [torch.zeros(x.shape[1])]
    rows = edge + [row.cumsum(0) for row in x] + edge
    return torch.stack(rows)


def by_the_length_of_a_list(x):
    """x: M N"""
    rows = [row * 2 for row in x]
    s = torch.zeros(x.shape[1])
    for i in range(len(rows)):
        s = torch.sin(s + rows[i])
    return s
