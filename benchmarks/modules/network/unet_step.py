"""Down, up by a transposed convolution, concatenated."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(16, 32, 3, padding=1)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.merge = nn.Conv2d(32, 16, 3, padding=1)

    def forward(self, x):
        y = torch.relu(self.down(F.max_pool2d(x, 2)))
        return torch.relu(self.merge(torch.cat([x, self.up(y)], dim=1)))


def get_inputs():
    return [torch.randn(2, 16, 32, 32)]
