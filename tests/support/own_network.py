"""A small ProtoPNet that somebody wrote: an own module, in which nothing comes from verale or CaBRNet."""

from __future__ import annotations

import torch
from torch import Tensor, nn

CLASSES, PER_CLASS, DEPTH, SIDE = 3, 4, 8, 8


class OwnNetwork(nn.Module):
    """Logits W S(min_l |z_l - p_j|^2), with the published names of its tensors.

    Args:
        epsilon, activation: of S, "log" ln((d + 1) / (d + epsilon)) or "linear" -d.
        bias: whether the last layer has one.
    """

    def __init__(self, epsilon: float = 1e-4, activation: str = "log", bias: bool = False) -> None:
        super().__init__()
        drawn = torch.Generator().manual_seed(5)
        self.features = nn.Conv2d(3, 6, 2, stride=2)
        self.add_on_layers = nn.Sequential(nn.Conv2d(6, DEPTH, 1), nn.Sigmoid())
        self.prototype_vectors = nn.Parameter(torch.zeros(CLASSES * PER_CLASS, DEPTH, 1, 1))
        self.last_layer = nn.Linear(CLASSES * PER_CLASS, CLASSES, bias=bias)
        self.epsilon, self.activation = epsilon, activation
        for parameter in self.parameters():
            parameter.data = torch.randn(parameter.shape, generator=drawn) * 0.8
        # Projected: each prototype is a patch of an image.
        with torch.no_grad():
            latents = self.add_on_layers(self.features(own_images(CLASSES * PER_CLASS, seed=1)))
            self.prototype_vectors.copy_(latents[:, :, 1, 2, None, None])
            own = torch.eye(CLASSES).repeat_interleave(PER_CLASS, dim=1)
            self.last_layer.weight.copy_(1.5 * own - 0.5)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        latents = self.add_on_layers(self.features(images))
        cross = nn.functional.conv2d(latents, self.prototype_vectors)
        own = self.prototype_vectors.square().sum((1, 2, 3)).view(-1, 1, 1)
        distances = torch.relu(latents.square().sum(1, keepdim=True) - 2 * cross + own).amin((2, 3))
        similar = -distances
        if self.activation == "log":
            similar = torch.log((distances + 1) / (distances + self.epsilon))
        return self.last_layer(similar), distances


def own_images(count: int, seed: int = 0) -> Tensor:
    """(N, 3, 8, 8) in [0, 1], multiples of 1 / 255 as `ToTensor` gives them."""
    drawn = torch.Generator().manual_seed(100 + seed)
    return torch.randint(256, (count, 3, SIDE, SIDE), generator=drawn) / 255
