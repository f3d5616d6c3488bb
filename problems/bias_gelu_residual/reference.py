import math

import numpy as np


def bias_gelu_residual(x, bias, scale, residual):
    z = x + bias
    gelu = 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    return gelu * scale + residual
