"""Pooling: from bounds of the observables of every patch to boxes of activations.

`pooling_of(head)` gives the head's own. A pooling answers, for ranges (..., L, P) of observables:
- `box`: the activations, given all patches;
- `dropping`: one image whose patches' ranges are replaced (what if a statement is dropped?).

Max pooling needs only the least dissimilarities over patches. For the poolings with a mean the similarities of all
patches matter, not those of one alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol, cast

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.observables import sum_of_others
from verale.bounds.similarity import activation, oriented, pooled_activation
from verale.head import BankPooling, FocalPooling, Head, MaskedMaxPooling, MaxPooling, Pooling, TopMeanPooling
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up


class PoolingBounds(Protocol):
    """How the similarities of all patches become one activation."""

    def box(self, ranges: Enclosure) -> Enclosure:
        """(..., P) activations, given observables (..., L, P)."""
        ...

    def dropping(self, ranges: Enclosure) -> Dropping:
        """One image, observables (L, P)."""
        ...


class Dropping(ABC):
    """One image whose patches' ranges are replaced; it changes in place."""

    @abstractmethod
    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        """(S, P) activations, for each row of (S, P) ranges with that of one patch replaced by it."""

    @abstractmethod
    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        """Replace the ranges (S, P) of some patches."""


class Focal:
    r"""Focal pooling: the exact range over all patches' ranges, its two terms taken together.

    `max_minus_mean`, similarities g_l in [lo_l, hi_l]:
        sup = max_l (hi_l - (hi_l + sum_{i != l} lo_i) / L),  inf = mean_l max(0, t - hi_l) with t = max_l lo_l.
    `max_minus_mean_distance`, distances d_l in [lo_l, hi_l]:
        sup = max_l (S(lo_l) - S((lo_l + sum_{i != l} hi_i) / L)),
        inf = S(T) - S(mean_l max(lo_l, T)) with T = min_l hi_l.

    Soundness: proofs in verale/checker/reading/pooling.py. Sums over L patches are rounded outward by gamma; S by
    `activation`. An infinite distance makes its mean infinite, of which S is 0.

    Attributes:
        head: the head.
        of_distances: whether the mean is of distances, and not of similarities.
    """

    def __init__(self, head: Head) -> None:
        self.head = head
        self.of_distances = cast(FocalPooling, head.pooling).of_distances

    def box(self, ranges: Enclosure) -> Enclosure:
        return self._mean_distance(ranges) if self.of_distances else self._mean_similarity(ranges)

    def dropping(self, ranges: Enclosure) -> WholeDropping:
        return (_MeanDistanceDropping if self.of_distances else _MeanSimilarityDropping)(self.head, ranges)

    def _mean_similarity(self, ranges: Enclosure) -> Enclosure:
        similar = activation(self.head, ranges)
        low, high, count = similar.lower, similar.upper, similar.lower.shape[-2]
        parts = _divisor(low, count)
        # Terms are >= 0: a difference, a sum of L, a quotient.
        least = (low.amax(-2, keepdim=True) - high).clamp(min=0).sum(-2) / parts
        # L times it: (L - 1) hi_l + lo_l - sum lo.
        most = ((count - 1) * high + low).amax(-2) - low.sum(-2)
        sizes = ((count - 1) * high.abs() + low.abs()).amax(-2) + low.abs().sum(-2)
        return _differences(least, most, sizes, count, gamma(count + 8))

    def _mean_distance(self, ranges: Enclosure) -> Enclosure:
        low, high, count = ranges.lower, ranges.upper, ranges.lower.shape[-2]
        relative, parts = gamma(count + 4), _divisor(low, count)
        farthest = high.amin(-2)
        mean = _mean_below(torch.maximum(low, farthest.unsqueeze(-2)).sum(-2), count, relative)
        least = activation(self.head, Enclosure(mean, farthest))
        means = (low + sum_of_others(high)) / parts
        means = up(means + up(means * relative + 2 * UNDERFLOW))
        most = activation(self.head, Enclosure(low, means))
        return Enclosure(
            down(least.lower - least.upper).clamp(min=0), up(most.upper - most.lower).amax(-2).clamp(min=0)
        )


