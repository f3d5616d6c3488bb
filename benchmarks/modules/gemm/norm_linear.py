"""A norm before a layer."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(512)
        self.linear = nn.Linear(512, 512)

    def forward(self, x):
        return self.linear(self.norm(x))


def get_inputs():
    return [torch.randn(128, 512)]
