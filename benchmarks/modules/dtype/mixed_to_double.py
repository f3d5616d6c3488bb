"""Single precision summed in double precision."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.double().sum(dim=1).float()


def get_inputs():
    return [torch.randn(512, 1024)]
