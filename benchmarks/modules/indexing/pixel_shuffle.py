"""Channels into positions."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.pixel_shuffle(x, 2)


def get_inputs():
    return [torch.randn(8, 64, 32, 32)]
