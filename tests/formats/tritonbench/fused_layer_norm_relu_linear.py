import torch
import torch.nn.functional as F
from torch import Tensor


def fused_layer_norm_relu_linear(
        input: Tensor,
        weight: Tensor,
        bias: Tensor = None,
        normalized_shape=None,
        eps: float = 1e-05,
        elementwise_affine: bool = True) -> Tensor:
    """
    A linear transformation, then ReLU, then layer normalization.

    Args:
        input (Tensor): shape (*, in_features).
        weight (Tensor): shape (out_features, in_features).
        bias (Tensor, optional): shape (out_features).
        normalized_shape (int or list, optional): what is normalized over.
        eps (float, optional): is added for stability.
        elementwise_affine (bool, optional): with a weight of ones and a bias of zeros.

    Returns:
        Tensor: shape (*, out_features).
    """
    linear_output = F.linear(input, weight, bias)
    relu_output = F.relu(linear_output)
    if normalized_shape is None:
        normalized_shape = weight.shape[0]
    if isinstance(normalized_shape, int):
        normalized_shape = (normalized_shape,)
    affine_weight = torch.ones(normalized_shape, device=input.device) if elementwise_affine else None
    affine_bias = torch.zeros(normalized_shape, device=input.device) if elementwise_affine else None
    return F.layer_norm(relu_output, normalized_shape, affine_weight, affine_bias, eps)

##################################################################################################################################################


import torch
import torch.nn.functional as F
from torch import Tensor

# def fused_layer_norm_relu_linear(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True) -> Tensor

def test_fused_layer_norm_relu_linear():
    results = {}

    # Test case 1: with a bias
    input1 = torch.randn(4, 5, device='cuda')
    weight1 = torch.randn(3, 5, device='cuda')
    bias1 = torch.randn(3, device='cuda')
    results["test_case_1"] = fused_layer_norm_relu_linear(input1, weight1, bias1, normalized_shape=3)

    # Test case 2: without one
    input2 = torch.randn(4, 5, device='cuda')
    weight2 = torch.randn(3, 5, device='cuda')
    results["test_case_2"] = fused_layer_norm_relu_linear(input2, weight2, normalized_shape=3)

    # Test case 3: another epsilon
    results["test_case_3"] = fused_layer_norm_relu_linear(input1, weight1, bias1, normalized_shape=3, eps=1e-3)

    # Test case 4: more rows
    input4 = torch.randn(64, 5, device='cuda')
    results["test_case_4"] = fused_layer_norm_relu_linear(input4, weight1, bias1, normalized_shape=3)

    return results

test_results = test_fused_layer_norm_relu_linear()
