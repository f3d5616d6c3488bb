"""Expand, depthwise, project, residual; inference."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(24, 96, 1, bias=False), nn.BatchNorm2d(96), nn.ReLU6(),
            nn.Conv2d(96, 96, 3, padding=1, groups=96, bias=False), nn.BatchNorm2d(96), nn.ReLU6(),
            nn.Conv2d(96, 24, 1, bias=False), nn.BatchNorm2d(24),
        )
        self.eval()

    def forward(self, x):
        return x + self.layers(x)


def get_inputs():
    return [torch.randn(4, 24, 28, 28)]
