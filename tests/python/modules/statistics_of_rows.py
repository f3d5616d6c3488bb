import torch
from torch import nn


class Model(nn.Module):
    """Returns a dictionary with a tuple, a list and None in it."""

    def forward(self, x):
        centred = x - x.mean(1, keepdim=True)
        return {"centred": centred, "moments": (x.mean(1), [x.var(1)]), "cache": None}


def get_inputs():
    return [torch.randn(16, 40)]
