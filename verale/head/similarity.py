"""Similarities: from the observable m of one patch and one prototype to how alike they are, g = S(m).

`scale` and `peak` are tensors of the head, one number a prototype. Positive factors and constants that all patches of a
prototype share are not similarities: they are folded into the last layer, in float64.

A new similarity is one class here and its entry in `SIMILARITIES`, and one class in `bounds/similarity.py`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from verale.errors import HeadError
from verale.head.fields import Kind
from verale.head.geometry import Cosine, Euclidean, Geometry, InnerProduct, Softmax

__all__ = [
    "SIMILARITIES",
    "ExpDistance",
    "Exponential",
    "Identity",
    "LogRatio",
    "Negated",
    "Quadratic",
    "Rectified",
    "Similarity",
    "Threshold",
]

_LEAST_EPSILON = 2.0**-900
"""Far above what float64 loses to underflow when a tiny distance is scaled."""


class Similarity(ABC):
    """What all similarities answer; each one is a frozen dataclass with an entry in `SIMILARITIES`."""

    kind: ClassVar[str]
    """Its name in head files."""

    geometries: ClassVar[tuple[type[Geometry], ...]]
    """The geometries it is defined for."""

    tensors: ClassVar[tuple[str, ...]] = ()
    """Which of the head's tensors `scale` and `peak` it takes."""

    needs_bounded: ClassVar[bool] = False
    """Whether the observables have to be bounded over the domain, because it has no least value otherwise."""

    in_unit_interval: ClassVar[bool] = False
    """Whether its values lie in [0, 1], so that a soft tree may read them."""

    focal: ClassVar[bool] = False
    """Whether focal pooling is defined for it."""

    @abstractmethod
    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        """S of observables (..., P) in float64, rounded to nearest.

        Args:
            observed: (..., P).
            geometry: of the observables.
            scale: (P,), or 1.0 where the head has none.
            peak: (P,), or 0.0 where the head has none.
        """


@dataclass(frozen=True)
class Identity(Similarity):
    """S(m) = m, of cosines, inner products and softmax masses."""

    kind = "identity"
    geometries = (Cosine, InnerProduct, Softmax)
    focal = True

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        return observed


@dataclass(frozen=True)
class LogRatio(Similarity):
    """S(m) = ln((x + 1) / (x + epsilon)) with x = scale m, strictly decreasing for 0 < epsilon < 1 (ProtoPNet).

    It is computed as ln(1 + (1 - epsilon) / (x + epsilon)), which is 0 where x is beyond float64.
    """

    epsilon: float = 1e-4

    kind = "log_ratio"
    geometries = (Euclidean,)
    tensors = ("scale",)
    focal = True

    def __post_init__(self) -> None:
        if not _LEAST_EPSILON <= self.epsilon < 1:
            raise HeadError("similarity.epsilon", f"is {self.epsilon}, expected {_LEAST_EPSILON:.0e} <= epsilon < 1")

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        return torch.log1p((1 - self.epsilon) / (scale * observed + self.epsilon))


@dataclass(frozen=True)
class Negated(Similarity):
    """S(m) = -scale m of a squared distance (linear ProtoPNet, Gaussian log-density, HyperPG l2-negated)."""

    kind = "negated"
    geometries = (Euclidean,)
    tensors = ("scale",)
    needs_bounded = True

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        return -scale * observed


@dataclass(frozen=True)
class ExpDistance(Similarity):
    """S(m) = exp(-sqrt(m + epsilon)) of a squared distance, in (0, 1] (ProtoTree, ProtoPNeXt exp_l2)."""

    epsilon: float = 1e-14

    kind = "exp_distance"
    geometries = (Euclidean,)
    in_unit_interval = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise HeadError("similarity.epsilon", f"is {self.epsilon}, expected a finite number >= 0")

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        return torch.exp(-(observed + self.epsilon).sqrt())


@dataclass(frozen=True)
class Exponential(Similarity):
    """S(m) = exp(-scale m) of a squared distance, exp(-scale (1 - m)) of a cosine; in (0, 1].

    A Gaussian density but for its constant. On the unit sphere |u - p|^2 = (1 - |p|)^2 + 2 |p| (1 - cos), so a Gaussian
    of deviation sigma has the scale |p| / sigma^2 there (MGProto).
    """

    kind = "exponential"
    geometries = (Euclidean, Cosine)
    tensors = ("scale",)
    in_unit_interval = True

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        return torch.exp(-scale * (observed if geometry.is_distance else 1 - observed))


@dataclass(frozen=True)
class Quadratic(Similarity):
    """S(m) = -(m - peak)^2, unimodal: greatest where the observable meets the prototype's peak (HyperPG).

    Of a squared distance with peak 0 (no tensor `peak`) it is minus the fourth power of the distance.
    """

    kind = "quadratic"
    geometries = (Euclidean, Cosine, InnerProduct)
    tensors = ("peak",)
    needs_bounded = True

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        return -(observed - peak).square()


@dataclass(frozen=True)
class Rectified(Similarity):
    """S(m) = max(0, m) of a cosine or an inner product (ProtoPNeXt cosine, Deformable ProtoPNet)."""

    kind = "rectified"
    geometries = (Cosine, InnerProduct)

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        return observed.clamp(min=0)


@dataclass(frozen=True)
class Threshold(Similarity):
    """S(m) = m where m >= threshold, else 0, of a softmax mass: increasing, with a jump (PIP-Net at inference)."""

    threshold: float = 0.1

    kind = "threshold"
    geometries = (Softmax,)

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise HeadError("similarity.threshold", f"is {self.threshold}, expected 0 < threshold < 1")

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        return torch.where(observed >= self.threshold, observed, 0.0)


SIMILARITIES: dict[str, Kind[Similarity]] = {
    each.kind: Kind(each)
    for each in (Identity, LogRatio, Negated, ExpDistance, Exponential, Quadratic, Rectified, Threshold)
}
"""The similarities of head files, by their kind."""
