"""The entropy of each row's distribution."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        logs = F.log_softmax(x, dim=-1)
        return -(logs.exp() * logs).sum(dim=-1)


def get_inputs():
    return [torch.randn(512, 1024)]
