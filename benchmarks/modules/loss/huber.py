"""Squares near zero, magnitudes beyond."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return F.huber_loss(x, y, delta=0.5)


def get_inputs():
    return [torch.randn(512, 1024), torch.randn(512, 1024)]
