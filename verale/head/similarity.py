"""Similarities: from the observable m of one patch and one prototype to how alike they are, g = S(m).

`scale` and `peak` are tensors of the head, one number a prototype. Positive factors and constants that all patches of a
prototype share are not similarities: they are folded into the last layer, in float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from verale.errors import HeadError

__all__ = [
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


@dataclass(frozen=True)
class Identity:
    """S(m) = m, of cosines, inner products and softmax masses."""


@dataclass(frozen=True)
class LogRatio:
    """S(m) = ln((x + 1) / (x + epsilon)) with x = scale m, strictly decreasing for 0 < epsilon < 1 (ProtoPNet)."""

    epsilon: float = 1e-4

    def __post_init__(self) -> None:
        if not _LEAST_EPSILON <= self.epsilon < 1:
            raise HeadError("similarity.epsilon", f"is {self.epsilon}, expected {_LEAST_EPSILON:.0e} <= epsilon < 1")


@dataclass(frozen=True)
class Negated:
    """S(m) = -scale m of a squared distance (linear ProtoPNet, Gaussian log-density, HyperPG l2-negated)."""


@dataclass(frozen=True)
class ExpDistance:
    """S(m) = exp(-sqrt(m + epsilon)) of a squared distance, in (0, 1] (ProtoTree, ProtoPNeXt exp_l2)."""

    epsilon: float = 1e-14

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise HeadError("similarity.epsilon", f"is {self.epsilon}, expected a finite number >= 0")


@dataclass(frozen=True)
class Exponential:
    """S(m) = exp(-scale m) of a squared distance, exp(-scale (1 - m)) of a cosine; in (0, 1].

    A Gaussian density but for its constant. On the unit sphere |u - p|^2 = (1 - |p|)^2 + 2 |p| (1 - cos), so a Gaussian
    of deviation sigma has the scale |p| / sigma^2 there (MGProto).
    """


@dataclass(frozen=True)
class Quadratic:
    """S(m) = -(m - peak)^2, unimodal: greatest where the observable meets the prototype's peak (HyperPG).

    Of a squared distance with peak 0 (no tensor `peak`) it is minus the fourth power of the distance.
    """


@dataclass(frozen=True)
class Rectified:
    """S(m) = max(0, m) of a cosine or an inner product (ProtoPNeXt cosine, Deformable ProtoPNet)."""


@dataclass(frozen=True)
class Threshold:
    """S(m) = m where m >= threshold, else 0, of a softmax mass: increasing, with a jump (PIP-Net at inference)."""

    threshold: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise HeadError("similarity.threshold", f"is {self.threshold}, expected 0 < threshold < 1")


Similarity = Identity | LogRatio | Negated | ExpDistance | Exponential | Quadratic | Rectified | Threshold
