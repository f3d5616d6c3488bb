"""A layer and its low-rank update."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(512, 512)
        self.down = nn.Parameter(torch.randn(512, 8))
        self.up = nn.Parameter(torch.randn(8, 512))

    def forward(self, x):
        return self.linear(x) + (x @ self.down) @ self.up * 0.5


def get_inputs():
    return [torch.randn(128, 512)]
