import math

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    """Self-attention with a mask that is a buffer, in the manner of small GPTs."""

    def __init__(self, width, heads, longest):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(0.0)
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest, dtype=torch.bool)))
        self.heads = heads

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in self.qkv(x).chunk(3, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(~self.mask[:length, :length], float("-inf"))
        y = self.drop(F.softmax(scores, dim=-1)) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


def get_inputs():
    return [torch.randn(4, 16, 32)]


def get_init_inputs():
    return [32, 4, 16]
