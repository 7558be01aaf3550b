"""Pooling: from bounds of the observables of every patch to boxes of activations.

`pooling_of(head)` gives the head's own. A pooling answers, for ranges (..., L, P) of observables:
- `box`: the activations, given all patches;
- `growing`: N images whose patches' ranges get tighter (what does one more statement add?);
- `dropping`: one image whose patches' ranges are replaced (what if a statement is dropped?).

Max pooling needs only the least dissimilarities over patches. The poolings with a mean (`means`) need all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.means import Focal, TopMean
from verale.bounds.similarity import oriented, pooled_activation
from verale.head import BankPooling, FocalPooling, Head, MaskedMaxPooling, MaxPooling, Pooling, TopMeanPooling
from verale.rounding import Enclosure

__all__ = [
    "Dropping",
    "Growing",
    "MaxGrowing",
    "PoolingBounds",
    "activation_range",
    "pooling_of",
    "slots",
]


class PoolingBounds(Protocol):
    """How the similarities of all patches become one activation."""

    def box(self, ranges: Enclosure) -> Enclosure:
        """(..., P) activations, given observables (..., L, P)."""
        ...

    def growing(self, ranges: Enclosure) -> Growing:
        """N images, observables (N, L, P)."""
        ...

    def dropping(self, ranges: Enclosure) -> Dropping:
        """One image, observables (L, P)."""
        ...


class Growing(Protocol):
    """N images whose patches' ranges get tighter; it changes in place."""

    @property
    def box(self) -> Enclosure:
        """(N, P) activations."""
        ...

    def trial(self, image: Tensor, patch: Tensor, ranges: Enclosure) -> Enclosure:
        """(S, B, P) activations if, of an image, one patch's ranges became one of B candidates (S, B, P)."""
        ...

    def choose(self, best: Tensor) -> None:
        """Replace the ranges of all the trial's patches, each by the candidate of that index (S,)."""
        ...

    def select(self, images: Tensor) -> None:
        """Keep some images only."""
        ...


class Dropping(Protocol):
    """One image whose patches' ranges are replaced; it changes in place."""

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        """(S, P) activations, for each row of (S, P) ranges with that of one patch replaced by it."""
        ...

    def together(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        """(S, P) activations with the first, the first two, ... all S replaced; patches all different."""
        ...

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        """Replace the ranges (S, P) of some patches."""
        ...


def pooling_of(head: Head) -> PoolingBounds:
    """The head's pooling."""
    return _POOLINGS[type(head.pooling)](head)


def activation_range(head: Head, patches: int) -> Enclosure:
    """(P,) what each activation of an image of L patches can be over the head's domain."""
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

    def growing(self, ranges: Enclosure) -> MaxGrowing:
        return MaxGrowing(self, ranges)

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


class MaxGrowing:
    """Ranges only get tighter, so of the farthest dissimilarities the least over all patches is enough.

    Attributes:
        near: (N, L, P) the least dissimilarities that the bounds allow.
    """

    def __init__(self, pooling: Max, ranges: Enclosure) -> None:
        self._pooling, self._head = pooling, pooling.head
        self._hidden = pooling.hidden(ranges)
        near, far = pooling.oriented(ranges, self._hidden)
        self.near = near.clone()
        self._far = far.amin(1)
        self._box = pooled_activation(self._head, near.amin(1), self._far)

    @property
    def box(self) -> Enclosure:
        return self._box

    def trial(self, image: Tensor, patch: Tensor, ranges: Enclosure) -> Enclosure:
        slot = slots(image)
        near, far = self._pooling.oriented(ranges, None if self._hidden is None else self._hidden[patch][:, None])
        before = self._in_slots(image, slot, self.near[image, patch])
        self.near[image, patch] = torch.inf
        rest = self.near.amin(1)
        others = torch.minimum(least_of_others(before), rest[:, None])[image, slot]
        self._tried = image, patch, slot, near, far, rest
        return pooled_activation(
            self._head, torch.minimum(near, others[:, None]), torch.minimum(far, self._far[image][:, None])
        )

    def choose(self, best: Tensor) -> None:
        image, patch, slot, near, far, rest = self._tried
        each = torch.arange(len(best))
        near, far = near[each, best], far[each, best]
        self.near[image, patch] = near
        self._far = torch.minimum(self._far, self._in_slots(image, slot, far).amin(1))
        self._box = pooled_activation(
            self._head, torch.minimum(rest, self._in_slots(image, slot, near).amin(1)), self._far
        )

    def select(self, images: Tensor) -> None:
        self.near, self._far, self._box = self.near[images], self._far[images], self._box[images]

    def _in_slots(self, image: Tensor, slot: Tensor, values: Tensor) -> Tensor:
        """Values (S, P) as (N, greatest number in an image, P); infinity elsewhere."""
        padded = values.new_full((len(self.near), int(slot.max()) + 1, *values.shape[1:]), torch.inf)
        padded[image, slot] = values
        return padded


class MaxDropping:
    """The nearest and the farthest dissimilarity of every patch."""

    def __init__(self, pooling: Max, ranges: Enclosure) -> None:
        self._pooling, self._head = pooling, pooling.head
        self._hidden = pooling.hidden(ranges)
        self._near, self._far = (end.clone() for end in pooling.oriented(ranges, self._hidden))

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        near, far = self._oriented(patches, ranges)
        return pooled_activation(
            self._head,
            torch.minimum(near, _without_each(self._near, patches)),
            torch.minimum(far, _without_each(self._far, patches)),
        )

    def together(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        near, far = self._oriented(patches, ranges)
        return pooled_activation(
            self._head, _as_replaced(self._near, patches, near), _as_replaced(self._far, patches, far)
        )

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        self._near[patches], self._far[patches] = self._oriented(patches, ranges)

    def _oriented(self, patches: Tensor, ranges: Enclosure) -> tuple[Tensor, Tensor]:
        return self._pooling.oriented(ranges, None if self._hidden is None else self._hidden[patches])


def least_of_others(values: Tensor) -> Tensor:
    """(N, L, P): for each patch, the least over the other patches; infinity if there is no other."""
    nothing = torch.full_like(values[:, :1], torch.inf)
    before = torch.cat([nothing, values.cummin(1).values[:, :-1]], 1)
    after = torch.cat([values.flip(1).cummin(1).values.flip(1)[:, 1:], nothing], 1)
    return torch.minimum(before, after)


def slots(image: Tensor) -> Tensor:
    """For a sorted list of images (S,), the index of each entry among those of its image."""
    image = image.contiguous()
    return torch.arange(len(image)) - torch.searchsorted(image, image)


def _without_each(values: Tensor, patches: Tensor) -> Tensor:
    """(S, P) the least of (L, P) values over all patches but one, for each of S patches."""
    unique, index = torch.unique(patches, return_inverse=True)
    rest = values.clone()
    rest[unique] = torch.inf
    return torch.minimum(least_of_others(values[unique][None])[0], rest.amin(0))[index]


def _as_replaced(values: Tensor, patches: Tensor, replacements: Tensor) -> Tensor:
    """(S, P) the least of (L, P) values over all patches once the first, the first two, ... all S are replaced."""
    rest = values.clone()
    rest[patches] = torch.inf
    after = values[patches].flip(0).cummin(0).values.flip(0)
    after = torch.cat([after[1:], torch.full_like(after[:1], torch.inf)])
    return torch.minimum(torch.minimum(replacements.cummin(0).values, after), rest.amin(0))


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
