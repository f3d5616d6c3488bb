"""Queries of one sequence, keys of another."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(64, 64)
        self.k = nn.Linear(64, 64)
        self.v = nn.Linear(64, 64)
        self.out = nn.Linear(64, 64)

    def forward(self, x, y):
        return self.out(F.scaled_dot_product_attention(self.q(x), self.k(y), self.v(y)))


def get_inputs():
    return [torch.randn(4, 64, 64), torch.randn(4, 96, 64)]
