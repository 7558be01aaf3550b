"""Poolings with a mean: activations from all patches; see `verale.bounds.means`.

Loops go over patches outside and over prototypes inside, where they are vectors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from verale.search.compiled.image import MEAN_DISTANCE, MEAN_SIMILARITY, Floats, ImageArrays
from verale.search.compiled.jit import part
from verale.search.compiled.similarity import orient, similarity

__all__ = ["AllPatches", "all_patches_of", "replace_in_all", "try_in_all"]


class AllPatches(NamedTuple):
    """What is known of all patches.

    Attributes:
        ends: (2, L, P) the least and the greatest dissimilarity.
        similar: (2, L, P) their similarities: the greatest and the least.
        before: (4, P) what was known of a patch that is tried.
        high, low: (P,) the ends of the activations with what is tried.
        sums: (6, P) room.
    """

    ends: Floats
    similar: Floats
    before: Floats
    high: Floats
    low: Floats
    sums: Floats


@part
def all_patches_of(image: ImageArrays, lower: Floats, upper: Floats, high: Floats, low: Floats) -> AllPatches:
    """From ranges (L, P) of observables; fills in the ends (P,) of the activations."""
    patches, size = lower.shape
    known = AllPatches(
        np.empty((2, patches, size)),
        np.empty((2, patches, size)),
        np.empty((4, size)),
        np.empty(size),
        np.empty(size),
        np.empty((6, size)),
    )
    for patch in range(patches):
        _put(image, known, patch, lower[patch], upper[patch])
    if patches:
        _pool(image, known)
        high[:], low[:] = known.high, known.low
    return known


@part
def _put(image: ImageArrays, known: AllPatches, patch: int, lower: Floats, upper: Floats) -> None:
    """A patch gets these ranges (P,) of observables; its activations stay."""
    number, distance, epsilon, scale = image.similarity, image.distance, image.epsilon, image.scale
    near, far = known.ends[0, patch], known.ends[1, patch]
    most, least = known.similar[0, patch], known.similar[1, patch]
    orient(image, patch, lower, upper, near, far)
    for k in range(len(near)):
        most[k] = similarity(number, distance, epsilon, scale[k], near[k])
        least[k] = similarity(number, distance, epsilon, scale[k], far[k])


@part
def try_in_all(
    image: ImageArrays, weights: Floats, known: AllPatches, high: Floats, low: Floats, patch: int,
    lower: Floats, upper: Floats, margins: Floats, tried: Floats,
) -> None:  # fmt: skip
    """The margins if a patch had these ranges (P,) of observables."""
    for end in range(2):
        known.before[end], known.before[2 + end] = known.ends[end, patch], known.similar[end, patch]
    _put(image, known, patch, lower, upper)
    _pool(image, known)
    for end in range(2):
        known.ends[end, patch], known.similar[end, patch] = known.before[end], known.before[2 + end]
    tried[:] = margins
    for k in range(len(high)):
        above, below = known.high[k] - high[k], known.low[k] - low[k]
        if above != 0.0 or below != 0.0:
            for c in range(len(tried)):
                weight = weights[k, c]
                tried[c] += weight * (below if weight > 0.0 else above)


@part
def replace_in_all(
    image: ImageArrays, known: AllPatches, high: Floats, low: Floats, patch: int, lower: Floats, upper: Floats
) -> None:
    """A patch gets these ranges (P,) of observables."""
    _put(image, known, patch, lower, upper)
    _pool(image, known)
    high[:], low[:] = known.high, known.low


@part
def _pool(image: ImageArrays, known: AllPatches) -> None:
    """The ends of all activations."""
    if image.pooling == MEAN_SIMILARITY:
        _minus_mean(known)
    elif image.pooling == MEAN_DISTANCE:
        _minus_mean_distance(image, known)
    else:
        for k in range(len(known.high)):
            known.high[k] = _mean_of_greatest(known.similar[0, :, k], image.greatest)
            known.low[k] = _mean_of_greatest(known.similar[1, :, k], image.greatest)


@part
def _minus_mean(known: AllPatches) -> None:
    """Of the largest similarity minus the mean similarity."""
    patches, size = known.similar.shape[1:]
    total, top, highest, short = known.sums[0], known.sums[1], known.sums[2], known.sums[3]
    total[:], top[:], highest[:], short[:] = 0.0, -math.inf, -math.inf, 0.0
    for patch in range(patches):
        most, least = known.similar[0, patch], known.similar[1, patch]
        for k in range(size):
            total[k] += least[k]
            top[k] = least[k] if least[k] > top[k] else top[k]
            own = (patches - 1) * most[k] + least[k]
            highest[k] = own if own > highest[k] else highest[k]
    for patch in range(patches):
        most = known.similar[0, patch]
        for k in range(size):
            missing = top[k] - most[k]
            short[k] += missing if missing > 0.0 else 0.0
    for k in range(size):
        known.high[k], known.low[k] = max((highest[k] - total[k]) / patches, 0.0), short[k] / patches


@part
def _minus_mean_distance(image: ImageArrays, known: AllPatches) -> None:
    """Of the largest similarity minus the similarity at the mean distance.

    The greatest is that of one patch, with all others as far as they can be. A patch cannot give more than its
    similarity minus that at the mean of all far ends, so the rest is tried only where that is more than the most
    similar patch gives.
    """
    number, distance, epsilon, scale = image.similarity, image.distance, image.epsilon, image.scale
    patches, size = known.ends.shape[1:]
    total, farthest, mean = known.sums[0], known.sums[1], known.sums[2]
    top, slack, second = known.sums[3], known.sums[4], known.sums[5]
    total[:], farthest[:], mean[:], top[:], second[:] = 0.0, math.inf, 0.0, -math.inf, -math.inf
    for patch in range(patches):
        near, far, most = known.ends[0, patch], known.ends[1, patch], known.similar[0, patch]
        for k in range(size):
            total[k] += far[k]
            farthest[k] = far[k] if far[k] < farthest[k] else farthest[k]
            better = most[k] > top[k]
            runner = top[k] if better else most[k]
            second[k] = runner if runner > second[k] else second[k]
            slack[k] = near[k] - far[k] if better else slack[k]
            top[k] = most[k] if better else top[k]
    for patch in range(patches):
        near = known.ends[0, patch]
        for k in range(size):
            mean[k] += near[k] if near[k] > farthest[k] else farthest[k]
    for k in range(size):
        highest = top[k] - similarity(number, distance, epsilon, scale[k], (total[k] + slack[k]) / patches)
        if second[k] - similarity(number, distance, epsilon, scale[k], total[k] / patches) > highest:
            for patch in range(patches):
                others = (total[k] + known.ends[0, patch, k] - known.ends[1, patch, k]) / patches
                own = known.similar[0, patch, k] - similarity(number, distance, epsilon, scale[k], others)
                highest = max(highest, own)
        lowest = similarity(number, distance, epsilon, scale[k], farthest[k])
        lowest -= similarity(number, distance, epsilon, scale[k], mean[k] / patches)
        known.high[k], known.low[k] = max(highest, 0.0), max(lowest, 0.0)


@part
def _mean_of_greatest(values: Floats, count: int) -> float:
    """The mean of the greatest values, as many as there are."""
    kept = min(count, len(values))
    return float(np.sort(values)[len(values) - kept :].sum() / kept)
