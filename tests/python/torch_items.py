"""References in PyTorch with loops whose states and items are tuples, dictionaries and numbers. As torch_formulas.py."""

import torch


def states_in_tuples_of_a_list(x, w, u):
    """x: B M 4, w: 2 16 4, u: 2 16 4"""
    B, T, _ = x.shape
    states = [(torch.zeros(B, 4), torch.zeros(B, 4)) for _ in range(2)]
    out = []
    for t in range(T):
        y = x[:, t]
        for i in range(2):
            h, c = states[i]
            g = y @ w[i].t() + h @ u[i].t()
            a, f, o, z = g.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(a) * torch.tanh(z)
            h = torch.sigmoid(o) * torch.tanh(c)
            states[i] = (h, c)
            y = h
        out.append(y)
    return torch.stack(out, 1)


def collected_in_tuples(x, w):
    """x: B M 4, w: 4 4"""
    h = torch.zeros(x.shape[0], 4)
    outs = []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] + h @ w)
        outs.append((h, h.sum(1)))
    return torch.stack([a for a, _ in outs], 1), torch.stack([b for _, b in outs], 1)


def unzipped(x, w):
    """x: B M 4, w: 4 4"""
    h = torch.zeros(x.shape[0], 4)
    outs = []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] + h @ w)
        outs.append((h, h.sum(1)))
    hs, ss = zip(*outs)
    return torch.stack(hs, 1), torch.stack(ss), outs[-1][0], outs[0][1]


def pairs_of_a_comprehension(x):
    """x: B M 4"""
    pairs = [(a.sin(), a.sum(1)) for a in x.unbind(1)]
    return torch.stack([p for p, q in pairs]), torch.stack([q for p, q in pairs], 1)


def nested_states(x, w):
    """x: B M 4, w: 4 4"""
    st = {'a': (torch.zeros(x.shape[0], 4), [torch.zeros(x.shape[0])]), 'b': torch.ones(x.shape[0])}
    for t in range(x.shape[1]):
        h, (s,) = st['a']
        h = torch.tanh(x[:, t] @ w + h)
        st = {'a': (h, [s + h.sum(1)]), 'b': st['b'] * 0.5}
    return st['a'][0], st['a'][1][0], st['b']


def without_gradients(x):
    """x: B M"""
    s = torch.zeros(x.shape[0])
    for t in range(x.shape[1]):
        with torch.no_grad():
            k = torch.sigmoid(x[:, t])
        s = s * k + x[:, t]
    return s


def number_that_decays(x):
    """x: B M"""
    s, g = torch.zeros(x.shape[0]), 1.0
    for t in range(x.shape[1]):
        s = s + g * x[:, t]
        g *= 0.9
    return s


def new_list_of_states(x, w):
    """x: B M 4, w: 2 4 4"""
    hs = [x.new_zeros(x.shape[0], 4), x.new_zeros(x.shape[0], 4)]
    for t in range(x.shape[1]):
        new = []
        y = x[:, t]
        for i, h in enumerate(hs):
            y = torch.tanh(y + h @ w[i])
            new.append(y)
        hs = new
    return torch.cat(hs, 1)


def number_of_whole_and_half(x):
    """x: M N"""
    s, n = x.new_zeros(x.shape[0]), 1
    for t in range(x.shape[1]):
        s = s + x[:, t] / n
        n = n / 2 + 1
    return s / n


def items_walked_again(x):
    """x: B M 4"""
    pairs = []
    for row in x.unbind(1):
        pairs.append({"sum": row.sum(1), "most": row.amax(1)})
    total = torch.zeros(x.shape[0])
    for pair in reversed(pairs):
        total = total * 0.5 + pair["sum"] - pair["most"]
    return total, torch.stack([pair["most"] for pair in pairs[1:]], 1)
