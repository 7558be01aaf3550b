"""Max pooling: activations and margins, updated patch by patch."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.image import Floats, ImageArrays, Integers
from verale.search.compiled.margins import Changes, no_changes
from verale.search.compiled.parts import part
from verale.search.compiled.readout import change_margins
from verale.search.compiled.similarity import orient, similarity

__all__ = ["Nearest", "find_nearest", "nearest_of", "replace_patch", "try_patch"]


class Nearest(NamedTuple):
    """The patches with the least dissimilarities.

    Attributes:
        near, far: (P, L) the least and the greatest dissimilarity.
        nearest, second: (2, P) the least and the second least of both over the patches.
        patch: (2, P) which patch the least is of.
        ends: (2, P) room.
        changes: room.
    """

    near: Floats
    far: Floats
    nearest: Floats
    second: Floats
    patch: Integers
    ends: Floats
    changes: Changes


def nearest_of(patches: int, size: int) -> Nearest:
    """Room for L patches and P prototypes."""
    return Nearest(
        np.empty((size, patches)),
        np.empty((size, patches)),
        np.empty((2, size)),
        np.empty((2, size)),
        np.zeros((2, size), np.int64),
        np.empty((2, size)),
        no_changes(size),
    )


@part
def find_nearest(image: ImageArrays, pooled: Nearest, lower: Floats, upper: Floats, high: Floats, low: Floats) -> None:
    """From ranges (L, P) of observables; fills in the ends (P,) of the activations."""
    patches, size = lower.shape
    near, far = pooled.ends[0], pooled.ends[1]
    for patch in range(patches):
        orient(image, patch, lower[patch], upper[patch], near, far)
        for k in range(size):
            pooled.near[k, patch], pooled.far[k, patch] = near[k], far[k]
    pooled.nearest[:], pooled.second[:] = math.inf, math.inf
    for end in range(2):
        values, nearest, second, where = pooled.near, pooled.nearest[end], pooled.second[end], pooled.patch[end]
        if end == 1:
            values = pooled.far
        for k in range(size):
            for patch in range(patches):
                value = values[k, patch]
                if value < nearest[k]:
                    nearest[k], second[k], where[k] = value, nearest[k], patch
                elif value < second[k]:
                    second[k] = value
    _activations(image, pooled, high, low)


@part
def _activations(image: ImageArrays, pooled: Nearest, high: Floats, low: Floats) -> None:
    """The ends of all activations."""
    formula, scale, peak = image.formula, image.scale, image.peak
    for k in range(pooled.nearest.shape[1]):
        high[k] = similarity(formula, scale[k], peak[k], pooled.nearest[0, k])
        low[k] = similarity(formula, scale[k], peak[k], pooled.nearest[1, k])


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
    formula, scale, peak = image.formula, image.scale, image.peak
    near, far = pooled.ends[0], pooled.ends[1]
    orient(image, patch, lower, upper, near, far)
    _moved(pooled, 0, patch)
    _moved(pooled, 1, patch)
    overwrite(tried, margins)
    changes, count = pooled.changes, 0
    for k in range(len(near)):
        if near[k] == pooled.nearest[0, k] and far[k] == pooled.nearest[1, k]:
            continue
        above = below = 0.0
        if near[k] != pooled.nearest[0, k]:
            above = similarity(formula, scale[k], peak[k], near[k]) - high[k]
        if far[k] != pooled.nearest[1, k]:
            below = similarity(formula, scale[k], peak[k], far[k]) - low[k]
        changes.prototype[count], changes.above[count], changes.below[count] = k, above, below
        count += 1
    change_margins(image.readout, weights, changes, count, high, low, tried)


@part
def replace_patch(
    image: ImageArrays, pooled: Nearest, high: Floats, low: Floats, patch: int, lower: Floats, upper: Floats
) -> None:
    """A patch gets these ranges (P,) of observables."""
    formula, scale, peak = image.formula, image.scale, image.peak
    near, far = pooled.ends[0], pooled.ends[1]
    orient(image, patch, lower, upper, near, far)
    changes = pooled.changes
    for end in range(2):
        values, new = (pooled.near, near) if end == 0 else (pooled.far, far)
        count = _follow(
            values, new, pooled.nearest[end], pooled.second[end], pooled.patch[end], patch, changes.prototype
        )
        ends = high if end == 0 else low
        for at in range(count):
            k = changes.prototype[at]
            ends[k] = similarity(formula, scale[k], peak[k], pooled.nearest[end, k])


@part
def _follow(
    values: Floats, new: Floats, nearest: Floats, second: Floats, where: Integers, patch: int, changed: Integers
) -> int:
    """A patch gets these values (P,); counts the prototypes whose least value has changed, and lists them."""
    count = 0
    for k in range(len(new)):
        value, before, least = new[k], values[k, patch], nearest[k]
        if value == before:
            continue
        values[k, patch] = value
        own = where[k] == patch
        if own and value <= second[k]:
            nearest[k] = value
        elif own or (value > before and before <= second[k]):
            first, runner, at = math.inf, math.inf, 0
            for other in range(values.shape[1]):
                each = values[k, other]
                if each < first:
                    first, runner, at = each, first, other
                elif each < runner:
                    runner = each
            nearest[k], second[k], where[k] = first, runner, at
        elif value < least:
            nearest[k], second[k], where[k] = value, least, patch
        elif value < second[k]:
            second[k] = value
        if nearest[k] != least:
            changed[count] = k
            count += 1
    return count
