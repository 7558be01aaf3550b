"""Reference evaluation of a head in float64, rounded to nearest: an estimate, never part of a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from verale.errors import LatentsError
from verale.head.geometry import Cosine, Euclidean, InnerProduct
from verale.head.head import Head
from verale.head.pooling import BankPooling, FocalPooling, MaxPooling, TopMeanPooling
from verale.head.readout import Linear, Maximum, SoftTree
from verale.head.similarity import (
    ExpDistance,
    Exponential,
    Identity,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
    Threshold,
)

__all__ = ["Evaluation", "evaluate", "evaluate_observed", "observables", "read_out", "similarity"]


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
    if isinstance(head.geometry, InnerProduct):
        return patches @ prototypes.T
    cosines: Tensor = (
        _direction(cast(Cosine, head.geometry), patches) @ (prototypes / prototypes.norm(dim=-1, keepdim=True)).T
    )
    return cosines


def _direction(geometry: Cosine, patches: Tensor) -> Tensor:
    """u of patches (..., D): a vector of the unit ball."""
    length: Tensor = patches.norm(dim=-1, keepdim=True)
    rooted, epsilon = geometry.rooted, geometry.epsilon
    return patches / ((length.square() + epsilon).sqrt() if rooted else length + epsilon)


def evaluate(head: Head, patches: Tensor) -> Evaluation:
    """Evaluate a head on patches (N, L, D) float64."""
    return evaluate_observed(head, observables(head, patches))


def evaluate_observed(head: Head, observed: Tensor) -> Evaluation:
    """Evaluate a head on observables (N, L, P)."""
    similar = similarity(head, observed)
    activations = _pooled(head, observed, similar)
    return Evaluation(observed, activations, read_out(head, activations))


def similarity(head: Head, observed: Tensor) -> Tensor:
    """S of observables (..., P)."""
    scale = 1.0 if head.scale is None else head.scale.to(observed)
    match head.similarity:
        case Identity():
            return observed
        case LogRatio(epsilon):
            return torch.log((scale * observed + 1) / (scale * observed + epsilon))
        case Negated():
            return -scale * observed
        case ExpDistance(epsilon):
            return torch.exp(-(observed + epsilon).sqrt())
        case Exponential():
            return torch.exp(-scale * (observed if isinstance(head.geometry, Euclidean) else 1 - observed))
        case Quadratic():
            return -(observed - (0.0 if head.peak is None else head.peak.to(observed))).square()
        case Rectified():
            return observed.clamp(min=0)
        case Threshold(threshold):
            return torch.where(observed >= threshold, observed, 0.0)


def _pooled(head: Head, observed: Tensor, similar: Tensor) -> Tensor:
    """Activations (N, P) from observables and similarities (N, L, P)."""
    match head.pooling:
        case MaxPooling():
            return similar.amax(dim=1)
        case BankPooling(class_token):
            return torch.cat([similar[:, 0, :class_token], similar[:, 1:, class_token:].amax(dim=1)], dim=1)
        case TopMeanPooling(k):
            return similar.topk(min(k, similar.shape[1]), dim=1).values.mean(dim=1)
        case FocalPooling("max_minus_mean"):
            return similar.amax(dim=1) - similar.mean(dim=1)
        case _:
            return similar.amax(dim=1) - similarity(head, observed.mean(dim=1))


def read_out(head: Head, activations: Tensor) -> Tensor:
    """Logits (N, C) from activations (N, P)."""
    weight = head.weight.to(activations)
    bias = 0.0 if head.bias is None else head.bias.to(activations)
    match head.readout:
        case Linear():
            return activations @ weight.T + bias
        case Maximum():
            return torch.where(weight > 0, (activations + bias)[:, None], -torch.inf).amax(dim=2)
        case SoftTree(absent, present):
            below: dict[int, Tensor] = {-1 - leaf: column for leaf, column in enumerate(weight.T)}
            for node in reversed(range(len(absent))):  # children come later
                known = activations[:, node, None]
                below[node] = (1 - known) * below.pop(absent[node]) + known * below.pop(present[node])
            return below[0]
