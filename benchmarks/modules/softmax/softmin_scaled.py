"""Of the negative, with a temperature."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.softmin(x / 0.7, dim=1)


def get_inputs():
    return [torch.randn(512, 1024)]
