import numpy as np


def rmsnorm(x, gamma, eps):
    mean_square = np.mean(x * x, axis=1, keepdims=True)
    return x / np.sqrt(mean_square + eps) * gamma
