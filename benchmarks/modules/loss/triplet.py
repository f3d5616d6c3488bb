"""Distances to a like and an unlike example."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, anchor, like, unlike):
        return F.triplet_margin_loss(anchor, like, unlike)


def get_inputs():
    return [torch.randn(256, 512), torch.randn(256, 512), torch.randn(256, 512)]
