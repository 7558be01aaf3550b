"""What is emitted of heads whose domain has a range of its own for every observable is proved, minimality included."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from verale.head import Box, Cosine, Head, Identity, InnerProduct, Softmax
from verale.soundness.compare import Group, explained, unproved

IMAGES, PATCHES, COUNT = 2, 3, 6


def drawn(kind: str, seed: int) -> tuple[Head, Tensor]:
    """A head and latents (IMAGES, PATCHES, D)."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.rand(3, COUNT, generator=generator) - 0.7
    weight[torch.arange(COUNT) % 3, torch.arange(COUNT)] += 1.5
    if kind == "softmax":
        width = (0.5, 2.0, 6.0)[seed % 3]
        latents = width * torch.rand(IMAGES, PATCHES, COUNT, generator=generator)
        return Head(weight, Softmax(), Identity(), domain=Box(0, width)), latents
    latents = torch.rand(IMAGES, PATCHES, 3, generator=generator)
    points = torch.rand(COUNT, 3, generator=generator) - (0.0 if seed % 2 else 0.3)
    latents[:, 0] = torch.lerp(latents[:, 0], points[:IMAGES].clamp(0.01, 1), 0.8)
    head = Head(weight, Cosine(0.0), Identity(), prototypes=points, domain=Box(0, None))
    match kind:
        case "bare cosine":
            return head, latents
        case "mirrored cosine":
            mirrored = replace(head, geometry=Cosine((0.0, 1e-4)[seed % 2], rooted=True), domain=Box(None, 0))
            return replace(mirrored, prototypes=-points), -latents
        case _:
            longest = float(latents.double().norm(dim=-1).max()) * 1.001
            box = Box(float(latents.min()), None) if kind == "half box" else Box(None, -float(latents.min()))
            sign = 1 if kind == "half box" else -1
            return replace(head, geometry=InnerProduct(longest), domain=box, prototypes=sign * points), sign * latents


KINDS = ("softmax", "bare cosine", "mirrored cosine", "half box", "mirrored half box")


def emitted(kind: str, seed: int, tolerance: float = 0.0) -> Group:
    return explained(kind, *drawn(kind, seed), tolerance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_what_is_emitted_is_proved(kind: str, seed: int) -> None:
    tried, lines = unproved([emitted(kind, seed)], "both")
    assert tried > 0 and lines == []


def test_within_a_tolerance() -> None:
    tried, lines = unproved((emitted("softmax", seed, 0.05) for seed in range(3)), "arb")
    assert tried > 0 and lines == []
