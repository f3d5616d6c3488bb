"""An embedding, a sequence, a head."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(1000, 32)
        self.lstm = nn.LSTM(32, 48, batch_first=True)
        self.head = nn.Linear(48, 10)

    def forward(self, ids):
        return self.head(self.lstm(self.table(ids))[0][:, -1])


def get_inputs():
    return [torch.randint(0, 1000, (16, 8))]
