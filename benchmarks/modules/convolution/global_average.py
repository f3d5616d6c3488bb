"""A mean a channel behind."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 32, 3)

    def forward(self, x):
        return self.conv(x).mean(dim=(2, 3))


def get_inputs():
    return [torch.randn(8, 16, 32, 32)]
