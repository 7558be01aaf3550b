"""Reference evaluation of a head in float64, rounded to nearest: an estimate, never part of a proof."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from verale.errors import LatentsError
from verale.head.head import Cosine, Euclidean, FocalPooling, Head, LogRatio

__all__ = ["Evaluation", "evaluate", "observables"]


@dataclass(frozen=True)
class Evaluation:
    """What the head computes, for N images.

    Attributes:
        observables: (N, L, P) m(z_l, p_j).
        activations: (N, P).
        logits: (N, C).
    """

    observables: Tensor
    activations: Tensor
    logits: Tensor

    @property
    def predicted(self) -> Tensor:
        """(N,) the first class with the largest logit."""
        return self.logits.argmax(dim=1)


def observables(head: Head, patches: Tensor) -> Tensor:
    """m(z_l, p_j) for patches (N, L, D) float64: (N, L, P). Raises LatentsError when the depth does not fit."""
    if patches.shape[-1] != head.depth:
        raise LatentsError(
            f"latents have {patches.shape[-1]} channels, the head expects {head.depth}: another network's?"
        )
    if head.prototypes is None:
        return torch.softmax(patches, dim=-1)
    prototypes = head.prototypes.to(patches)
    if isinstance(head.geometry, Euclidean):
        return torch.stack([(image[:, None, :] - prototypes).square().sum(-1) for image in patches])
    epsilon = head.geometry.epsilon if isinstance(head.geometry, Cosine) else 0.0
    unit = patches / (patches.norm(dim=-1, keepdim=True) + epsilon)
    cosines: Tensor = unit @ (prototypes / prototypes.norm(dim=-1, keepdim=True)).T
    return cosines


def evaluate(head: Head, patches: Tensor) -> Evaluation:
    """Evaluate a head on patches (N, L, D) float64."""
    observed = observables(head, patches)
    closest = observed.amin(dim=1) if isinstance(head.similarity, LogRatio) else observed.amax(dim=1)
    activations = _similarity(head, closest)
    if isinstance(head.pooling, FocalPooling):
        by_distance = head.pooling.kind == "max_minus_mean_distance"
        activations = activations - (
            _similarity(head, observed.mean(dim=1)) if by_distance else _similarity(head, observed).mean(dim=1)
        )
    logits = activations @ head.weight.to(patches).T
    if head.bias is not None:
        logits = logits + head.bias.to(patches)
    return Evaluation(observed, activations, logits)


def _similarity(head: Head, observed: Tensor) -> Tensor:
    """S of observables (..., P)."""
    if not isinstance(head.similarity, LogRatio):
        return observed
    scaled = observed if head.scale is None else observed * head.scale.to(observed)
    return torch.log((scaled + 1) / (scaled + head.similarity.epsilon))
