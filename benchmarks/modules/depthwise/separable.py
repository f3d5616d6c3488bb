"""Depthwise, then pointwise."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(32, 32, 3, padding=1, groups=32)
        self.point = nn.Conv2d(32, 64, 1)

    def forward(self, x):
        return self.point(self.conv(x))


def get_inputs():
    return [torch.randn(4, 32, 32, 32)]
