"""Rotary embeddings with complex turns: those of keys are kept by the module, those of queries are given."""

import torch
import torch.nn as nn


def turns(length, width):
    angles = torch.outer(torch.arange(length).float(), 100.0 ** (-torch.arange(0, width, 2).float() / width))
    return torch.polar(torch.ones_like(angles), angles)


def turned(x, by):
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * by[:, None]).flatten(3)


class Model(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.register_buffer("turns", turns(length, width))

    def forward(self, q, k, by):
        return turned(q, by), turned(k, self.turns[: k.shape[1]])


def get_inputs():
    return [torch.randn(2, 16, 4, 8), torch.randn(2, 12, 4, 8), turns(16, 8)]


def get_init_inputs():
    return [32, 8]
