"""A diagonal matrix times a matrix."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, d, b):
        return torch.diag(d) @ b


def get_inputs():
    return [torch.randn(512), torch.randn(512, 512)]
