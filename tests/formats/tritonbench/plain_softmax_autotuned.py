import torch


def softmax(x, log=False):
    return torch.log_softmax(x, dim=-1) if log else torch.softmax(x, dim=-1)
