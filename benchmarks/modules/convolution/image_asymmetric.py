"""A row and a column of filters."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(32, 32, (1, 7), padding=(0, 3))
        self.down = nn.Conv2d(32, 32, (7, 1), padding=(3, 0))

    def forward(self, x):
        return self.down(self.conv(x))


def get_inputs():
    return [torch.randn(4, 32, 24, 24)]
