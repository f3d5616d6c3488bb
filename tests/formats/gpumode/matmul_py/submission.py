import torch
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    a, b = data
    c = torch.empty(a.shape[0], b.shape[1], device="cuda", dtype=a.dtype)
    torch.matmul(a, b, out=c)
    return c
