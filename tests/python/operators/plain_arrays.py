import numpy as np


def row_max(inp, dim, keepdim=False):
    return np.max(inp, axis=dim, keepdims=keepdim), np.argmax(inp, axis=dim, keepdims=keepdim)
