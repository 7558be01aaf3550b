"""From observables to activations: monotone similarities commute with max pooling.

Whether a similarity grows or falls with its observable is told here once, by the *dissimilarity*: the observable with
the sign that makes small mean similar. The pooled patch is then always the one with the least dissimilarity.
"""

from __future__ import annotations

from torch import Tensor

from verale.head import Head, LogRatio
from verale.rounding import TRANSCENDENTAL_ULPS, UNDERFLOW, UNIT, Enclosure

__all__ = ["activation", "dissimilarity", "oriented", "pooled_activation"]

_LOG_RATIO_ERROR = 2 * (2 * TRANSCENDENTAL_ULPS + 4) * UNIT


def dissimilarity(head: Head, observables: Tensor) -> Tensor:
    """Observables with the sign that makes small mean similar."""
    return observables if isinstance(head.similarity, LogRatio) else -observables


def oriented(head: Head, observables: Enclosure) -> tuple[Tensor, Tensor]:
    """The nearest and the farthest dissimilarity that the bounds allow."""
    if isinstance(head.similarity, LogRatio):
        return observables.lower, observables.upper
    return -observables.upper, -observables.lower


def activation(head: Head, pooled: Enclosure) -> Enclosure:
    """a = S(m) for pooled observables m, elementwise.

    LogRatio: ln((x + 1) / (x + e)) = ln(1 + (1 - e) / (x + e)) with x = scale m, decreasing; 0 at m = infinity.

    Soundness: max_l S(m_l) = S(min_l m_l) for decreasing S, and each patch ranges over its own interval, so the range
    of the pooled observable is [pool of lower ends, pool of upper ends]. Rounding: the argument of log1p carries four
    relative roundings; |x log1p'(x) / log1p(x)| <= 1 for x > 0, so they pass undiminished at most; log1p itself is
    within TRANSCENDENTAL_ULPS, each at most 2 u; the last product rounds once. All of it is below _LOG_RATIO_ERROR.
    """
    if not isinstance(head.similarity, LogRatio):
        return pooled
    epsilon = head.similarity.epsilon
    scale = None if head.scale is None else head.scale.to(pooled.lower)

    def ratio(m: Tensor) -> Tensor:
        x = m.clamp(min=0) if scale is None else m.clamp(min=0) * scale
        return ((1 - epsilon) / (x + epsilon)).log1p()

    return Enclosure.of(
        (ratio(pooled.upper) * (1 - _LOG_RATIO_ERROR)).sub_(UNDERFLOW).clamp_(min=0),
        (ratio(pooled.lower) * (1 + _LOG_RATIO_ERROR)).add_(UNDERFLOW),
    )


def pooled_activation(head: Head, nearest: Tensor, farthest: Tensor) -> Enclosure:
    """Boxes of activations from the least nearest and the least farthest dissimilarity over all patches."""
    if isinstance(head.similarity, LogRatio):
        return activation(head, Enclosure.of(nearest, farthest))
    return activation(head, Enclosure.of(-farthest, -nearest))
