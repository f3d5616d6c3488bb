"""A bias less, a clamp, a scale behind."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose2d(16, 16, 4, stride=2, padding=1)
        self.bias = nn.Parameter(torch.randn(16, 1, 1))

    def forward(self, x):
        return torch.clamp(torch.tanh(self.conv(x) - self.bias) * 2, -1, 1)


def get_inputs():
    return [torch.randn(4, 16, 24, 24)]
