"""Overlap of two masks."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        p = torch.sigmoid(x).flatten(1)
        t = y.flatten(1)
        return (1 - (2 * (p * t).sum(1) + 1) / (p.sum(1) + t.sum(1) + 1)).mean()


def get_inputs():
    return [torch.randn(8, 1, 128, 128), torch.rand(8, 1, 128, 128)]
