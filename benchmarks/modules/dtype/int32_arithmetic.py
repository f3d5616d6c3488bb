"""Whole numbers, divided and multiplied."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return (x * 3 + y) // 7


def get_inputs():
    return [torch.randint(0, 1000, (512, 1024), dtype=torch.int32), torch.randint(0, 1000, (512, 1024), dtype=torch.int32)]
