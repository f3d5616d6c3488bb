import torch


def column_sum(x, out=None):
    return torch.sum(x, dim=0, out=out)
