"""Bias, scale, activation and pooling behind."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 32, 3)
        self.scale = nn.Parameter(torch.randn(32, 1, 1))

    def forward(self, x):
        return F.max_pool2d(torch.tanh(self.conv(x) * self.scale), 2)


def get_inputs():
    return [torch.randn(4, 16, 34, 34)]
