"""Pooling: how activations and margins follow when a patch changes, whatever the head's pooling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from verale.search.compiled.image import MAXIMUM, Floats, ImageArrays
from verale.search.compiled.jit import part
from verale.search.compiled.maximum import Nearest, nearest_of, replace_patch, try_patch
from verale.search.compiled.means import AllPatches, all_patches_of, replace_in_all, try_in_all

__all__ = ["Pooled", "all_margins", "pool", "replace_pooled", "try_pooled"]


class Pooled(NamedTuple):
    """What is known of the activations.

    Attributes:
        high, low: (P,) their ends.
        nearest: under max pooling, the nearest patches; otherwise of no patch.
        patches: under another pooling, all patches; otherwise none.
    """

    high: Floats
    low: Floats
    nearest: Nearest
    patches: AllPatches


@part
def pool(image: ImageArrays, lower: Floats, upper: Floats) -> Pooled:
    """From ranges (L, P) of observables."""
    high, low = np.empty(lower.shape[1]), np.empty(lower.shape[1])
    nothing = np.empty((0, 0))
    if image.pooling == MAXIMUM:
        nearest = nearest_of(image, lower, upper, high, low)
        return Pooled(high, low, nearest, all_patches_of(image, nothing, nothing, high, low))
    patches = all_patches_of(image, lower, upper, high, low)
    return Pooled(high, low, nearest_of(image, nothing, nothing, high, low), patches)


@part
def all_margins(image: ImageArrays, pooled: Pooled) -> Floats:
    """(K,) margins of what is known."""
    margins = image.bias.copy()
    for k in range(len(pooled.high)):
        for c in range(len(margins)):
            weight = image.weights[k, c]
            margins[c] += weight * (pooled.low[k] if weight > 0.0 else pooled.high[k])
    return margins


@part
def try_pooled(
    image: ImageArrays, weights: Floats, pooled: Pooled, patch: int, lower: Floats, upper: Floats,
    margins: Floats, tried: Floats,
) -> None:  # fmt: skip
    """The margins if a patch had these ranges (P,) of observables."""
    if image.pooling == MAXIMUM:
        try_patch(image, weights, pooled.nearest, pooled.high, pooled.low, patch, lower, upper, margins, tried)
    else:
        try_in_all(image, weights, pooled.patches, pooled.high, pooled.low, patch, lower, upper, margins, tried)


@part
def replace_pooled(image: ImageArrays, pooled: Pooled, patch: int, lower: Floats, upper: Floats) -> None:
    """A patch gets these ranges (P,) of observables."""
    if image.pooling == MAXIMUM:
        replace_patch(image, pooled.nearest, pooled.high, pooled.low, patch, lower, upper)
    else:
        replace_in_all(image, pooled.patches, pooled.high, pooled.low, patch, lower, upper)
