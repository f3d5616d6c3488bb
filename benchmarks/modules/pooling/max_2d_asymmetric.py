"""Windows that are wider than high."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.max_pool2d(x, (2, 5), stride=(2, 1), padding=(0, 2))


def get_inputs():
    return [torch.randn(8, 16, 48, 64)]
