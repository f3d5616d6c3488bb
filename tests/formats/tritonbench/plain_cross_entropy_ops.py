import torch
import torch.nn.functional as F


def cross_entropy_loss(logits, labels, label_smoothing=0.0, logit_scale=1.0, ignore_index=-100):
    logits = logits.float() * logit_scale
    losses = F.cross_entropy(logits, labels, reduction="none", label_smoothing=label_smoothing, ignore_index=ignore_index)
    return losses, torch.logsumexp(logits, dim=-1)
