import torch
import torch.nn as nn

class Model(nn.Module):
    """
    A single square matrix multiplication (C = A * B).
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        """
        Args:
            A (torch.Tensor): Input matrix of shape (N, N).
            B (torch.Tensor): Input matrix of shape (N, N).

        Returns:
            torch.Tensor: Output matrix of shape (N, N).
        """
        return torch.matmul(A, B)

N = 512

def get_inputs():
    A = torch.rand(N, N)
    B = torch.rand(N, N)
    return [A, B]

def get_init_inputs():
    return []  # No special initialization inputs needed
