import torch
import torch.nn.functional as F


def bias_gelu_residual(x, bias, scale, residual, out=None):
    return torch.addcmul(residual, F.gelu(x + bias, approximate="tanh"), scale, out=out)
