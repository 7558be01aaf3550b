"""Poolings with a mean: the similarities of all patches matter, not those of one alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from verale.bounds.similarity import activation
from verale.head import FocalPooling, Head, TopMeanPooling
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["Focal", "TopMean", "WholeDropping", "sum_of_others"]

_CHUNK_BYTES = 64 * 2**20


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
        return WholeDropping(self, ranges)

    def replaced(self, ranges: Enclosure, trials: Trials) -> Enclosure:
        """(S, P) activations of images with ranges (N, L, P), for S trials."""
        return (
            self._replaced_distance(ranges, trials) if self.of_distances else self._replaced_similarity(ranges, trials)
        )

    def _mean_similarity(self, ranges: Enclosure) -> Enclosure:
        similar = activation(self.head, ranges)
        low, high, count = similar.lower, similar.upper, similar.lower.shape[-2]
        parts = _divisor(low, count)
        # Terms are >= 0: a difference, a sum of L, a quotient.
        least = (low.amax(-2, keepdim=True) - high).clamp(min=0).sum(-2) / parts
        # L times it: (L - 1) hi_l + lo_l - sum lo.
        most = ((count - 1) * high + low).amax(-2) - low.sum(-2)
        sizes = ((count - 1) * high.abs() + low.abs()).amax(-2) + low.abs().sum(-2)
        return Enclosure(
            down(least - up(least * gamma(count + 8) + 2 * UNDERFLOW)).clamp(min=0),
            up(up(most + up(sizes * gamma(count + 8) + 2 * count * UNDERFLOW)) / parts).clamp(min=0),
        )

    def _mean_distance(self, ranges: Enclosure) -> Enclosure:
        low, high, count = ranges.lower, ranges.upper, ranges.lower.shape[-2]
        relative, parts = gamma(count + 4), _divisor(low, count)
        farthest = high.amin(-2)
        mean = torch.maximum(low, farthest.unsqueeze(-2)).sum(-2) / parts
        mean = down(mean - up(mean * relative + 2 * UNDERFLOW)).nan_to_num(torch.inf, torch.inf)
        least = activation(self.head, Enclosure(mean, farthest))
        means = (low + sum_of_others(high)) / parts
        means = up(means + up(means * relative + 2 * UNDERFLOW))
        most = activation(self.head, Enclosure(low, means))
        return Enclosure(
            down(least.lower - least.upper).clamp(min=0), up(most.upper - most.lower).amax(-2).clamp(min=0)
        )

    def _replaced_similarity(self, ranges: Enclosure, trials: Trials) -> Enclosure:
        """`_mean_similarity` from sums and maxima over the other patches, which a patch's trials share."""
        similar, row, count = activation(self.head, ranges), activation(self.head, trials.ranges), ranges.shape[-2]
        low, high = similar.lower[trials.image_of], similar.upper[trials.image_of]
        slack, parts = gamma(count + 10), _divisor(low, count)
        nearest = trials.without(low, -torch.inf).amax(1)
        shared = trials.without((nearest[:, None] - high).clamp(min=0), 0.0).sum(1)[trials.shared]
        # Where the replaced patch itself has the greatest lower end, the others lie farther below.
        trial, prototype = (row.lower > nearest[trials.shared]).nonzero(as_tuple=True)
        others = row.lower[trial, prototype][:, None] - similar.upper[trials.image[trial], :, prototype]
        shared[trial, prototype] = trials.without_own(others.clamp(min=0), trial).sum(1)
        peak = torch.maximum(nearest[trials.shared], row.lower)
        least = (shared + (peak - row.upper).clamp(min=0)) / parts
        greatest = trials.without((count - 1) * high + low, -torch.inf).amax(1)[trials.shared]
        sizes = trials.without((count - 1) * high.abs() + low.abs(), 0.0).amax(1)[trials.shared]
        total, size = (trials.without(each, 0.0).sum(1)[trials.shared] for each in (low, low.abs()))
        most = torch.maximum(greatest, (count - 1) * row.upper + row.lower) - (total + row.lower)
        sizes = torch.maximum(sizes, (count - 1) * row.upper.abs() + row.lower.abs()) + (size + row.lower.abs())
        return Enclosure(
            down(least - up(least * slack + 2 * UNDERFLOW)).clamp(min=0),
            up(up(most + up(sizes * slack + 2 * count * UNDERFLOW)) / parts).clamp(min=0),
        )

    def _replaced_distance(self, ranges: Enclosure, trials: Trials) -> Enclosure:
        """`_mean_distance` from sums and minima over the other patches, which a patch's trials share.

        Patches are tried as the greatest in the order of their lower ends. None that is left can be it once S of the
        next lower end, less S of the mean of all upper ends, does not exceed what is known: with lo_l <= hi_l no mean
        is greater, and S falls.
        """
        low, row, count = ranges.lower, trials.ranges, ranges.shape[-2]
        relative, parts = gamma(count + 6), _divisor(low, count)

        def above(mean: Tensor) -> Tensor:
            return up(mean + up(mean * relative + 2 * UNDERFLOW))

        high = ranges.upper[trials.image_of]
        farthest = trials.without(high, torch.inf).amin(1)
        shared = torch.maximum(low[trials.image_of], farthest[:, None])
        shared = trials.without(shared, 0.0).sum(1)[trials.shared]
        # Where the replaced patch itself has the least upper end, the others reach farther down.
        trial, prototype = (row.upper < farthest[trials.shared]).nonzero(as_tuple=True)
        others = torch.maximum(low[trials.image[trial], :, prototype], row.upper[trial, prototype][:, None])
        shared[trial, prototype] = trials.without_own(others, trial).sum(1)
        far = torch.minimum(farthest[trials.shared], row.upper)
        mean = (shared + torch.maximum(row.lower, far)) / parts
        mean = down(mean - up(mean * relative + 2 * UNDERFLOW)).nan_to_num(torch.inf, torch.inf)
        least = activation(self.head, Enclosure(mean, far))

        apart = sum_of_others(trials.without(high, 0.0))
        others = apart[torch.arange(len(apart)), trials.patch_of][trials.shared]
        own = activation(self.head, Enclosure(row.lower, above((row.lower + others) / parts)))
        best = up(own.upper - own.lower)
        everything = above((others + row.upper) / parts)
        floor = activation(self.head, Enclosure(everything, everything)).lower
        order = low.argsort(1)
        ends = low.gather(1, order)
        tops = activation(self.head, Enclosure(ends, ends)).upper
        open_, each = torch.arange(len(best)), torch.arange(low.shape[2])
        for rank in range(count):
            top = tops[trials.image[open_], rank]
            open_ = open_[(up(top - floor[open_]) > best[open_]).any(1)]
            if not len(open_):
                break
            patch, near = order[trials.image[open_], rank], ends[trials.image[open_], rank]
            means = above((near + apart[trials.shared[open_][:, None], patch, each] + row.upper[open_]) / parts)
            most = activation(self.head, Enclosure(near, means))
            reached = up(most.upper - most.lower).masked_fill(patch == trials.patch[open_][:, None], -torch.inf)
            best[open_] = torch.maximum(best[open_], reached)
        return Enclosure(down(least.lower - least.upper).clamp(min=0), best.clamp(min=0))


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
        return self._mean(*(end.topk(count, dim=-2).values for end in (similar.lower, similar.upper)))

    def replaced(self, ranges: Enclosure, trials: Trials) -> Enclosure:
        """(S, P) activations of images with ranges (N, L, P), for S trials: of the k greatest similarities of the other
        patches, which a patch's trials share, the replaced one may displace the last."""
        similar, row = activation(self.head, ranges), activation(self.head, trials.ranges)
        count = min(self.k, ranges.shape[-2])
        ends = []
        for end, own in ((similar.lower, row.lower), (similar.upper, row.upper)):
            greatest = trials.without(end[trials.image_of], -torch.inf).topk(count, dim=1).values[trials.shared]
            ends.append(torch.cat([greatest[:, :-1], torch.maximum(greatest[:, -1:], own[:, None])], 1))
        return self._mean(*ends)

    def _mean(self, low: Tensor, high: Tensor) -> Enclosure:
        """The means of the ends (..., k, P)."""
        count = low.shape[-2]
        slack, lost, parts = gamma(count + 4), count * UNDERFLOW, _divisor(low, count)
        return Enclosure(
            down(down(low.sum(-2) - up(low.abs().sum(-2) * slack + lost)) / parts),
            up(up(high.sum(-2) + up(high.abs().sum(-2) * slack + lost)) / parts),
        )

    def dropping(self, ranges: Enclosure) -> WholeDropping:
        return WholeDropping(self, ranges)


