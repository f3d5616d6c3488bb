#!POPCORN leaderboard prefixsum_v2
import torch
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, output = data
    torch.cumsum(x, dim=0, out=output)
    return output
