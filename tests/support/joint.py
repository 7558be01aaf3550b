"""Small heads whose margins are one target each, for images of one patch."""

from __future__ import annotations

from dataclasses import replace

from support.small import small_head, varied_head

from verale.head import Cosine, Head, InnerProduct

HEADS = ("plain", "negated", "inner product", "in a ball", "cosine", "rooted")


def joint_head(name: str, seed: int = 0, prototypes: int = 5) -> Head:
    """A head by its name in HEADS."""
    if name in ("cosine", "rooted"):
        angular = small_head("cosine", seed, prototypes=prototypes)
        return replace(angular, geometry=Cosine(1e-4, rooted=name == "rooted"))
    if name == "in a ball":
        return replace(varied_head("inner product", seed, prototypes=prototypes), geometry=InnerProduct(3.0))
    head = varied_head("negated" if name == "plain" else name, seed, prototypes=prototypes)
    return replace(head, scale=None) if name == "plain" else head
