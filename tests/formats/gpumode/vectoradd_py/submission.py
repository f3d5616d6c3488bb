#!POPCORN leaderboard vectoradd
#!POPCORN gpu A100
from task import input_t, output_t
import torch


def custom_kernel(data: input_t) -> output_t:
    A, B = data
    return torch.add(A, B)
