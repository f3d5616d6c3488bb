"""Products of rows."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.prod(x, dim=1)


def get_inputs():
    return [torch.rand(512, 256) * 0.1 + 0.95]
