"""Upper triangular operands."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.triu(a) @ torch.triu(b)


def get_inputs():
    return [torch.randn(256, 256), torch.randn(256, 256)]
