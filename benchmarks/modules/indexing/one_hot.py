"""Indices as rows of a unit matrix."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, ids):
        return F.one_hot(ids, 256).float()


def get_inputs():
    return [torch.randint(0, 256, (2048,))]
