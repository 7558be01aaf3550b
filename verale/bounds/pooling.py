"""Pooling: from bounds of the observables of every patch to boxes of activations.

`pooling_of(head)` gives the head's own. A pooling answers, for ranges (..., L, P) of observables:
- `box`: the activations, given all patches;
- `dropping`: one image whose patches' ranges are replaced (what if a statement is dropped?).

Max pooling needs only the least dissimilarities over patches. The poolings with a mean (`means`) need all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.means import Focal, TopMean, of_others, two_least
from verale.bounds.similarity import oriented, pooled_activation
from verale.head import BankPooling, FocalPooling, Head, MaskedMaxPooling, MaxPooling, Pooling, TopMeanPooling
from verale.rounding import Enclosure

__all__ = [
    "Dropping",
    "PoolingBounds",
    "activation_range",
    "pooling_of",
]


class PoolingBounds(Protocol):
    """How the similarities of all patches become one activation."""

    def box(self, ranges: Enclosure) -> Enclosure:
        """(..., P) activations, given observables (..., L, P)."""
        ...

    def dropping(self, ranges: Enclosure) -> Dropping:
        """One image, observables (L, P)."""
        ...


class Dropping(Protocol):
    """One image whose patches' ranges are replaced; it changes in place."""

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        """(S, P) activations, for each row of (S, P) ranges with that of one patch replaced by it."""
        ...

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        """Replace the ranges (S, P) of some patches."""
        ...


def pooling_of(head: Head) -> PoolingBounds:
    """The head's pooling."""
    return _POOLINGS[type(head.pooling)](head)


def activation_range(head: Head, patches: int) -> Enclosure:
    """(P,) what each activation of an image of L patches can be over the head's domain.

    Statements about activations, a ceiling and a floor cut it (`Enclosure.intersect`); a clause names the activations
    that it exempts, so dropping a statement only makes E weaker. The lower end is the head's own, not 0: similarities
    can be negative.

    Soundness: each bound is a statement or the head's range, and an intersection of true intervals is true.
    Reference: Soria et al., Formal Abductive Latent Explanations (arXiv 2511.16588), top-k explanations;
    docs/design.md, 3.4 item 4.
    """
    domain = domain_range(head)
    return pooling_of(head).box(Enclosure(*(end.expand(patches, -1) for end in (domain.lower, domain.upper))))


class Max:
    """a_j = max_l S(m_lj) = S of the observable with the least dissimilarity; each end is pooled by itself.

    To a prototype that does not look at a patch, the patch is infinitely dissimilar.

    Soundness: see `pooled_activation`.
    """

    def __init__(self, head: Head) -> None:
        self.head = head

    def box(self, ranges: Enclosure) -> Enclosure:
        near, far = (end.amin(-2) for end in self.oriented(ranges, self.hidden(ranges)))
        return pooled_activation(self.head, near, far)

    def dropping(self, ranges: Enclosure) -> MaxDropping:
        return MaxDropping(self, ranges)

    def hidden(self, ranges: Enclosure) -> Tensor | None:
        """(L, P) which prototypes do not look at which patches of ranges (..., L, P); None where all look at all."""
        return self.head.pooling.hidden(ranges.shape[-2], self.head.size)

    def oriented(self, ranges: Enclosure, hidden: Tensor | None) -> tuple[Tensor, Tensor]:
        """The least and the greatest dissimilarity; infinite where hidden."""
        near, far = oriented(self.head, ranges)
        if hidden is None:
            return near, far
        return near.masked_fill(hidden, torch.inf), far.masked_fill(hidden, torch.inf)


class MaxDropping:
    """The nearest and the farthest dissimilarity of every patch."""

    def __init__(self, pooling: Max, ranges: Enclosure) -> None:
        self._pooling, self._head = pooling, pooling.head
        self._hidden = pooling.hidden(ranges)
        self._near, self._far = (end.clone() for end in pooling.oriented(ranges, self._hidden))
        self._least = two_least(self._near), two_least(self._far)

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        near, far = self._oriented(patches, ranges)
        others = (of_others(least, patches) for least in self._least)
        return pooled_activation(self._head, torch.minimum(near, next(others)), torch.minimum(far, next(others)))

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        self._near[patches], self._far[patches] = self._oriented(patches, ranges)
        self._least = two_least(self._near), two_least(self._far)

    def _oriented(self, patches: Tensor, ranges: Enclosure) -> tuple[Tensor, Tensor]:
        return self._pooling.oriented(ranges, None if self._hidden is None else self._hidden[patches])


def _top_mean(head: Head) -> PoolingBounds:
    """The mean of the single greatest is the greatest."""
    return Max(head) if head.pooling == TopMeanPooling(1) else TopMean(head)


_POOLINGS: dict[type[Pooling], Callable[[Head], PoolingBounds]] = {
    MaxPooling: Max,
    BankPooling: Max,
    MaskedMaxPooling: Max,
    TopMeanPooling: _top_mean,
    FocalPooling: Focal,
}
