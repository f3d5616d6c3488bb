"""Maxima over a grid of equal cells."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.adaptive_max_pool2d(x, 8)


def get_inputs():
    return [torch.randn(8, 64, 32, 32)]
