"""Reference evaluation of a head in float64, rounded to nearest: an estimate, never part of a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from verale.head.geometry import Geometry
from verale.head.latents import require_channels
from verale.head.pooling import Pooling
from verale.head.readout import Readout
from verale.head.similarity import Similarity

__all__ = [
    "Evaluation",
    "belonging",
    "evaluate",
    "evaluate_observed",
    "observables",
    "read_out",
    "require_depth",
    "similarity",
]


class Evaluated(Protocol):
    """What is read of a head (`head.py`, which calls this module for `Head.logits`)."""

    @property
    def geometry(self) -> Geometry: ...
    @property
    def similarity(self) -> Similarity: ...
    @property
    def pooling(self) -> Pooling: ...
    @property
    def readout(self) -> Readout: ...
    @property
    def weight(self) -> Tensor: ...
    @property
    def bias(self) -> Tensor | None: ...
    @property
    def scale(self) -> Tensor | None: ...
    @property
    def peak(self) -> Tensor | None: ...
    @property
    def points(self) -> Tensor: ...
    @property
    def depth(self) -> int: ...


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


def require_depth(head: Evaluated, patches: Tensor) -> None:
    """Raise LatentsError unless latents (..., D) have the head's number of channels."""
    require_channels(tuple(patches.shape), head.depth)


def observables(head: Evaluated, patches: Tensor) -> Tensor:
    """m(z_l, p_j) for patches (N, L, D) float64: (N, L, P). Raises LatentsError when the depth does not fit."""
    require_depth(head, patches)
    return head.geometry.observables(patches, head.points.to(patches))


def evaluate(head: Evaluated, patches: Tensor) -> Evaluation:
    """Evaluate a head on patches (N, L, D) float64."""
    return evaluate_observed(head, observables(head, patches))


def evaluate_observed(head: Evaluated, observed: Tensor) -> Evaluation:
    """Evaluate a head on observables (N, L, P)."""
    activations = head.pooling.pool(observed, lambda values: similarity(head, values))
    return Evaluation(observed, activations, read_out(head, activations))


def similarity(head: Evaluated, observed: Tensor) -> Tensor:
    """S of observables (..., P)."""
    scale = 1.0 if head.scale is None else head.scale.to(observed)
    peak = 0.0 if head.peak is None else head.peak.to(observed)
    return head.similarity.of(observed, head.geometry, scale, peak)


def read_out(head: Evaluated, activations: Tensor) -> Tensor:
    """Logits (N, C) from activations (N, P)."""
    bias = None if head.bias is None else head.bias.to(activations)
    return head.readout.read_out(activations, head.weight.to(activations), bias)


def belonging(head: Evaluated, predicted: Tensor) -> Tensor:
    """(N, P) bool: the prototypes that belong to each of N classes, as no class has a greater weight for them."""
    weight: Tensor = head.weight[predicted] >= head.weight.amax(0)
    return weight
