"""Rotary embedding of queries."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('rate', 10000 ** (-torch.arange(32) / 32))

    def forward(self, x):
        place = torch.arange(x.shape[-2])[:, None]
        angle = place * self.rate
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)


def get_inputs():
    return [torch.randn(4, 8, 128, 64)]
