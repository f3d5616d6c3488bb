import dataclasses

import torch
from torch import nn
import torch.nn.functional as F
from task import input_t, output_t
from utils import make_match_reference, set_seed


@dataclasses.dataclass
class Config:
    dim: int
    hidden: int

    def scale_shape(self, batch: int, tokens: int):
        return batch, tokens, 1


class ScaledLinear(nn.Module):
    def __init__(self, weight: torch.Tensor):
        super().__init__()
        self.weight = weight

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return F.linear(x.float() * scale, self.weight.float()).to(torch.bfloat16)


def generate_input(batchsize: int, tokens: int, dim: int, hidden: int, seed: int) -> input_t:
    config = Config(dim, hidden)
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    x = torch.randn((batchsize, tokens, config.dim), dtype=torch.bfloat16, device=torch.device("cuda"), generator=generator)
    scale = torch.rand(config.scale_shape(batchsize, tokens), dtype=torch.float32, device="cuda:0", generator=generator) + 0.5
    weight = torch.randn((config.hidden, config.dim), dtype=torch.bfloat16, device="cuda", generator=generator) / dim**0.5
    out = torch.empty((batchsize, tokens, config.hidden), dtype=torch.bfloat16, device="cuda")
    return x, scale, weight, out


def ref_kernel(data: input_t) -> output_t:
    x, scale, weight, out = data
    layer = ScaledLinear(weight).to("cuda")
    out[:] = layer(x, scale)
    return out


check_implementation = make_match_reference(ref_kernel, rtol=2e-02, atol=1e-03)
