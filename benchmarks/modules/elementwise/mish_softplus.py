"""Two activations with exponentials."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.mish(x) + F.softplus(x)


def get_inputs():
    return [torch.randn(128, 2048)]
