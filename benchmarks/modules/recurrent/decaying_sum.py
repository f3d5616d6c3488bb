"""A running mean of 16 steps, unrolled."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        state, states = x[:, 0], []
        for step in range(16):
            state = 0.9 * state + 0.1 * x[:, step]
            states.append(state)
        return torch.stack(states, dim=1)


def get_inputs():
    return [torch.randn(64, 16, 256)]
