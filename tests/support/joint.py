"""Small heads whose margins are one target each, for images of one patch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import torch
from support.small import small_head, varied_head

from verale.bounds import Joint
from verale.head import Cosine, Head, InnerProduct
from verale.search.problem import Problem

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


def margins_of_sets(joint: Joint, problem: Problem, image: int, sets: Sequence[Collection[int]]) -> torch.Tensor:
    """(S, C) margins that statements about each of S sets of prototypes prove of an image."""
    observed, predicted = problem.observed[image : image + 1], problem.margins.predicted[image : image + 1]
    stated = torch.zeros(len(sets), problem.head.size, dtype=torch.bool)
    for row, chosen in enumerate(sets):
        stated[row, list(chosen)] = True
    lower = torch.where(stated, observed.lower, -torch.inf)
    upper = torch.where(stated, observed.upper, torch.inf)
    return joint.margins(predicted.expand(len(sets)), lower, upper).lower
