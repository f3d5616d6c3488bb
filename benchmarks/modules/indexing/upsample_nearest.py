"""Twice as high and wide, repeated."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=2, mode='nearest')


def get_inputs():
    return [torch.randn(8, 32, 32, 32)]
