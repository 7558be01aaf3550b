"""Poolings with a mean: the similarities of all patches matter, so every box is computed anew."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from verale.bounds.similarity import activation
from verale.head import FocalPooling, Head, TopMeanPooling
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["Focal", "TopMean", "WholeDropping", "WholeGrowing"]

_CHUNK_BYTES = 64 * 2**20


class Focal:
    r"""Focal pooling: the exact range over all patches' ranges, its two terms taken together.

    `max_minus_mean`, similarities g_l in [lo_l, hi_l]:
        sup = max_l (hi_l - (hi_l + sum_{i != l} lo_i) / L),  inf = mean_l max(0, t - hi_l) with t = max_l lo_l.
    `max_minus_mean_distance`, distances d_l in [lo_l, hi_l]:
        sup = max_l (S(lo_l) - S((lo_l + sum_{i != l} hi_i) / L)),
        inf = S(T) - S(mean_l max(lo_l, T)) with T = min_l hi_l.

    Soundness: proofs in verale/checker/rules/means.py. Sums over L patches are rounded outward by gamma; S by
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

    def growing(self, ranges: Enclosure) -> WholeGrowing:
        return WholeGrowing(self, ranges)

    def dropping(self, ranges: Enclosure) -> WholeDropping:
        return WholeDropping(self, ranges)

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
        means = (low + _sum_of_others(high)) / parts
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
        low, high = (end.topk(count, dim=-2).values for end in (similar.lower, similar.upper))
        slack, lost, parts = gamma(count + 4), count * UNDERFLOW, _divisor(low, count)
        return Enclosure(
            down(down(low.sum(-2) - up(low.abs().sum(-2) * slack + lost)) / parts),
            up(up(high.sum(-2) + up(high.abs().sum(-2) * slack + lost)) / parts),
        )

    def growing(self, ranges: Enclosure) -> WholeGrowing:
        return WholeGrowing(self, ranges)

    def dropping(self, ranges: Enclosure) -> WholeDropping:
        return WholeDropping(self, ranges)


class WholeGrowing:
    """All ranges; every box is computed anew.

    Attributes:
        pooling: the head's.
        ranges: (N, L, P).
    """

    def __init__(self, pooling: Focal | TopMean, ranges: Enclosure) -> None:
        self.pooling = pooling
        self.ranges = Enclosure.unchecked(ranges.lower.clone(), ranges.upper.clone())
        self._box = pooling.box(ranges)

    @property
    def box(self) -> Enclosure:
        return self._box

    def trial(self, image: Tensor, patch: Tensor, ranges: Enclosure) -> Enclosure:
        count, candidates, size = ranges.shape
        self._tried = image, patch, ranges
        again = image.repeat_interleave(candidates)
        boxes = _replaced(
            self.pooling,
            self.ranges[again],
            patch.repeat_interleave(candidates),
            ranges.view(count * candidates, size),
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


class WholeDropping:
    """All ranges (L, P); every box is computed anew."""

    def __init__(self, pooling: Focal | TopMean, ranges: Enclosure) -> None:
        self._pooling = pooling
        self._ranges = Enclosure.unchecked(ranges.lower.clone(), ranges.upper.clone())

    def alone(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        lower, upper = (end.expand(len(patches), -1, -1) for end in (self._ranges.lower, self._ranges.upper))
        return _replaced(self._pooling, Enclosure.unchecked(lower, upper), patches, ranges)

    def together(self, patches: Tensor, ranges: Enclosure) -> Enclosure:
        boxes = []
        after = WholeDropping(self._pooling, self._ranges)
        for index in range(len(patches)):
            after.replace(patches[index : index + 1], ranges[index : index + 1])
            boxes.append(self._pooling.box(after._ranges)[None])
        return Enclosure.cat(boxes)

    def replace(self, patches: Tensor, ranges: Enclosure) -> None:
        self._ranges.lower[patches], self._ranges.upper[patches] = ranges.lower, ranges.upper


def _replaced(pooling: Focal | TopMean, ranges: Enclosure, patches: Tensor, rows: Enclosure) -> Enclosure:
    """(S, P) activations of (S, L, P) ranges with one patch each, (S,), replaced by (S, P); in chunks."""
    step = max(1, _CHUNK_BYTES // (16 * ranges.lower[0].numel()))
    boxes = []
    for part in torch.split(torch.arange(len(patches), device=patches.device), step):
        chunk = Enclosure.unchecked(ranges.lower[part].clone(), ranges.upper[part].clone())
        each = torch.arange(len(part), device=part.device)
        chunk.lower[each, patches[part]], chunk.upper[each, patches[part]] = rows.lower[part], rows.upper[part]
        boxes.append(pooling.box(chunk))
    return Enclosure.cat(boxes)


def _divisor(values: Tensor, count: int) -> Tensor:
    """A count as a tensor beside the values: a quotient by a number of the host is not rounded once on every device."""
    return values.new_tensor(float(count))


def _sum_of_others(values: Tensor) -> Tensor:
    """(..., L, P): for each patch, the sum over the other patches; infinite only where one of these is."""
    nothing = torch.zeros_like(values[..., :1, :])
    before = torch.cat([nothing, values.cumsum(-2)[..., :-1, :]], -2)
    after = torch.cat([values.flip(-2).cumsum(-2).flip(-2)[..., 1:, :], nothing], -2)
    return before + after
