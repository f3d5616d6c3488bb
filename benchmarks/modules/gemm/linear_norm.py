"""Group norm and an activation behind a layer."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(256, 512)
        self.norm = nn.GroupNorm(8, 512)

    def forward(self, x):
        return F.hardtanh(self.norm(self.linear(x)))


def get_inputs():
    return [torch.randn(128, 256)]
