"""Running sums of the chosen elements."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=1)


def get_inputs():
    return [torch.randn(256, 2048), torch.rand(256, 2048) > 0.5]