class TopMean:
    """a_j = mean of the k greatest similarities of all patches (of all, where there are fewer).

    Soundness: the mean of the k greatest grows with every similarity, so each end is that of the similarities' ends; it
    is exact where patches vary apart. Sums of k terms are rounded outward by gamma.

    Attributes:
        head: the head.
        k: how many similarities enter the mean.
    """

    def __init__(self, head: Head) -> None:
        self.head = head
        self.k = cast(TopMeanPooling, head.pooling).k

    def box(self, ranges: Enclosure) -> Enclosure:
        similar = activation(self.head, ranges)
        count = min(self.k, similar.shape[-2])
        return self.mean(*(end.topk(count, dim=-2).values for end in (similar.lower, similar.upper)))

    def mean(self, low: Tensor, high: Tensor) -> Enclosure:
        """The means of the ends (..., k, P)."""
        count = low.shape[-2]
        slack, lost, parts = gamma(count + 4), count * UNDERFLOW, _divisor(low, count)
        return Enclosure(
            down(down(low.sum(-2) - up(low.abs().sum(-2) * slack + lost)) / parts),
            up(up(high.sum(-2) + up(high.abs().sum(-2) * slack + lost)) / parts),
        )

    def dropping(self, ranges: Enclosure) -> WholeDropping:
        return _TopMeanDropping(self, ranges)


class WholeDropping(Dropping):
    """All ranges (L, P) of one image; a box with one patch replaced is computed from what the other patches give."""

    def __init__(self, head: Head, ranges: Enclosure) -> None:
        self.head = head
        self._ranges = Enclosure.unchecked(ranges.lower.clone(), ranges.upper.clone())
        self._enter()

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        self._ranges.lower[patches], self._ranges.upper[patches] = ranges.lower, ranges.upper
        self._enter()

    @abstractmethod
    def _enter(self) -> None:
        """Note what the ranges give."""


class _MeanSimilarityDropping(WholeDropping):
    """See `Focal._mean_similarity`."""

    def _enter(self) -> None:
        similar = activation(self.head, self._ranges)
        low, high, count = similar.lower, similar.upper, len(similar.lower)
        self._low, self._high = low, high
        self._nearest = patch, first, second = two_least(-low)
        beyond = sum_of_others((-first - high).clamp(min=0))
        others = (-second - high).clamp(min=0).scatter_(0, patch[None], 0.0).sum(0)
        self._shared = beyond.scatter_(0, patch[None], others[None])
        self._greatest = two_least(-((count - 1) * high + low))
        self._sizes = two_least(-((count - 1) * high.abs() + low.abs()))
        self._total, self._size = sum_of_others(low), sum_of_others(low.abs())

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        row, count = activation(self.head, ranges), len(self._low)
        slack, parts = gamma(count + 10), _divisor(self._low, count)
        nearest, shared = -of_others(self._nearest, patches), self._shared[patches]
        # Where the replaced patch itself has the greatest lower end, the others lie farther below.
        trial, prototype = (row.lower > nearest).nonzero(as_tuple=True)
        others = (row.lower[trial, prototype][:, None] - self._high.T[prototype]).clamp_(min=0)
        others[torch.arange(len(trial)), patches[trial]] = 0.0
        shared[trial, prototype] = others.sum(1)
        peak = torch.maximum(nearest, row.lower)
        least = (shared + (peak - row.upper).clamp(min=0)) / parts
        most = torch.maximum(-of_others(self._greatest, patches), (count - 1) * row.upper + row.lower)
        most = most - (self._total[patches] + row.lower)
        sizes = torch.maximum(-of_others(self._sizes, patches), (count - 1) * row.upper.abs() + row.lower.abs())
        sizes = sizes + (self._size[patches] + row.lower.abs())
        return _differences(least, most, sizes, count, slack)


