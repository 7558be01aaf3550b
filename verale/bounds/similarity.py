"""From observables to activations: monotone similarities commute with max pooling.

How similar an observable makes two vectors is told here once, by the *dissimilarity*: a number that makes small mean
similar, so that every similarity falls with it. It is the observable itself (squared distances), its negative (cosines,
inner products, masses), or its distance from the prototype's peak (quadratic). The pooled patch is then always the one
with the least dissimilarity.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verale.head import (
    Euclidean,
    ExpDistance,
    Exponential,
    Head,
    Identity,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
    Threshold,
)
from verale.rounding import TRANSCENDENTAL_ULPS, UNDERFLOW, UNIT, Enclosure, down, up

__all__ = ["activation", "dissimilarity", "oriented", "pooled_activation"]

_LOG_RATIO_ERROR = 2 * (2 * TRANSCENDENTAL_ULPS + 4) * UNIT


def dissimilarity(head: Head, observables: Tensor) -> Tensor:
    """Dissimilarities of observables (..., P); an estimate where a peak is subtracted."""
    if isinstance(head.similarity, Quadratic):
        return (observables - _peak(head, observables)).abs()
    return observables if isinstance(head.geometry, Euclidean) else -observables


def oriented(head: Head, observables: Enclosure) -> tuple[Tensor, Tensor]:
    """The least and the greatest dissimilarity (..., P) that the bounds allow, rounded outward."""
    if isinstance(head.similarity, Quadratic):
        peak = _peak(head, observables.lower)
        above, below = observables.lower - peak, peak - observables.upper
        near = down(torch.maximum(above, below)).clamp(min=0)
        return near, up(torch.maximum(observables.upper - peak, peak - observables.lower))
    if isinstance(head.geometry, Euclidean):
        return observables.lower, observables.upper
    return -observables.upper, -observables.lower


def activation(head: Head, observables: Enclosure) -> Enclosure:
    """Similarities S(m) of observables m (..., P), or activations given pooled observables, elementwise."""
    return pooled_activation(head, *oriented(head, observables))


def pooled_activation(head: Head, near: Tensor, far: Tensor) -> Enclosure:
    """Boxes of activations from the least near and the least far dissimilarity over all patches, (..., P) each.

    LogRatio: ln((x + 1) / (x + e)) = ln(1 + (1 - e) / (x + e)) with x = scale m; 0 at m = infinity.

    Soundness: S falls with the dissimilarity, so max_l S is S of the least one, and each patch ranges over its own
    interval: the range of the pooled dissimilarity is [pool of near ends, pool of far ends]. Rounding of LogRatio: the
    argument of log1p carries four relative roundings; |x log1p'(x) / log1p(x)| <= 1 for x > 0, so they pass
    undiminished at most; log1p itself is within TRANSCENDENTAL_ULPS, each at most 2 u; the last product rounds once.
    All of it is below _LOG_RATIO_ERROR. The others are composed of enclosures, and of operations rounded once.
    """
    scale = None if head.scale is None else head.scale.to(near)
    match head.similarity:
        case Identity():
            return Enclosure.unchecked(-far, -near)
        case LogRatio(epsilon):
            return Enclosure.unchecked(
                (_log_ratio(far, scale, epsilon) * (1 - _LOG_RATIO_ERROR)).sub_(UNDERFLOW).clamp_(min=0),
                (_log_ratio(near, scale, epsilon) * (1 + _LOG_RATIO_ERROR)).add_(UNDERFLOW),
            )
        case Negated():
            return _negative(_times(near, far, scale))
        case ExpDistance(epsilon):
            added = Enclosure.exact(near.new_tensor(epsilon))
            return _negative((Enclosure.unchecked(near.clamp(min=0), far) + added).sqrt()).exp().clamp(0.0, 1.0)
        case Exponential():
            if not isinstance(head.geometry, Euclidean):
                near, far = down(1 + near), up(1 + far)  # 1 - m
            return _negative(_times(near.clamp(min=0), far.clamp(min=0), scale)).exp().clamp(0.0, 1.0)
        case Quadratic():
            return Enclosure.unchecked(-up(far.square()), -down(near.square()).clamp(min=0))
        case Rectified():
            return Enclosure.unchecked((-far).clamp(min=0), (-near).clamp(min=0))
        case Threshold(threshold):
            return Enclosure.unchecked(*(torch.where(-end >= threshold, -end, 0.0) for end in (far, near)))


def _log_ratio(m: Tensor, scale: Tensor | None, epsilon: float) -> Tensor:
    x = m.clamp(min=0) if scale is None else m.clamp(min=0) * scale
    return ((1 - epsilon) / (x + epsilon)).log1p()


def _times(near: Tensor, far: Tensor, scale: Tensor | None) -> Enclosure:
    """Dissimilarities, at least 0, times the scale."""
    if scale is None:
        return Enclosure.unchecked(near, far)
    return Enclosure(down(near * scale).clamp(min=0), up(far * scale))


def _negative(values: Enclosure) -> Enclosure:
    return Enclosure.unchecked(-values.upper, -values.lower)


def _peak(head: Head, like: Tensor) -> Tensor:
    return like.new_zeros(()) if head.peak is None else head.peak.to(like)
