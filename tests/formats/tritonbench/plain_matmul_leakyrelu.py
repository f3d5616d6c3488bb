import torch
import torch.nn.functional as F


def matmul(a, b, activation=""):
    c = torch.matmul(a, b)
    if activation == "leaky_relu":
        c = F.leaky_relu(c, 0.01)
    return c
