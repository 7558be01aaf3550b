"""Pooling: from bounds of the observables of every patch to boxes of activations.

`pooling_of(head)` gives the head's own. A pooling answers, for ranges (..., L, P) of observables:
- `box`: the activations, given all patches;
- `growing`: N images whose patches' ranges get tighter (what would a statement add?);
- `dropping`: one image whose patches' ranges are replaced (what if a statement were dropped?).

Max pooling needs only the least dissimilarities over patches. Focal pooling needs all of them, and recomputes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.margin import Margins
from verale.bounds.similarity import activation, oriented, pooled_activation
from verale.head import FocalPooling, Head
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = [
    "Dropping",
    "FocalGrowing",
    "Growing",
    "MaxGrowing",
    "Pooling",
    "activation_range",
    "margins_of",
    "pooling_of",
    "slots",
]

_CHUNK_BYTES = 64 * 2**20


class Pooling(Protocol):
    """How a head makes one activation of the similarities of all patches."""

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
    """N images whose patches' ranges get tighter; changed in place."""

    @property
    def box(self) -> Enclosure:
        """(N, P) activations."""
        ...

    def trial(self, image: Tensor, patch: Tensor, ranges: Enclosure) -> Enclosure:
        """(S, B, P) activations if, of an image, one patch's ranges became one of B candidates (S, B, P)."""
        ...

    def choose(self, best: Tensor) -> None:
        """Replace the ranges of all the trial's patches, each by the candidate of that place (S,)."""
        ...

    def select(self, images: Tensor) -> None:
        """Go on with some images only."""
        ...


