"""Double precision."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(192, 256, dtype=torch.float64), torch.randn(256, 192, dtype=torch.float64)]
