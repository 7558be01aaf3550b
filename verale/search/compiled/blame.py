"""Poolings with a mean: the share of every patch in what the activations are not known to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from verale.search.compiled.arrays import greatest, largest
from verale.search.compiled.image import MEAN_DISTANCE, MEAN_OF_GREATEST, Booleans, Floats, ImageArrays, Integers
from verale.search.compiled.means import AllPatches
from verale.search.compiled.parts import part

__all__ = ["Blame", "blame_of", "blame_patches", "first_open"]

_INFINITE = 1e300


class Blame(NamedTuple):
    """What each of L patches is blamed for.

    Attributes:
        total: (L,) for all prototypes together.
        most: (L,) for the one that it is blamed for most.
        prototype: (L,) which one that is.
        own: (L,) room.
    """

    total: Floats
    most: Floats
    prototype: Integers
    own: Floats


def blame_of(patches: int) -> Blame:
    """Room for L patches."""
    return Blame(np.empty(patches), np.empty(patches), np.zeros(patches, np.int64), np.empty(patches))


@part
def blame_patches(
    image: ImageArrays, patches: AllPatches, weights: Floats, loss: Floats, open_: Booleans, blame: Blame
) -> None:
    """Share the losses (P,) against a rival of these weights (P,) among the patches; of pairs that can still help."""
    blame.total[:] = 0.0
    blame.most[:] = 0.0
    blame.prototype[:] = 0
    for k in range(len(loss)):
        if weights[k] == 0.0:
            continue
        if image.pooling == MEAN_OF_GREATEST:
            _share_greatest(image, patches, k, weights[k], blame.own)
        else:
            _share_focal(image, patches, k, weights[k], loss[k], blame.own)
        for patch in range(len(blame.own)):
            if blame.own[patch] > 0.0 and (
                open_[patch, k] or (not image.allowed[patch, k] and first_open(open_[patch]) >= 0)
            ):
                blame.total[patch] += blame.own[patch]
                if blame.own[patch] > blame.most[patch]:
                    blame.most[patch], blame.prototype[patch] = blame.own[patch], k


@part
def first_open(open_: Booleans) -> int:
    """The first prototype that may be stated; -1 if none."""
    for k in range(len(open_)):
        if open_[k]:
            return k
    return -1


@part
def _share_focal(
    image: ImageArrays, known: AllPatches, prototype: int, weight: float, loss: float, own: Floats
) -> None:
    """The loss of the peak goes to the patch that attains it, or to those that may exceed it; that of the mean to all,
    in proportion to what is unknown of them."""
    ends, similar = known.ends[:, :, prototype], known.similar[:, :, prototype]
    actual = image.actual_similar[prototype]
    patches, favour, top = len(own), weight > 0.0, largest(actual)
    exceeding, among, unknown = 0.0, 0, 0.0
    for patch in range(patches):
        above = similar[0, patch] - top
        if above > 0.0:
            exceeding, among = max(exceeding, above), among + 1
        if image.pooling == MEAN_DISTANCE:
            observed = (image.low[patch, prototype] + image.high[patch, prototype]) / 2
            open_end = observed - ends[0, patch] if favour else ends[1, patch] - observed
        else:
            open_end = similar[0, patch] - actual[patch] if favour else actual[patch] - similar[1, patch]
        own[patch] = min(max(open_end, 0.0), _INFINITE)
        unknown += own[patch]
    missing = top - largest(similar[1]) if favour else exceeding
    lost = abs(weight) * max(missing, 0.0)
    rest = max(loss - lost, 0.0) / max(unknown, 1 / _INFINITE)
    for patch in range(patches):
        own[patch] *= rest
        if favour:
            own[patch] += lost if patch == image.attained[prototype] else 0.0
        else:
            own[patch] += abs(weight) * max(similar[0, patch] - top, 0.0) / max(among, 1)


@part
def _share_greatest(image: ImageArrays, known: AllPatches, prototype: int, weight: float, own: Floats) -> None:
    """What the most similar patches lack, or how far another one may exceed the last of them."""
    similar, actual = known.similar[:, :, prototype], image.actual_similar[prototype]
    count = greatest(actual, known.found)
    last = known.found[0]
    for patch in range(len(own)):
        if weight > 0.0:
            share = actual[patch] - similar[1, patch] if actual[patch] >= last else 0.0
        else:
            share = similar[0, patch] - max(actual[patch], last)
        own[patch] = abs(weight) / count * max(share, 0.0)
