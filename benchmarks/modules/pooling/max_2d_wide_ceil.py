"""Large overlapping windows, ceil mode."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.max_pool2d(x, 7, stride=3, padding=3, ceil_mode=True)


def get_inputs():
    return [torch.randn(4, 16, 64, 64)]
