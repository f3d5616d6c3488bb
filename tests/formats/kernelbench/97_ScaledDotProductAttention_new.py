import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, Q, K, V):
        scores = torch.matmul(Q * (1.0 / math.sqrt(Q.size(-1))), K.transpose(-2, -1))
        return torch.matmul(torch.softmax(scores, dim=-1), V)
