"""Poolings with a mean: activations from all patches; see `verale.bounds.means`.

Loops go over patches outside and over prototypes inside, where they are vectors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from verale.search.compiled.arrays import greatest, overwrite, sum_of
from verale.search.compiled.image import MEAN_DISTANCE, MEAN_SIMILARITY, Floats, ImageArrays, Integers
from verale.search.compiled.margins import Changes, no_changes
from verale.search.compiled.parts import part
from verale.search.compiled.readout import change_margins
from verale.search.compiled.similarity import orient, similarity

__all__ = ["AllPatches", "all_patches_of", "enter_all", "replace_in_all", "try_in_all"]


class AllPatches(NamedTuple):
    """What is known of all patches.

    Attributes:
        ends: (2, L, P) the least and the greatest dissimilarity.
        similar: (2, L, P) their similarities: the greatest and the least.
        before: (4, P) what was known of a patch that is tried.
        high, low: (P,) the ends of the activations with what is tried.
        sums: (8, P) of mean distances: the sum of the far ends, the least two of them; with what is tried the least far
            end, the sum of the near ends or of this where it is more, the sum of the far ends; without it the second of
            these three, and the similarity at the first. Otherwise room.
        farthest: (P,) the patch of the least far end.
        nearest: (3, P) the patches with the least near ends, -1 where there are fewer.
        found: as many as there are similarities whose mean is taken; room.
        changes: room.
    """

    ends: Floats
    similar: Floats
    before: Floats
    high: Floats
    low: Floats
    sums: Floats
    farthest: Integers
    nearest: Integers
    found: Floats
    changes: Changes


def all_patches_of(image: ImageArrays, patches: int, size: int) -> AllPatches:
    """Room for L patches and P prototypes."""
    return AllPatches(
        np.empty((2, patches, size)),
        np.empty((2, patches, size)),
        np.empty((4, size)),
        np.empty(size),
        np.empty(size),
        np.empty((8, size)),
        np.zeros(size, np.int64),
        np.full((3, size), -1),
        np.empty(image.greatest),
        no_changes(size),
    )


@part
def enter_all(image: ImageArrays, known: AllPatches, lower: Floats, upper: Floats, high: Floats, low: Floats) -> None:
    """From ranges (L, P) of observables; fills in the ends (P,) of the activations."""
    for patch in range(len(lower)):
        _put(image, known, patch, lower[patch], upper[patch])
    _pool(image, known)
    overwrite(high, known.high)
    overwrite(low, known.low)


@part
def _put(image: ImageArrays, known: AllPatches, patch: int, lower: Floats, upper: Floats) -> None:
    """A patch gets these ranges (P,) of observables; its activations stay."""
    formula, scale, peak = image.formula, image.scale, image.peak
    near, far = known.ends[0, patch], known.ends[1, patch]
    most, least = known.similar[0, patch], known.similar[1, patch]
    orient(image, patch, lower, upper, near, far)
    for k in range(len(near)):
        most[k] = similarity(formula, scale[k], peak[k], near[k])
        least[k] = similarity(formula, scale[k], peak[k], far[k])


@part
def try_in_all(
    image: ImageArrays, weights: Floats, known: AllPatches, high: Floats, low: Floats, patch: int,
    lower: Floats, upper: Floats, margins: Floats, tried: Floats,
) -> None:  # fmt: skip
    """The margins if a patch had these ranges (P,) of observables."""
    if image.pooling == MEAN_DISTANCE:
        near, far = known.before[0], known.before[1]
        orient(image, patch, lower, upper, near, far)
        _mean_distances(image, known, patch, near, far)
    else:
        for end in range(2):
            overwrite(known.before[end], known.ends[end, patch])
            overwrite(known.before[2 + end], known.similar[end, patch])
        _put(image, known, patch, lower, upper)
        _pool(image, known)
        for end in range(2):
            overwrite(known.ends[end, patch], known.before[end])
            overwrite(known.similar[end, patch], known.before[2 + end])
    overwrite(tried, margins)
    changes, count = known.changes, 0
    for k in range(len(high)):
        above, below = known.high[k] - high[k], known.low[k] - low[k]
        if above != 0.0 or below != 0.0:
            changes.prototype[count], changes.above[count], changes.below[count] = k, above, below
            count += 1
    change_margins(image.readout, weights, changes, count, high, low, tried)


@part
def replace_in_all(
    image: ImageArrays, known: AllPatches, high: Floats, low: Floats, patch: int, lower: Floats, upper: Floats
) -> None:
    """A patch gets these ranges (P,) of observables."""
    if image.pooling == MEAN_DISTANCE:
        for end in range(2):
            overwrite(known.before[end], known.ends[end, patch])
        _put(image, known, patch, lower, upper)
        _order_again(known, patch)
        _similar_at_least(image, known.sums)
        _sum_distances(known)
        _mean_distances(image, known, patch, known.ends[0, patch], known.ends[1, patch])
    else:
        _put(image, known, patch, lower, upper)
        _pool(image, known)
    overwrite(high, known.high)
    overwrite(low, known.low)


@part
def _pool(image: ImageArrays, known: AllPatches) -> None:
    """The ends of all activations."""
    if image.pooling == MEAN_SIMILARITY:
        _minus_mean(known)
    elif image.pooling == MEAN_DISTANCE:
        _minus_mean_distance(image, known)
    else:
        for k in range(len(known.high)):
            known.high[k] = _mean_of_greatest(known.similar[0, :, k], known.found)
            known.low[k] = _mean_of_greatest(known.similar[1, :, k], known.found)


@part
def _minus_mean(known: AllPatches) -> None:
    """Of the largest similarity minus the mean similarity."""
    _, patches, size = known.similar.shape
    least_sum, top, highest, short = known.sums[0], known.sums[1], known.sums[2], known.sums[3]
    least_sum[:], top[:], highest[:], short[:] = 0.0, -math.inf, -math.inf, 0.0
    for patch in range(patches):
        most, least = known.similar[0, patch], known.similar[1, patch]
        for k in range(size):
            least_sum[k] += least[k]
            top[k] = least[k] if least[k] > top[k] else top[k]
            own = (patches - 1) * most[k] + least[k]
            highest[k] = own if own > highest[k] else highest[k]
    for patch in range(patches):
        most = known.similar[0, patch]
        for k in range(size):
            missing = top[k] - most[k]
            short[k] += missing if missing > 0.0 else 0.0
    for k in range(size):
        known.high[k], known.low[k] = max((highest[k] - least_sum[k]) / patches, 0.0), short[k] / patches


@part
def _minus_mean_distance(image: ImageArrays, known: AllPatches) -> None:
    """Of the largest similarity minus the similarity at the mean distance, and what is needed to replace a patch."""
    for k in range(len(known.high)):
        _least_far(known.ends[1], known.sums, known.farthest, k)
        _three_nearest(known.ends[0], known.nearest, k)
    _similar_at_least(image, known.sums)
    _sum_distances(known)
    _mean_distances(image, known, 0, known.ends[0, 0], known.ends[1, 0])


@part
def _order_again(known: AllPatches, patch: int) -> None:
    """The patches with the least ends, where one patch was changed."""
    near, far = known.ends[0], known.ends[1]
    nearest, sums, farthest, before = known.nearest, known.sums, known.farthest, known.before[1]
    for k in range(len(before)):
        own, third = near[patch, k], nearest[2, k]
        comes = third < 0 or own < near[third, k] or (own == near[third, k] and patch < third)
        if comes or patch == nearest[0, k] or patch == nearest[1, k] or patch == third:
            _three_nearest(near, nearest, k)
        own = far[patch, k]
        if farthest[k] != patch and own >= sums[1, k]:
            if own < sums[2, k]:
                sums[2, k] = own
            elif before[k] == sums[2, k] and own > sums[2, k]:
                _least_far(far, sums, farthest, k)
        elif own != before[k]:
            _least_far(far, sums, farthest, k)


@part
def _similar_at_least(image: ImageArrays, sums: Floats) -> None:
    """The similarities at the least far ends."""
    formula, scale, peak = image.formula, image.scale, image.peak
    for k in range(sums.shape[1]):
        sums[7, k] = similarity(formula, scale[k], peak[k], sums[1, k])


@part
def _sum_distances(known: AllPatches) -> None:
    """The sums over all patches."""
    _, patches, size = known.ends.shape
    far_sum, least, mean = known.sums[0], known.sums[1], known.sums[6]
    far_sum[:], mean[:] = 0.0, 0.0
    for patch in range(patches):
        near, far = known.ends[0, patch], known.ends[1, patch]
        for k in range(size):
            far_sum[k] += far[k]
        for k in range(size):
            mean[k] += near[k] if near[k] > least[k] else least[k]


@part
def _least_far(ends: Floats, sums: Floats, farthest: Integers, k: int) -> None:
    """The two least ends (L, P) of one prototype, and the patch of the first."""
    least, second, where = math.inf, math.inf, 0
    for patch in range(len(ends)):
        far = ends[patch, k]
        if far < least:
            least, second, where = far, least, patch
        elif far < second:
            second = far
    sums[1, k], sums[2, k], farthest[k] = least, second, where


@part
def _three_nearest(ends: Floats, nearest: Integers, k: int) -> None:
    """The patches with the three least of ends (L, P) of one prototype."""
    first, second, third = -1, -1, -1
    for patch in range(len(ends)):
        near = ends[patch, k]
        if first < 0 or near < ends[first, k]:
            first, second, third = patch, first, second
        elif second < 0 or near < ends[second, k]:
            second, third = patch, second
        elif third < 0 or near < ends[third, k]:
            third = patch
    nearest[0, k], nearest[1, k], nearest[2, k] = first, second, third


@part
def _mean_distances(image: ImageArrays, known: AllPatches, patch: int, near: Floats, far: Floats) -> None:
    """The ends of all activations if a patch had these distances (P,).

    The greatest is that of one patch, with all others as far as they can be. A patch cannot give more than its
    similarity minus that at the mean of all far ends, so another one is tried only where that is more than the most
    similar patch gives. The least needs all patches only where this one changes the least far end.
    """
    _, patches, size = known.ends.shape
    farthest, mean, far_sum = known.sums[3], known.sums[4], known.sums[5]
    near_before, before, least_far = known.ends[0, patch], known.ends[1, patch], known.sums[1]
    for k in range(size):
        others = known.sums[2, k] if known.farthest[k] == patch else known.sums[1, k]
        farthest[k] = far[k] if far[k] < others else others
    for k in range(size):
        far_sum[k] = known.sums[0, k] + (far[k] - before[k])
        gone = near_before[k] if near_before[k] > farthest[k] else farthest[k]
        come = near[k] if near[k] > farthest[k] else farthest[k]
        mean[k] = known.sums[6, k] + (come - gone)
    for k in range(size):
        if farthest[k] != least_far[k]:
            mean[k] = near[k] if near[k] > farthest[k] else farthest[k]
            for other in range(patches):
                if other != patch:
                    end = known.ends[0, other, k]
                    mean[k] += end if end > farthest[k] else farthest[k]
    formula, scales, peaks = image.formula, image.scale, image.peak
    nearest, similar, ends, highs, lows = known.nearest, known.similar[0], known.ends, known.high, known.low
    for k in range(size):
        scale, peak, all_far = scales[k], peaks[k], far_sum[k]
        first, second, own = nearest[0, k], nearest[1, k], -math.inf
        if first == patch:
            first, second = second, nearest[2, k]
        elif second == patch:
            second = nearest[2, k]
        if second < 0 or near[k] < ends[0, second, k]:
            own = similarity(formula, scale, peak, near[k])
        if first < 0 or near[k] < ends[0, first, k]:
            top, slack = own, near[k] - far[k]
            runner = similar[first, k] if first >= 0 else -math.inf
        else:
            top, slack = similar[first, k], ends[0, first, k] - ends[1, first, k]
            runner = max(similar[second, k] if second >= 0 else -math.inf, own)
        highest = top - similarity(formula, scale, peak, (all_far + slack) / patches)
        least = similarity(formula, scale, peak, all_far / patches)
        if runner - least > highest:
            own = similarity(formula, scale, peak, near[k])
            for other in range(patches):
                most = own if other == patch else similar[other, k]
                if most - least > highest:
                    width = near[k] - far[k] if other == patch else ends[0, other, k] - ends[1, other, k]
                    alone = most - similarity(formula, scale, peak, (all_far + width) / patches)
                    highest = max(highest, alone)
        lowest = known.sums[7, k]
        if farthest[k] != least_far[k]:
            lowest = similarity(formula, scale, peak, farthest[k])
        lowest -= similarity(formula, scale, peak, mean[k] / patches)
        highs[k], lows[k] = max(highest, 0.0), max(lowest, 0.0)


@part
def _mean_of_greatest(values: Floats, found: Floats) -> float:
    """The mean of the greatest values, as many as there are."""
    kept = greatest(values, found)
    return sum_of(found[:kept]) / kept
