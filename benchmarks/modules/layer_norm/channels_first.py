"""Over the channels of an image."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(64, 1, 1))

    def forward(self, x):
        mean = x.mean(dim=1, keepdim=True)
        variance = ((x - mean) ** 2).mean(dim=1, keepdim=True)
        return (x - mean) / torch.sqrt(variance + 1e-6) * self.weight


def get_inputs():
    return [torch.randn(8, 64, 28, 28)]
