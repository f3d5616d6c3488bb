"""Scores bounded by a hyperbolic tangent."""

import math

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        return torch.softmax(20 * torch.tanh(scores / 20), dim=-1) @ v


def get_inputs():
    return [torch.randn(2, 4, 128, 32), torch.randn(2, 4, 128, 32), torch.randn(2, 4, 128, 32)]
