import torch
from torch import nn


class Model(nn.Module):
    """A loop over a sequence, tied weights, indices as inputs, two outputs."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 8)
        self.cell = nn.LSTMCell(8, 8)
        self.head = nn.Linear(8, 50, bias=False)
        self.head.weight = self.words.weight
        self.eval()

    def forward(self, ids):
        h = torch.zeros(ids.shape[0], 8)
        c = torch.zeros(ids.shape[0], 8)
        for step in self.words(ids).unbind(1):
            h, c = self.cell(step, (h, c))
        return self.head(h), h.argmax(-1)


def get_inputs():
    return [torch.randint(0, 50, (6, 4))]
