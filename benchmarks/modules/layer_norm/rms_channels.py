"""Root mean square over the channels of an image."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-5)


def get_inputs():
    return [torch.randn(8, 64, 32, 32)]
