"""A table of biases by the distance of positions."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(8, 255))

    def forward(self, x):
        place = torch.arange(x.shape[-1])
        return x + self.bias[:, place[None, :] - place[:, None] + 127]


def get_inputs():
    return [torch.randn(4, 8, 128, 128)]
