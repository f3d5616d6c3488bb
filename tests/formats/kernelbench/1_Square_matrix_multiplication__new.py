import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        half = A.shape[0] // 2
        return torch.cat([torch.mm(A[:half], B), torch.mm(A[half:], B)])
