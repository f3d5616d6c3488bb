"""The same with statistics of the batch."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(16, 64, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU6(),
            nn.Conv2d(64, 64, 3, padding=1, groups=64, bias=False), nn.BatchNorm2d(64), nn.ReLU6(),
            nn.Conv2d(64, 16, 1, bias=False), nn.BatchNorm2d(16),
        )

    def forward(self, x):
        return x + self.layers(x)


def get_inputs():
    return [torch.randn(4, 16, 28, 28)]
