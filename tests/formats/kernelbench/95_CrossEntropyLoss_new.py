import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        picked = torch.gather(predictions, 1, targets.unsqueeze(1)).squeeze(1)
        return (torch.logsumexp(predictions, dim=1) - picked).mean()
