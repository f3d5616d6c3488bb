import numpy as np


def multiples(x):
    quotient = x / np.float32(7)
    return np.where(quotient == np.floor(quotient), np.float32(1), np.float32(0))
