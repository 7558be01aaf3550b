"""Max pooling: activations and margins, updated patch by patch."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from verale.search.compiled.image import Floats, ImageArrays, Integers
from verale.search.compiled.jit import part
from verale.search.compiled.similarity import orient, similarity

__all__ = ["Nearest", "nearest_of", "replace_patch", "try_patch"]


class Nearest(NamedTuple):
    """The patches with the least dissimilarities.

    Attributes:
        near, far: (P, L) the least and the greatest dissimilarity.
        nearest, second: (2, P) the least and the second least of both over the patches.
        patch: (2, P) which patch the least is of.
        ends: (2, P) room.
    """

    near: Floats
    far: Floats
    nearest: Floats
    second: Floats
    patch: Integers
    ends: Floats


@part
def nearest_of(image: ImageArrays, lower: Floats, upper: Floats, high: Floats, low: Floats) -> Nearest:
    """From ranges (L, P) of observables; fills in the ends (P,) of the activations."""
    patches, size = lower.shape
    pooled = Nearest(
        np.empty((size, patches)),
        np.empty((size, patches)),
        np.empty((2, size)),
        np.empty((2, size)),
        np.zeros((2, size), np.int64),
        np.empty((2, size)),
    )
    near, far = pooled.ends
    for patch in range(patches):
        orient(image, patch, lower[patch], upper[patch], near, far)
        pooled.near[:, patch], pooled.far[:, patch] = near, far
    for k in range(size):
        _find(pooled.near[k], pooled, 0, k)
        _find(pooled.far[k], pooled, 1, k)
    _activations(image, pooled, high, low)
    return pooled


@part
def _activations(image: ImageArrays, pooled: Nearest, high: Floats, low: Floats) -> None:
    """The ends of all activations."""
    number, distance, epsilon, scale = image.similarity, image.distance, image.epsilon, image.scale
    for k in range(pooled.nearest.shape[1]):
        high[k] = similarity(number, distance, epsilon, scale[k], pooled.nearest[0, k])
        low[k] = similarity(number, distance, epsilon, scale[k], pooled.nearest[1, k])


@part
def _find(values: Floats, pooled: Nearest, end: int, prototype: int) -> None:
    """Find the two least of a prototype's values (L,)."""
    least, second, where = math.inf, math.inf, 0
    for patch in range(len(values)):
        value = values[patch]
        if value < least:
            least, second, where = value, least, patch
        elif value < second:
            second = value
    pooled.nearest[end, prototype], pooled.second[end, prototype], pooled.patch[end, prototype] = least, second, where


@part
def _moved(pooled: Nearest, end: int, patch: int) -> None:
    """Pool what a patch would have: each of its ends becomes the least over all patches."""
    ends, nearest, second, where = pooled.ends[end], pooled.nearest[end], pooled.second[end], pooled.patch[end]
    for k in range(len(ends)):
        others = second[k] if where[k] == patch else nearest[k]
        ends[k] = ends[k] if ends[k] < others else others


@part
def try_patch(
    image: ImageArrays, weights: Floats, pooled: Nearest, high: Floats, low: Floats, patch: int,
    lower: Floats, upper: Floats, margins: Floats, tried: Floats,
) -> None:  # fmt: skip
    """The margins if a patch had these ranges (P,) of observables."""
    number, distance, epsilon, scale = image.similarity, image.distance, image.epsilon, image.scale
    near, far = pooled.ends
    orient(image, patch, lower, upper, near, far)
    _moved(pooled, 0, patch)
    _moved(pooled, 1, patch)
    tried[:] = margins
    for k in range(len(near)):
        if near[k] == pooled.nearest[0, k] and far[k] == pooled.nearest[1, k]:
            continue
        above = below = 0.0
        if near[k] != pooled.nearest[0, k]:
            above = similarity(number, distance, epsilon, scale[k], near[k]) - high[k]
        if far[k] != pooled.nearest[1, k]:
            below = similarity(number, distance, epsilon, scale[k], far[k]) - low[k]
        for c in range(len(tried)):
            weight = weights[k, c]
            tried[c] += weight * (below if weight > 0.0 else above)


@part
def replace_patch(
    image: ImageArrays, pooled: Nearest, high: Floats, low: Floats, patch: int, lower: Floats, upper: Floats
) -> None:
    """A patch gets these ranges (P,) of observables."""
    number, distance, epsilon, scale = image.similarity, image.distance, image.epsilon, image.scale
    near, far = pooled.ends
    orient(image, patch, lower, upper, near, far)
    for k in range(len(near)):
        before, pooled.near[k, patch] = pooled.near[k, patch], near[k]
        if before != near[k] and min(before, near[k]) <= pooled.second[0, k]:
            _find(pooled.near[k], pooled, 0, k)
            high[k] = similarity(number, distance, epsilon, scale[k], pooled.nearest[0, k])
        before, pooled.far[k, patch] = pooled.far[k, patch], far[k]
        if before != far[k] and min(before, far[k]) <= pooled.second[1, k]:
            _find(pooled.far[k], pooled, 1, k)
            low[k] = similarity(number, distance, epsilon, scale[k], pooled.nearest[1, k])
