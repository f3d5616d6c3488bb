"""Running statistics, a residual, an activation."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.eval()

    def forward(self, x, residual):
        return torch.relu(self.norm(x) + residual)


def get_inputs():
    return [torch.randn(8, 64, 28, 28), torch.randn(8, 64, 28, 28)]


def get_init_inputs():
    return [64]
