"""One mean a channel."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.adaptive_avg_pool2d(x, 1).flatten(1)


def get_inputs():
    return [torch.randn(16, 128, 28, 28)]
