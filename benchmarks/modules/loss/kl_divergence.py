"""Of two distributions by row."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return F.kl_div(F.log_softmax(x, dim=-1), F.softmax(y, dim=-1), reduction='batchmean')


def get_inputs():
    return [torch.randn(256, 1024), torch.randn(256, 1024)]
