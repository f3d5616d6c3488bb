"""A residual around it."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(32, 32, 3, padding=1)

    def forward(self, x):
        return x + F.gelu(self.conv(x))


def get_inputs():
    return [torch.randn(4, 32, 28, 28)]
