#!POPCORN leaderboard conv2d_v2
from task import input_t, output_t
import torch
import torch.nn.functional as F


def custom_kernel(data: input_t) -> output_t:
    x, kernel, output = data
    n, _, h, w = x.shape
    k = kernel.shape[-1]
    columns = F.unfold(x, (k, k))
    output.copy_((kernel.flatten(1) @ columns).view(n, -1, h - k + 1, w - k + 1))
    return output
