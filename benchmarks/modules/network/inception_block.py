"""Four branches, concatenated."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(32, 16, 1)
        self.reduce = nn.Conv2d(32, 16, 1)
        self.three = nn.Conv2d(16, 32, 3, padding=1)
        self.pool = nn.Conv2d(32, 16, 1)

    def forward(self, x):
        return torch.cat([self.one(x), self.three(torch.relu(self.reduce(x))), self.pool(F.max_pool2d(x, 3, 1, 1))], dim=1)


def get_inputs():
    return [torch.randn(2, 32, 28, 28)]
