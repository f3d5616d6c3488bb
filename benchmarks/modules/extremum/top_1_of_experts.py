"""The best expert of a token and its weight."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        weight, expert = torch.topk(torch.softmax(x, dim=-1), 1, dim=-1)
        return weight, expert


def get_inputs():
    return [torch.randn(4096, 16)]
