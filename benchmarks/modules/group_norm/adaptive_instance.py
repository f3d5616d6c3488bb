"""Scale and shift come from a style."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x, scale, shift):
        return F.instance_norm(x) * (1 + scale[:, :, None, None]) + shift[:, :, None, None]


def get_inputs():
    return [torch.randn(8, 32, 32, 32), torch.randn(8, 32), torch.randn(8, 32)]
