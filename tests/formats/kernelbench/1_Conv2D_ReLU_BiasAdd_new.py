import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        n, _, h, w = x.shape
        k = self.conv.kernel_size
        columns = F.unfold(x, k)
        weight = self.conv.weight.view(self.conv.out_channels, -1)
        y = torch.relu(weight @ columns + self.conv.bias[:, None])
        return y.view(n, -1, h - k[0] + 1, w - k[1] + 1) + self.bias
