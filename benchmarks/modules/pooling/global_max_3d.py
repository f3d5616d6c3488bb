"""One maximum a channel of a volume."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.amax(x, dim=(2, 3, 4))


def get_inputs():
    return [torch.randn(4, 32, 16, 24, 24)]
