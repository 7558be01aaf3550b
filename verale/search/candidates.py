"""Candidates: which pairs to consider next, given what each activation is worth against the worst rival."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds import activation
from verale.bounds.means import Focal, TopMean, WholeGrowing
from verale.bounds.pooling import Growing, MaxGrowing
from verale.rounding import Enclosure

__all__ = ["Needs", "candidate_pairs"]

_ACTIVATIONS = 64
"""How many activations a round considers."""

_PATCHES = 16
"""How many patches a round considers for one activation, or under a pooling other than the maximum."""

_INFINITE = 1e300
"""Replaces an infinite distance where distances are compared."""


@dataclass(frozen=True)
class Needs:
    """What would help each of n images against its worst rival.

    Attributes:
        favour, against: (n, P) the gain of proving an activation higher, or lower; at most one of them is not 0.
        loss: (n, P) what not knowing an activation costs.
        observed: (n * L, P) observables.
        least, attained: (n, P) the least dissimilarity and the patch that attains it.
        stated: (n, L, P) bool.
    """

    favour: Tensor
    against: Tensor
    loss: Tensor
    observed: Enclosure
    least: Tensor
    attained: Tensor
    stated: Tensor


def candidate_pairs(needs: Needs, pooled: Growing) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs to state next, as (n, M) patches, prototypes and promises; all are estimates.

    The pair that promises most comes first. A promise is negative where nothing can be gained; a pair with a promise of
    0 helps another one. If an image has a helpful pair that is not stated, its candidates include one.
    """
    if isinstance(pooled, MaxGrowing):
        return _under_max_pooling(needs, pooled)
    if not isinstance(pooled, WholeGrowing):
        raise TypeError(f"no candidates are defined for {type(pooled).__name__}")
    if isinstance(pooled.pooling, Focal):
        blame = _focal_blame(needs, pooled.ranges, pooled.pooling)
    else:
        blame = _top_mean_blame(needs, pooled.ranges, pooled.pooling)
    return _most_blamed(blame.masked_fill(needs.stated, 0.0))


def _under_max_pooling(needs: Needs, pooled: MaxGrowing) -> tuple[Tensor, Tensor, Tensor]:
    """For each costly activation the patch that attains it (to prove it high) or that may exceed it (low)."""
    loss, near = needs.loss, pooled.near
    each = torch.arange(len(loss))
    promise, prototype = loss.topk(min(_ACTIVATIONS, loss.shape[1]), dim=1)
    high = needs.favour.gather(1, prototype) > 0
    exceeding = near.gather(2, prototype[:, None].expand(-1, near.shape[1], -1)).argmin(1)
    patch = torch.where(high, needs.attained.gather(1, prototype), exceeding)
    # Many patches may exceed the costliest activation that has to be low, and all of them have to be stated.
    lowest = prototype[each, (~high).int().argmax(1)]
    reach, more = near[each, :, lowest].topk(min(_PATCHES, near.shape[1]), largest=False)
    exceeds = (reach < needs.least[each, lowest][:, None]) & ~high.all(1, keepdim=True)
    patch, prototype = torch.cat([patch, more], 1), torch.cat([prototype, lowest[:, None].expand_as(more)], 1)
    promise = torch.cat([torch.where(promise > 0, promise, -1.0), torch.where(exceeds, 0.0, -1.0)], 1)
    helping = (promise >= 0) & ~needs.stated[each[:, None], patch, prototype]
    if not bool(helping.any(1).all()):
        # A stated pair cannot help again. Consider the patches of all prototypes, without the stated pairs.
        patches = torch.where(needs.favour > 0, needs.attained, near.argmin(1))
        known = needs.stated.gather(1, patches[:, None])[:, 0]
        best, other = loss.masked_fill(known, 0.0).max(1)
        helped = helping.any(1)
        patch[:, 0] = torch.where(helped, patch[:, 0], patches[each, other])
        prototype[:, 0] = torch.where(helped, prototype[:, 0], other)
        promise[:, 0] = torch.where(helped, promise[:, 0], torch.where(best > 0, best, -1.0))
    return patch, prototype, promise


def _most_blamed(blame: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The patches with the largest blame (n, L, P) in total, each with the prototype that it is blamed for most."""
    patch = blame.sum(2).topk(min(_PATCHES, blame.shape[1]), dim=1).indices
    promise, prototype = blame.gather(1, patch[:, :, None].expand(-1, -1, blame.shape[2])).max(2)
    return patch, prototype, torch.where(promise > 0, promise, -1.0)


def _focal_blame(needs: Needs, known: Enclosure, pooling: Focal) -> Tensor:
    """(n, L, P) the share of every patch in the losses.

    An activation's loss has two parts. The loss of the peak goes to the patch that attains it, if the activation has to
    be high; otherwise it is shared evenly by the patches that may exceed the peak. The loss of the mean goes to all
    patches, in proportion to what is unknown of them.
    """
    head = pooling.head
    observed = needs.observed.view(*known.shape)
    similar = activation(head, known)
    if pooling.of_distances:
        nearest = observed.lower.amin(1)
        top = activation(head, Enclosure(nearest, nearest)).upper[:, None]
        above, below = observed.lower - known.lower, known.upper - observed.lower
    else:
        actual = activation(head, observed).upper
        top = actual.amax(1, keepdim=True)
        above, below = similar.upper - actual, actual - similar.lower
    favour, weight = (needs.favour > 0)[:, None], (needs.favour + needs.against)[:, None]
    missing = top - similar.lower.amax(1, keepdim=True)
    exceeding = (similar.upper - top).clamp(min=0)
    among = (exceeding > 0).sum(1, keepdim=True).clamp(min=1)
    attained = torch.zeros_like(exceeding).scatter_(1, needs.attained[:, None], 1.0)
    lost = weight * torch.where(favour, missing, exceeding.amax(1, keepdim=True)).clamp(min=0)
    unknown = torch.where(favour, above, below).clamp(0, _INFINITE)
    share = unknown / unknown.sum(1, keepdim=True).clamp(min=1 / _INFINITE)
    peak = torch.where(favour, attained * lost, weight * exceeding / among)
    return peak + (needs.loss[:, None] - lost).clamp(min=0) * share


def _top_mean_blame(needs: Needs, known: Enclosure, pooling: TopMean) -> Tensor:
    """(n, L, P) what the k most similar patches lack, or how far another patch may exceed the k-th."""
    similar = activation(pooling.head, known)
    actual = activation(pooling.head, needs.observed.view(*known.shape)).upper
    count = min(pooling.k, actual.shape[1])
    last = actual.topk(count, dim=1).values[:, -1:]
    favour, weight = (needs.favour > 0)[:, None], (needs.favour + needs.against)[:, None]
    lacking = torch.where(actual >= last, actual - similar.lower, 0.0)
    return weight / count * torch.where(favour, lacking, similar.upper - torch.maximum(actual, last)).clamp(min=0)
