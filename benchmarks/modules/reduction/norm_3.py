"""A norm of order 3."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.linalg.vector_norm(x, 3, dim=1)


def get_inputs():
    return [torch.randn(256, 1024)]
