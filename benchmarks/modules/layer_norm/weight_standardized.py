"""Weights with zero mean and unit variance by filter."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, w):
        return (w - w.mean(dim=(1, 2, 3), keepdim=True)) / (w.std(dim=(1, 2, 3), keepdim=True) + 1e-5)


def get_inputs():
    return [torch.randn(128, 64, 3, 3)]