@dataclass(frozen=True, eq=False)
class Trials:
    """S trials, each of which replaces the ranges of one patch of an image; trials of the same patch share what the
    other patches give.

    Attributes:
        image, patch: (S,).
        ranges: (S, P) the new ranges.
        shared: (S,) the number of the trial's patch among the U different ones.
        image_of, patch_of: (U,) these.
    """

    image: Tensor
    patch: Tensor
    ranges: Enclosure
    shared: Tensor
    image_of: Tensor
    patch_of: Tensor

    @classmethod
    def of(cls, image: Tensor, patch: Tensor, ranges: Enclosure, patches: int) -> Trials:
        """Trials on images of so many patches."""
        different, shared = torch.unique(image * patches + patch, return_inverse=True)
        return cls(image, patch, ranges, shared, different // patches, different % patches)

    def without(self, values: Tensor, nothing: float) -> Tensor:
        """Values (U, L, P) with a number in place of what the replaced patch had."""
        values = values.clone()
        values[torch.arange(len(values)), self.patch_of] = nothing
        return values

    def without_own(self, values: Tensor, trial: Tensor) -> Tensor:
        """Values (T, L), those of some trials (T,), with 0 in place of what the replaced patch had."""
        values[torch.arange(len(values)), self.patch[trial]] = 0.0
        return values


class WholeDropping:
    """All ranges (L, P); a box with one patch replaced is computed from what the other patches give."""

    def __init__(self, pooling: Focal | TopMean, ranges: Enclosure) -> None:
        self._pooling = pooling
        self._ranges = Enclosure.unchecked(ranges.lower.clone(), ranges.upper.clone())

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        return _replaced(self._pooling, self._ranges[None], torch.zeros_like(patches), patches, ranges)

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        self._ranges.lower[patches], self._ranges.upper[patches] = ranges.lower, ranges.upper


def _replaced(pooling: Focal | TopMean, ranges: Enclosure, image: Tensor, patch: Tensor, rows: Enclosure) -> Enclosure:
    """(S, P) activations of images with ranges (N, L, P), with one patch of one image each replaced by (S, P).

    The trials of a patch are taken together, and no more patches at once than there is room for.
    """
    order = (image * ranges.shape[1] + patch).argsort(stable=True)
    step = max(1, _CHUNK_BYTES // (16 * ranges.lower[0].numel()))
    boxes = Enclosure.cat(
        [
            pooling.replaced(ranges, Trials.of(image[part], patch[part], rows[part], ranges.shape[1]))
            for part in torch.split(order, step)
        ]
    )
    return boxes[order.argsort()]


def _divisor(values: Tensor, count: int) -> Tensor:
    """A count as a tensor: torch may divide by a number by multiplying with its reciprocal, which rounds twice."""
    return values.new_tensor(float(count))


def sum_of_others(values: Tensor) -> Tensor:
    """(..., L, P): for each patch, the sum over the other patches; infinite only where one of these is.

    It is rounded to nearest, L - 1 times at most: whoever needs a bound widens it by gamma(L) of the sum of sizes. Sums
    before and after the patch are added, so that nothing cancels.
    """
    nothing = torch.zeros_like(values[..., :1, :])
    before = torch.cat([nothing, values.cumsum(-2)[..., :-1, :]], -2)
    after = torch.cat([values.flip(-2).cumsum(-2).flip(-2)[..., 1:, :], nothing], -2)
    return before + after
