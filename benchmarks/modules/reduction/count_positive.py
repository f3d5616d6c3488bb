"""How many elements of a column are positive."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return (x > 0).sum(dim=0)


def get_inputs():
    return [torch.randn(2048, 256)]
