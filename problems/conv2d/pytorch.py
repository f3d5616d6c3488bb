import torch.nn.functional as F


def conv2d(x, w, stride, padding, dilation, groups):
    return F.conv2d(x, w, None, stride, padding, dilation, groups)
