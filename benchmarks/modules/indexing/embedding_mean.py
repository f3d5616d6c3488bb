"""Means of rows of a table."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5000, 128)

    def forward(self, ids):
        return self.table(ids).mean(dim=1)


def get_inputs():
    return [torch.randint(0, 5000, (256, 32))]
