"""A class for each pixel."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x, target):
        return F.cross_entropy(x, target)


def get_inputs():
    return [torch.randn(4, 21, 48, 48), torch.randint(0, 21, (4, 48, 48))]
