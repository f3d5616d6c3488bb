"""Batch norm in training mode."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 32, 3, padding=1)
        self.norm = nn.BatchNorm2d(32)

    def forward(self, x):
        return F.leaky_relu(self.norm(self.conv(x)), 0.1)


def get_inputs():
    return [torch.randn(8, 16, 24, 24)]
