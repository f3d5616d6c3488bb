"""Means of overlapping windows along a signal."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.avg_pool1d(x, 8, stride=1, padding=4)


def get_inputs():
    return [torch.randn(8, 64, 2048)]
