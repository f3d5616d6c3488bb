"""RMS norm, rotary attention with shared keys, a gated MLP."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(128), nn.RMSNorm(128)
        self.q, self.o = nn.Linear(128, 128, bias=False), nn.Linear(128, 128, bias=False)
        self.k, self.v = nn.Linear(128, 64, bias=False), nn.Linear(128, 64, bias=False)
        self.gate, self.up = nn.Linear(128, 256, bias=False), nn.Linear(128, 256, bias=False)
        self.down = nn.Linear(256, 128, bias=False)
        self.register_buffer("rate", 10000 ** (-torch.arange(16) / 16))

    def turned(self, x):
        angle = torch.arange(x.shape[-2])[:, None] * self.rate
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)

    def forward(self, x):
        b, t, c = x.shape
        y = self.norm1(x)
        q = self.turned(self.q(y).view(b, t, 4, 32).transpose(1, 2))
        k = self.turned(self.k(y).view(b, t, 2, 32).transpose(1, 2))
        v = self.v(y).view(b, t, 2, 32).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, c))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def get_inputs():
    return [torch.randn(2, 48, 128)]
