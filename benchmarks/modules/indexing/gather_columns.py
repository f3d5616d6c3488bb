"""Elements of each row by index."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, index):
        return torch.gather(x, 1, index)


def get_inputs():
    return [torch.randn(512, 1024), torch.randint(0, 1024, (512, 64))]
