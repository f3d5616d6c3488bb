import torch


def vector_add(a, b):
    return torch.add(a, b)
