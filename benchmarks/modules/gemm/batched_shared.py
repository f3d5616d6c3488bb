"""A batch times one matrix."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(16, 64, 128), torch.randn(128, 256)]
