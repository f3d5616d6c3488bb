import torch.nn.functional as F


def layernorm(x, gamma, beta, eps):
    return F.layer_norm(x, gamma.shape, gamma, beta, eps)
