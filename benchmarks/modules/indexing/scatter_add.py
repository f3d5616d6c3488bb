"""Values added at places of each row."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, index):
        return torch.zeros(x.shape[0], 256).scatter_add(1, index, x)


def get_inputs():
    return [torch.randn(256, 512), torch.randint(0, 256, (256, 512))]
