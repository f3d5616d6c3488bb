"""Running sums of what is before each element."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(F.pad(x, (1, 0)), dim=1)[:, :-1]


def get_inputs():
    return [torch.randn(256, 2048)]
