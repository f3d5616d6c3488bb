import torch
from torch import nn


class Model(nn.Module):
    """Batch norm in training mode, a scale that starts as ones, a number among the inputs."""

    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1)
        self.bn = nn.BatchNorm2d(filters)
        self.scale = nn.Parameter(torch.ones(filters, 1, 1))

    def forward(self, x, power):
        return torch.relu(self.bn(self.conv(x))) * self.scale * power


def get_inputs():
    return [torch.randn(4, 3, 16, 16), 2.0]


def get_init_inputs():
    return [3, 8]
