"""Channels of four groups interleaved."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.channel_shuffle(x, 4)


def get_inputs():
    return [torch.randn(8, 64, 28, 28)]
