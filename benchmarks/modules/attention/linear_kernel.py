"""Attention whose softmax is a feature map: two products."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        context = k.transpose(-1, -2) @ v
        return (q @ context) / (q @ k.sum(dim=-2)[..., None])


def get_inputs():
    return [torch.randn(2, 4, 256, 32), torch.randn(2, 4, 256, 32), torch.randn(2, 4, 256, 32)]
