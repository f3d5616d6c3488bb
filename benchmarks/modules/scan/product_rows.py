"""Running products along rows."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cumprod(x, dim=1)


def get_inputs():
    return [torch.rand(256, 1024) * 0.1 + 0.95]
