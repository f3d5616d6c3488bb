from task import input_t, output_t
import torch


def custom_kernel(data: input_t) -> output_t:
    counts = torch.zeros(256, dtype=torch.int64, device=data.device)
    return counts.scatter_add_(0, data.to(torch.int64), torch.ones_like(data, dtype=torch.int64))
