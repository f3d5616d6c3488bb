import torch
from torch import nn


class Model(nn.Module):
    """A product with its epilogue; dropout that drops nothing; a number among the inputs."""

    def __init__(self, width, features):
        super().__init__()
        self.fc = nn.Linear(width, features)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, low):
        return self.drop(torch.clamp(self.fc(x), min=low))


def get_inputs():
    return [torch.randn(32, 48), 0.5]


def get_init_inputs():
    return [48, 64]
