"""Rows added at places, as graphs do it."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, index):
        return torch.zeros(512, x.shape[1]).index_add(0, index, x)


def get_inputs():
    return [torch.randn(2048, 64), torch.randint(0, 512, (2048,))]
