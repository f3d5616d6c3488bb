import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        flat = x.flatten(2)
        scale = torch.rsqrt(torch.linalg.vector_norm(flat, dim=1, keepdim=True).square() / flat.shape[1] + self.eps)
        return (flat * scale).view_as(x)
