"""Each row against all others, temperature 0.1."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        logits = F.normalize(x, dim=1) @ F.normalize(y, dim=1).T / 0.1
        return F.cross_entropy(logits, torch.arange(x.shape[0]))


def get_inputs():
    return [torch.randn(128, 256), torch.randn(128, 256)]
