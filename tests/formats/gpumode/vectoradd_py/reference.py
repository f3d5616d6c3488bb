import torch
from task import input_t, output_t
from utils import make_match_reference


def ref_kernel(data: input_t) -> output_t:
    A, B = data
    return A + B


def generate_input(size: int, seed: int) -> input_t:
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    A = torch.randn(size, size, device="cuda", dtype=torch.float16, generator=gen).contiguous()
    B = torch.randn(size, size, device="cuda", dtype=torch.float16, generator=gen).contiguous()
    return A, B


check_implementation = make_match_reference(ref_kernel)
