"""Rows by index, scaled."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, index, scale):
        return x[index] * scale[:, None]


def get_inputs():
    return [torch.randn(2048, 256), torch.randint(0, 2048, (1024,)), torch.rand(1024)]
