"""One product an element of the batch."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(16, 128, 64), torch.randn(16, 64, 128)]
