"""A layer of two concatenated inputs."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(384, 256)

    def forward(self, x, y):
        return self.linear(torch.cat([x, y], dim=1))


def get_inputs():
    return [torch.randn(128, 256), torch.randn(128, 128)]
