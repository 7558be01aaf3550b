"""Small heads and latents for the tests, one recipe a geometry; nothing here is read from a file."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from verale.head import Box, Cosine, Euclidean, FocalPooling, Head, Identity, LogRatio, Softmax

GEOMETRIES = ("euclidean", "scaled", "cosine", "softmax")
FOCAL = (
    ("euclidean", "max_minus_mean"),
    ("scaled", "max_minus_mean"),
    ("cosine", "max_minus_mean"),
    ("softmax", "max_minus_mean"),
    ("euclidean", "max_minus_mean_distance"),
    ("scaled", "max_minus_mean_distance"),
)
"""(geometry, kind) of focal heads."""


def small_head(geometry: str, seed: int = 0, prototypes: int = 12, depth: int = 6, classes: int = 3) -> Head:
    """A head whose prototypes favour their own class, as trained ones do; with duplicates among the prototypes."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(classes, prototypes, generator=generator) * 0.3 - 0.5
    for j in range(prototypes):
        weight[j % classes, j] += 1.5
    bias = torch.randn(classes, generator=generator) * 0.1
    points = torch.rand(prototypes, depth, generator=generator)
    points[-1] = points[0]
    if geometry in ("euclidean", "scaled"):
        scale = 10 ** (2 * torch.rand(prototypes, generator=generator) - 1) if geometry == "scaled" else None
        return Head(weight, Euclidean(), LogRatio(1e-4), prototypes=points, bias=bias, scale=scale, domain=Box(0, 1))
    if geometry == "cosine":
        return Head(weight, Cosine(1e-8), Identity(), prototypes=points - 0.3, bias=bias, domain=Box(0, None))
    return Head(weight, Softmax(), Identity(), bias=bias)


def small_latents(head: Head, images: int = 4, patches: int = 5, seed: int = 0) -> Tensor:
    """(N, L, D) float32 latents in the head's domain, some of them near prototypes."""
    generator = torch.Generator().manual_seed(1000 + seed)
    latents = torch.rand(images, patches, head.depth, generator=generator)
    if head.prototypes is None:
        return latents * 6
    near = head.prototypes[torch.randint(head.size, (images,), generator=generator)].clamp(0, 1)
    latents[:, 0] = 0.9 * near + 0.1 * latents[:, 0]
    return latents


def focal_head(geometry: str, kind: str, seed: int = 0, **sizes: int) -> Head:
    """A small head with focal pooling."""
    return replace(small_head(geometry, seed, **sizes), pooling=FocalPooling(kind))
