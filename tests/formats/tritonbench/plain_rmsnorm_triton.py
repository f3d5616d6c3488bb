import torch


def rmsnorm(x, rms_weights, eps=1e-6):
    wide = x.float()
    scale = torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)
    return (wide * scale * rms_weights.float()).to(x.dtype)