class _MeanDistanceDropping(WholeDropping):
    """See `Focal._mean_distance`."""

    def _enter(self) -> None:
        low, high = self._ranges.lower, self._ranges.upper
        self._farthest = patch, first, second = two_least(high)
        others = torch.maximum(low, second).scatter_(0, patch[None], 0.0).sum(0)
        self._shared = sum_of_others(torch.maximum(low, first)).scatter_(0, patch[None], others[None])
        self._infinite = high.isinf()
        self._unbounded = self._infinite.sum(0)
        self._high = high.masked_fill(self._infinite, 0.0)
        self._apart = sum_of_others(self._high)
        self._order = low.argsort(0)
        self._ends = low.gather(0, self._order)
        self._tops = activation(self.head, Enclosure(self._ends, self._ends)).upper

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        """Patches are tried as the greatest in the order of their lower ends. None that is left can be it once S of the
        next lower end, less S of the mean of all upper ends, does not exceed what is known: with lo_l <= hi_l no mean
        is greater, and S falls.

        Of two patches that are left out of a sum, one is subtracted: what that loses is a share of the sum with it.
        """
        row, count = ranges, len(self._high)
        relative, parts = gamma(count + 6), _divisor(self._high, count)
        farthest, shared = of_others(self._farthest, patches), self._shared[patches]
        # Where the replaced patch itself has the least upper end, the others reach farther down.
        trial, prototype = (row.upper < farthest).nonzero(as_tuple=True)
        others = torch.maximum(self._ranges.lower.T[prototype], row.upper[trial, prototype][:, None])
        others[torch.arange(len(trial)), patches[trial]] = 0.0
        shared[trial, prototype] = others.sum(1)
        far = torch.minimum(farthest, row.upper)
        mean = _mean_below(shared + torch.maximum(row.lower, far), count, relative)
        least = activation(self.head, Enclosure(mean, far))

        def above(total: Tensor, size: Tensor) -> Tensor:
            return up(total / parts + up(size / parts * relative + 2 * UNDERFLOW))

        apart, unbounded = self._apart[patches], self._unbounded - self._infinite[patches].long()
        others = apart.masked_fill(unbounded > 0, torch.inf)
        own = activation(self.head, Enclosure(row.lower, above(row.lower + others, row.lower + others)))
        best = up(own.upper - own.lower)
        everything = above(others + row.upper, others + row.upper)
        floor = activation(self.head, Enclosure(everything, everything)).lower
        open_, prototypes = torch.arange(len(best)), torch.arange(best.shape[1])
        for rank in range(count):
            top = self._tops[rank]
            open_ = open_[(up(top - floor[open_]) > best[open_]).any(1)]
            if not len(open_):
                break
            patch, near = self._order[rank], self._ends[rank]
            sums, new = apart[open_], row.upper[open_]
            left = (sums - self._high[patch, prototypes]).clamp_(min=0)
            left.masked_fill_(unbounded[open_] > self._infinite[patch, prototypes].long(), torch.inf)
            means = above(near + left + new, near + sums + new)
            most = activation(self.head, Enclosure(near.expand_as(means), means))
            reached = up(most.upper - most.lower).masked_fill(patch == patches[open_][:, None], -torch.inf)
            best[open_] = torch.maximum(best[open_], reached)
        return Enclosure(down(least.lower - least.upper).clamp(min=0), best.clamp(min=0))


class _TopMeanDropping(WholeDropping):
    """See `TopMean`: of the k greatest similarities of the other patches, the replaced one may displace the last."""

    def __init__(self, pooling: TopMean, ranges: Enclosure) -> None:
        self._pooling = pooling
        super().__init__(pooling.head, ranges)

    def _enter(self) -> None:
        similar = activation(self.head, self._ranges)
        count = len(similar.lower)
        self._greatest = [end.topk(min(self._pooling.k + 1, count), dim=0) for end in (similar.lower, similar.upper)]

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        row, count = activation(self.head, ranges), min(self._pooling.k, len(self._ranges.lower))
        ends = []
        for (values, places), own in zip(self._greatest, (row.lower, row.upper), strict=True):
            if len(values) == count:  # all patches enter
                ends.append(torch.where(places == patches[:, None, None], own[:, None], values))
                continue
            # of the k + 1 greatest the replaced one leaves the list, or the last one does
            among = places[:-1] == patches[:, None, None]
            others = torch.where(among.long().cumsum(1) > 0, values[1:], values[:-1])
            ends.append(torch.cat([others[:, :-1], torch.maximum(others[:, -1:], own[:, None])], 1))
        return self._pooling.mean(*ends)


def two_least(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(P,) each of values (L, P): the patch of the least, this, and the least of the others; infinity if there is no
    other."""
    least, patch = values.min(0)
    return patch, least, values.scatter(0, patch[None], torch.inf).amin(0)


def of_others(least: tuple[Tensor, Tensor, Tensor], patches: Tensor) -> Tensor:
    """(S, P) the least over all patches but one, for each of S patches, from `two_least`."""
    patch, first, second = least
    return torch.where(patch == patches[:, None], second, first)


def _differences(least: Tensor, most: Tensor, sizes: Tensor, count: int, slack: float) -> Enclosure:
    """A greatest number less a mean of `count`: from `least`, a mean of terms that are at least 0, to `most`, `count`
    times it, whose terms' sizes sum to `sizes`; both are off by that share of their terms."""
    return Enclosure(
        down(least - up(least * slack + 2 * UNDERFLOW)).clamp(min=0),
        up(up(most + up(sizes * slack + 2 * count * UNDERFLOW)) / _divisor(most, count)).clamp(min=0),
    )


def _mean_below(total: Tensor, count: int, relative: float) -> Tensor:
    """A lower bound of the mean of `count` numbers that are at least 0, from their sum, off by a share of itself."""
    mean = total / _divisor(total, count)
    return down(mean - up(mean * relative + 2 * UNDERFLOW)).nan_to_num(torch.inf, torch.inf)


def _divisor(values: Tensor, count: int) -> Tensor:
    """A count as a tensor: torch may divide by a number by multiplying with its reciprocal, which rounds twice."""
    return values.new_tensor(float(count))


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


class MaxDropping(Dropping):
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
