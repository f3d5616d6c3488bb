"""What the operators of this folder compute, by other means."""

import torch


def attention(q, k, v, slopes):
    n = q.shape[2]
    far = torch.arange(n)[:, None] - torch.arange(n)[None, :]
    weight = torch.where(far >= 0, torch.exp(-slopes[:, None, None] * far), 0.0)
    return (q @ k.transpose(-1, -2) * weight) @ v


def row_max(inp, dim, keepdim=False):
    return torch.max(inp, dim=dim, keepdim=keepdim)
