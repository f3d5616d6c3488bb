"""Softmax and sigmoid behind."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose3d(4, 8, 3, padding=1)

    def forward(self, x):
        return torch.sigmoid(torch.softmax(self.conv(x), dim=1))


def get_inputs():
    return [torch.randn(1, 4, 12, 20, 20)]
