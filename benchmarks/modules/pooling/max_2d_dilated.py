"""Dilated windows in two dimensions."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.max_pool2d(x, 3, stride=1, padding=1, dilation=2)


def get_inputs():
    return [torch.randn(4, 32, 40, 40)]