class Dropping(Protocol):
    """One image whose patches' ranges are replaced; changed in place."""

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        """(S, P) activations with the ranges (S, P) of one patch each, the others as they are."""
        ...

    def together(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        """(S, P) activations with the first, the first two, ... all S replaced; patches all different."""
        ...

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        """Replace the ranges (S, P) of some patches."""
        ...


def pooling_of(head: Head) -> Pooling:
    """The head's pooling."""
    return Focal(head, head.pooling) if isinstance(head.pooling, FocalPooling) else Max(head)


def activation_range(head: Head, patches: int, device: torch.device | str = "cpu") -> Enclosure:
    """(P,) what each activation of an image of L patches can be over the head's domain."""
    domain = domain_range(head, device)
    return pooling_of(head).box(Enclosure(*(end.expand(patches, -1) for end in (domain.lower, domain.upper))))


def margins_of(head: Head, predicted: Tensor, patches: int) -> Margins:
    """`Margins.of`, with room for what focal pooling adds.

    Soundness: `Margins.of` takes activations for similarities, at most M in size. A focal one is a difference of two
    numbers between the same ends, so at most 2 M. Its own rounding, at most gamma_(L+12) M before the sum over
    prototypes, need not be covered here (it is in the box), but has to count as noise when minimality is claimed.
    """
    margins = Margins.of(head, predicted)
    if not isinstance(head.pooling, FocalPooling):
        return margins
    factor = 2 + (patches + 12) / (2 * head.size)
    return replace(margins, error=up(margins.error * up(torch.tensor(factor, dtype=torch.float64))))


class Max:
    """a_j = max_l S(m_lj) = S of the observable with the least dissimilarity; each end pools apart.

    Soundness: see `activation`.
    """

    def __init__(self, head: Head) -> None:
        self._head = head

    def box(self, ranges: Enclosure) -> Enclosure:
        near, far = (end.amin(-2) for end in oriented(self._head, ranges))
        return pooled_activation(self._head, near, far)

    def growing(self, ranges: Enclosure) -> MaxGrowing:
        return MaxGrowing(self._head, ranges)

    def dropping(self, ranges: Enclosure) -> MaxDropping:
        return MaxDropping(self._head, ranges)


class MaxGrowing:
    """Of the farthest dissimilarities the least over all patches is enough: ranges only get tighter.

    Attributes:
        near: (N, L, P) the least dissimilarities that the bounds allow.
    """

    def __init__(self, head: Head, ranges: Enclosure) -> None:
        self._head = head
        near, far = oriented(head, ranges)
        self.near = near.clone()
        self._far = far.amin(1)
        self._box = pooled_activation(head, near.amin(1), self._far)

    @property
    def box(self) -> Enclosure:
        return self._box

    def trial(self, image: Tensor, patch: Tensor, ranges: Enclosure) -> Enclosure:
        slot = slots(image)
        near, far = oriented(self._head, ranges)
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
        each = torch.arange(len(best), device=best.device)
        near, far = near[each, best], far[each, best]
        self.near[image, patch] = near
        self._far = torch.minimum(self._far, self._in_slots(image, slot, far).amin(1))
        self._box = pooled_activation(
            self._head, torch.minimum(rest, self._in_slots(image, slot, near).amin(1)), self._far
        )

    def select(self, images: Tensor) -> None:
        self.near, self._far, self._box = self.near[images], self._far[images], self._box[images]

    def _in_slots(self, image: Tensor, slot: Tensor, values: Tensor) -> Tensor:
        """(S, P) values at (N, most of an image, P); infinity where there is none."""
        padded = values.new_full((len(self.near), int(slot.max()) + 1, *values.shape[1:]), torch.inf)
        padded[image, slot] = values
        return padded


class MaxDropping:
    """The nearest and the farthest dissimilarity of every patch."""

    def __init__(self, head: Head, ranges: Enclosure) -> None:
        self._head = head
        self._near, self._far = (end.clone() for end in oriented(head, ranges))

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        near, far = oriented(self._head, ranges)
        return pooled_activation(
            self._head,
            torch.minimum(near, _without_each(self._near, patches)),
            torch.minimum(far, _without_each(self._far, patches)),
        )

    def together(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        near, far = oriented(self._head, ranges)
        return pooled_activation(
            self._head, _as_replaced(self._near, patches, near), _as_replaced(self._far, patches, far)
        )

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        self._near[patches], self._far[patches] = oriented(self._head, ranges)


class Focal:
    r"""Focal pooling: the exact range over all patches' ranges, its two terms taken together.

    `max_minus_mean`, similarities g_l in [lo_l, hi_l]:
        sup = max_l (hi_l - (hi_l + sum_{i != l} lo_i) / L),  inf = mean_l max(0, t - hi_l) with t = max_l lo_l.
    `max_minus_mean_distance`, distances d_l in [lo_l, hi_l]:
        sup = max_l (S(lo_l) - S((lo_l + sum_{i != l} hi_i) / L)),
        inf = S(T) - S(mean_l max(lo_l, T)) with T = min_l hi_l.

    Soundness: proofs in verale/checker/rules/pooling.py. Sums over L patches are rounded outward by gamma; S by
    `activation`. An infinite distance makes its mean infinite, of which S is 0.

    Attributes:
        head: the head.
        of_distances: whether the mean is of distances, and not of similarities.
    """

    def __init__(self, head: Head, pooling: FocalPooling) -> None:
        self.head = head
        self.of_distances = pooling.kind == "max_minus_mean_distance"

    def box(self, ranges: Enclosure) -> Enclosure:
        return self._mean_distance(ranges) if self.of_distances else self._mean_similarity(ranges)

    def growing(self, ranges: Enclosure) -> FocalGrowing:
        return FocalGrowing(self, ranges)

    def dropping(self, ranges: Enclosure) -> FocalDropping:
        return FocalDropping(self, ranges)

    def replaced(self, ranges: Enclosure, patches: Tensor, rows: Enclosure) -> Enclosure:
        """(S, P) activations of (S, L, P) ranges with one patch each, (S,), replaced by (S, P); in chunks."""
        step = max(1, _CHUNK_BYTES // (16 * ranges.lower[0].numel()))
        boxes = []
        for part in torch.split(torch.arange(len(patches), device=patches.device), step):
            chunk = Enclosure.of(ranges.lower[part].clone(), ranges.upper[part].clone())
            each = torch.arange(len(part), device=part.device)
            chunk.lower[each, patches[part]], chunk.upper[each, patches[part]] = rows.lower[part], rows.upper[part]
            boxes.append(self.box(chunk))
        return Enclosure.cat(boxes)

    def _mean_similarity(self, ranges: Enclosure) -> Enclosure:
        similar = activation(self.head, ranges)
        low, high, count = similar.lower, similar.upper, similar.lower.shape[-2]
        # Terms are >= 0: a difference, a sum of L, a quotient.
        least = (low.amax(-2, keepdim=True) - high).clamp(min=0).sum(-2) / count
        # L times it: (L - 1) hi_l + lo_l - sum lo.
        most = ((count - 1) * high + low).amax(-2) - low.sum(-2)
        sizes = ((count - 1) * high.abs() + low.abs()).amax(-2) + low.abs().sum(-2)
        return Enclosure(
            down(least - up(least * gamma(count + 8) + 2 * UNDERFLOW)).clamp(min=0),
            up(up(most + up(sizes * gamma(count + 8) + 2 * count * UNDERFLOW)) / count).clamp(min=0),
        )

    def _mean_distance(self, ranges: Enclosure) -> Enclosure:
        low, high, count = ranges.lower, ranges.upper, ranges.lower.shape[-2]
        relative = gamma(count + 4)
        farthest = high.amin(-2)
        mean = torch.maximum(low, farthest.unsqueeze(-2)).sum(-2) / count
        mean = down(mean - up(mean * relative + 2 * UNDERFLOW)).nan_to_num(torch.inf, torch.inf)
        least = activation(self.head, Enclosure(mean, farthest))
        means = (low + _sum_of_others(high)) / count
        means = up(means + up(means * relative + 2 * UNDERFLOW))
        most = activation(self.head, Enclosure(low, means))
        return Enclosure(
            down(least.lower - least.upper).clamp(min=0), up(most.upper - most.lower).amax(-2).clamp(min=0)
        )


class FocalGrowing:
    """All ranges; every box is computed anew.

    Attributes:
        pooling: the head's.
        ranges: (N, L, P).
    """

    def __init__(self, pooling: Focal, ranges: Enclosure) -> None:
        self.pooling = pooling
        self.ranges = Enclosure.of(ranges.lower.clone(), ranges.upper.clone())
        self._box = pooling.box(ranges)

    @property
    def box(self) -> Enclosure:
        return self._box

    def trial(self, image: Tensor, patch: Tensor, ranges: Enclosure) -> Enclosure:
        count, candidates, size = ranges.shape
        self._tried = image, patch, ranges
        again = image.repeat_interleave(candidates)
        boxes = self.pooling.replaced(
            self.ranges[again], patch.repeat_interleave(candidates), ranges.view(count * candidates, size)
        )
        return boxes.view(count, candidates, size)

    def choose(self, best: Tensor) -> None:
        image, patch, ranges = self._tried
        each = torch.arange(len(best), device=best.device)
        self.ranges.lower[image, patch] = ranges.lower[each, best]
        self.ranges.upper[image, patch] = ranges.upper[each, best]
        self._box = self.pooling.box(self.ranges)

    def select(self, images: Tensor) -> None:
        self.ranges, self._box = self.ranges[images], self._box[images]


class FocalDropping:
    """All ranges (L, P); every box is computed anew."""

    def __init__(self, pooling: Focal, ranges: Enclosure) -> None:
        self._pooling = pooling
        self._ranges = Enclosure.of(ranges.lower.clone(), ranges.upper.clone())

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        lower, upper = (end.expand(len(patches), -1, -1) for end in (self._ranges.lower, self._ranges.upper))
        return self._pooling.replaced(Enclosure.of(lower, upper), patches, ranges)

    def together(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        boxes = []
        after = FocalDropping(self._pooling, self._ranges)
        for place in range(len(patches)):
            after.replace(patches[place : place + 1], ranges[place : place + 1])
            boxes.append(self._pooling.box(after._ranges)[None])
        return Enclosure.cat(boxes)

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        self._ranges.lower[patches], self._ranges.upper[patches] = ranges.lower, ranges.upper


def least_of_others(values: Tensor) -> Tensor:
    """(N, L, P): for each patch, the least over the other patches; infinity if there is none."""
    nothing = torch.full_like(values[:, :1], torch.inf)
    before = torch.cat([nothing, values.cummin(1).values[:, :-1]], 1)
    after = torch.cat([values.flip(1).cummin(1).values.flip(1)[:, 1:], nothing], 1)
    return torch.minimum(before, after)


def slots(image: Tensor) -> Tensor:
    """For a sorted list of images (S,), the place of each entry among its image's."""
    image = image.contiguous()
    return torch.arange(len(image), device=image.device) - torch.searchsorted(image, image)


def _without_each(values: Tensor, patches: Tensor) -> Tensor:
    """(S, P) the least of (L, P) values over all patches but one, for each of S patches."""
    unique, place = torch.unique(patches, return_inverse=True)
    rest = values.clone()
    rest[unique] = torch.inf
    return torch.minimum(least_of_others(values[unique][None])[0], rest.amin(0))[place]


def _as_replaced(values: Tensor, patches: Tensor, replacements: Tensor) -> Tensor:
    """(S, P) the least of (L, P) values over all patches once the first, the first two, ... all S are replaced."""
    rest = values.clone()
    rest[patches] = torch.inf
    after = values[patches].flip(0).cummin(0).values.flip(0)
    after = torch.cat([after[1:], torch.full_like(after[:1], torch.inf)])
    return torch.minimum(torch.minimum(replacements.cummin(0).values, after), rest.amin(0))


def _sum_of_others(values: Tensor) -> Tensor:
    """(..., L, P): for each patch, the sum over the other patches; infinite only where one of these is."""
    nothing = torch.zeros_like(values[..., :1, :])
    before = torch.cat([nothing, values.cumsum(-2)[..., :-1, :]], -2)
    after = torch.cat([values.flip(-2).cumsum(-2).flip(-2)[..., 1:, :], nothing], -2)
    return before + after
