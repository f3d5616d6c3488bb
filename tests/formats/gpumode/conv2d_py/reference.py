from utils import make_match_reference, DisableCuDNNTF32
from task import input_t, output_t
import torch
import torch.nn.functional as F


def ref_kernel(data: input_t) -> output_t:
    """
    Reference implementation of 2D convolution using PyTorch.
    Args:
        data: Tuple of (input tensor, kernel tensor, output tensor)
    Returns:
        Output tensor after convolution
    """
    with DisableCuDNNTF32():
        input_tensor, kernel, output = data
        output[...] = F.conv2d(input_tensor, kernel, stride=1, padding=0)
        return output


def generate_input(size: int, kernelsize: int, channels: int, batch: int, seed: int) -> input_t:
    """
    Returns:
        Tuple of (input tensor, kernel tensor, output tensor)
    """
    gen = torch.Generator(device='cuda')
    gen.manual_seed(seed)

    input_tensor = torch.randn(batch, channels, size, size, device='cuda', dtype=torch.float32, generator=gen).contiguous()
    kernel = torch.randn(channels, channels, kernelsize, kernelsize, device='cuda', dtype=torch.float32,
                         generator=gen).contiguous()
    output_tensor = torch.empty(batch, channels, size - kernelsize + 1, size - kernelsize + 1, device='cuda',
                                dtype=torch.float32)
    return (input_tensor, kernel, output_tensor)


check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
