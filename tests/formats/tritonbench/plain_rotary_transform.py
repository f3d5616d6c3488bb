import torch


def apply_rotary(x, cos, sin, interleaved=False, inplace=False):
    seqlen, dim = x.shape[1], 2 * cos.shape[1]
    cos, sin = cos[:seqlen, None, :], sin[:seqlen, None, :]
    turned, rest = x[..., :dim], x[..., dim:]
    if interleaved:
        a, b = turned[..., ::2], turned[..., 1::2]
        turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
    else:
        a, b = turned.chunk(2, dim=-1)
        turned = torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    return torch.cat((turned, rest), dim=-1)
