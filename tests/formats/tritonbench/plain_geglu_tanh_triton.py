import torch.nn.functional as F


def gelu_and_mul(gate, up):
    return F.gelu(gate, approximate="tanh") * up
