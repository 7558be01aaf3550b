"""Aim: which pairs to ask about, once a rival says what each activation is worth."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds import activation
from verale.bounds.means import Focal, TopMean, WholeGrowing
from verale.bounds.pooling import Growing, MaxGrowing
from verale.rounding import Enclosure

__all__ = ["Wanted", "aim"]

_ACTIVATIONS = 64
"""Activations looked at in a round."""

_PATCHES = 16
"""Patches looked at in a round, for one activation or under another pooling than the maximum."""

_INFINITE = 1e300
"""Stands for an infinite distance among those to be compared."""


@dataclass(frozen=True)
class Wanted:
    """What would help n images.

    Attributes:
        favour, against: (n, P) how much is gained by showing an activation to be higher, lower; one of them is 0.
        loss: (n, P) what not knowing an activation costs.
        observed: (n * L, P) observables.
        least, attained: (n, P) the least dissimilarity and its patch.
        stated: (n, L, P) bool.
    """

    favour: Tensor
    against: Tensor
    loss: Tensor
    observed: Enclosure
    least: Tensor
    attained: Tensor
    stated: Tensor


def aim(wanted: Wanted, pooled: Growing) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs to state next, the one that promises most first: (n, M) patch, prototype, promise; estimates.

    A promise is negative where nothing is to be gained. A pair with a promise of 0 helps another one. Where an image
    has a pair that is not stated and would help, one that is not stated is among its pairs.
    """
    if isinstance(pooled, MaxGrowing):
        return _aim_at_max(wanted, pooled)
    if not isinstance(pooled, WholeGrowing):
        raise TypeError(f"no aim for {type(pooled).__name__}")
    if isinstance(pooled.pooling, Focal):
        blame = _focal_blame(wanted, pooled.ranges, pooled.pooling)
    else:
        blame = _top_blame(wanted, pooled.ranges, pooled.pooling)
    return _aim_at_blamed(blame.masked_fill(wanted.stated, 0.0))


def _aim_at_max(wanted: Wanted, pooled: MaxGrowing) -> tuple[Tensor, Tensor, Tensor]:
    """The patches of costly activations: where one is attained (to be shown high) or might be exceeded (low)."""
    loss, near = wanted.loss, pooled.near
    each = torch.arange(len(loss), device=loss.device)
    promise, prototype = loss.topk(min(_ACTIVATIONS, loss.shape[1]), dim=1)
    high = wanted.favour.gather(1, prototype) > 0
    exceeding = near.gather(2, prototype[:, None].expand(-1, near.shape[1], -1)).argmin(1)
    patch = torch.where(high, wanted.attained.gather(1, prototype), exceeding)
    # The costliest activation to be shown low may be exceeded at many patches, and all of them have to be stated.
    lowest = prototype[each, (~high).int().argmax(1)]
    reach, more = near[each, :, lowest].topk(min(_PATCHES, near.shape[1]), largest=False)
    exceeds = (reach < wanted.least[each, lowest][:, None]) & ~high.all(1, keepdim=True)
    patch, prototype = torch.cat([patch, more], 1), torch.cat([prototype, lowest[:, None].expand_as(more)], 1)
    promise = torch.cat([torch.where(promise > 0, promise, -1.0), torch.where(exceeds, 0.0, -1.0)], 1)
    helping = (promise >= 0) & ~wanted.stated[each[:, None], patch, prototype]
    if not bool(helping.any(1).all()):
        # What is stated already cannot help again; look at all prototypes' patches, and leave such pairs out.
        patches = torch.where(wanted.favour > 0, wanted.attained, near.argmin(1))
        known = wanted.stated.gather(1, patches[:, None])[:, 0]
        best, other = loss.masked_fill(known, 0.0).max(1)
        found = helping.any(1)
        patch[:, 0] = torch.where(found, patch[:, 0], patches[each, other])
        prototype[:, 0] = torch.where(found, prototype[:, 0], other)
        promise[:, 0] = torch.where(found, promise[:, 0], torch.where(best > 0, best, -1.0))
    return patch, prototype, promise


def _aim_at_blamed(blame: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The patches to blame for most of all losses, and the prototype that each is to blame for most; (n, L, P)."""
    patch = blame.sum(2).topk(min(_PATCHES, blame.shape[1]), dim=1).indices
    promise, prototype = blame.gather(1, patch[:, :, None].expand(-1, -1, blame.shape[2])).max(2)
    return patch, prototype, torch.where(promise > 0, promise, -1.0)


def _focal_blame(wanted: Wanted, known: Enclosure, pooling: Focal) -> Tensor:
    """(n, L, P) shares of every patch in the losses.

    An activation's loss has two parts. What the peak loses goes to the patch where it is attained, if it must be shown
    to be high, or to those that might exceed it, evenly; what the mean loses goes to all patches, in proportion to what
    is unknown of them.
    """
    head = pooling.head
    observed = wanted.observed.view(*known.shape)
    similar = activation(head, known)
    if pooling.of_distances:
        nearest = observed.lower.amin(1)
        top = activation(head, Enclosure(nearest, nearest)).upper[:, None]
        above, below = observed.lower - known.lower, known.upper - observed.lower
    else:
        seen = activation(head, observed).upper
        top = seen.amax(1, keepdim=True)
        above, below = similar.upper - seen, seen - similar.lower
    favour, weight = (wanted.favour > 0)[:, None], (wanted.favour + wanted.against)[:, None]
    missing = top - similar.lower.amax(1, keepdim=True)
    exceeding = (similar.upper - top).clamp(min=0)
    among = (exceeding > 0).sum(1, keepdim=True).clamp(min=1)
    attained = torch.zeros_like(exceeding).scatter_(1, wanted.attained[:, None], 1.0)
    lost = weight * torch.where(favour, missing, exceeding.amax(1, keepdim=True)).clamp(min=0)
    unknown = torch.where(favour, above, below).clamp(0, _INFINITE)
    share = unknown / unknown.sum(1, keepdim=True).clamp(min=1 / _INFINITE)
    peak = torch.where(favour, attained * lost, weight * exceeding / among)
    return peak + (wanted.loss[:, None] - lost).clamp(min=0) * share


def _top_blame(wanted: Wanted, known: Enclosure, pooling: TopMean) -> Tensor:
    """(n, L, P) what the k most similar patches lack, or what the others might have above the k-th."""
    similar = activation(pooling.head, known)
    seen = activation(pooling.head, wanted.observed.view(*known.shape)).upper
    count = min(pooling.k, seen.shape[1])
    last = seen.topk(count, dim=1).values[:, -1:]
    favour, weight = (wanted.favour > 0)[:, None], (wanted.favour + wanted.against)[:, None]
    lacking = torch.where(seen >= last, seen - similar.lower, 0.0)
    return weight / count * torch.where(favour, lacking, similar.upper - torch.maximum(seen, last)).clamp(min=0)
