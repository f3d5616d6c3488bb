from utils import verbose_allequal, DeterministicContext
import torch
from task import input_t, output_t


def ref_kernel(data: input_t) -> output_t:
    """
    Reference implementation of a histogram.
    Args:
        data: tensor of shape (size,), uint8
    Returns:
        Tensor with the count of each of 256 values
    """
    with DeterministicContext():
        return torch.bincount(data, minlength=256)


def generate_input(size: int, contention: float, seed: int) -> input_t:
    """
    Contention is how many of a hundred values are the same one.
    """
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    data = torch.randint(0, 256, (size,), device="cuda", dtype=torch.uint8, generator=gen)
    evil_value = torch.randint(0, 256, (), device="cuda", dtype=torch.uint8, generator=gen)
    evil_loc = torch.rand((size,), device="cuda", dtype=torch.float32, generator=gen) < (contention / 100.0)
    data[evil_loc] = evil_value
    return data.contiguous()


def check_implementation(data, output):
    reasons = verbose_allequal(output, ref_kernel(data))
    if len(reasons) > 0:
        return "mismatch found! custom implementation doesn't match reference: " + " ".join(reasons)
    return ""
