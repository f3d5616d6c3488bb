"""Pairs of features."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bilinear = nn.Bilinear(32, 48, 64)

    def forward(self, x, y):
        return self.bilinear(x, y)


def get_inputs():
    return [torch.randn(64, 32), torch.randn(64, 48)]
