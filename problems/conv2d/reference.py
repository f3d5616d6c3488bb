import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def conv2d(x, w, stride, padding, dilation, groups):
    n, c = x.shape[:2]
    k, _, r, s = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(x, (dilation * (r - 1) + 1, dilation * (s - 1) + 1), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride, ::dilation, ::dilation]
    p, q = windows.shape[2:4]
    windows = windows.reshape(n, groups, c // groups, p, q, r, s)
    filters = w.reshape(groups, k // groups, c // groups, r, s)
    y = np.einsum("ngcpqrs,gkcrs->ngkpq", windows, filters, optimize=True)
    return y.reshape(n, k, p, q)
