"""Pooling: how activations and margins follow when a patch changes, whatever the head's pooling.

Of `nearest` and `patches` one is None. numba leaves out what stands under `is not None` of an argument that is None: so
only the functions of the head's own pooling are compiled. It would not leave out an `else`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.image import MAXIMUM, Floats, ImageArrays
from verale.search.compiled.maximum import Nearest, find_nearest, nearest_of, replace_patch, try_patch
from verale.search.compiled.means import AllPatches, all_patches_of, enter_all, replace_in_all, try_in_all
from verale.search.compiled.parts import part
from verale.search.compiled.readout import ReadOut, read_out_margins

__all__ = ["Pooled", "all_margins", "pool", "pooled_of", "replace_pooled", "try_pooled"]


class Pooled(NamedTuple):
    """What is known of the activations.

    Attributes:
        high, low: (P,) their ends.
        nearest: under max pooling, the nearest patches; otherwise None.
        patches: under another pooling, all patches; otherwise None.
    """

    high: Floats
    low: Floats
    nearest: Nearest | None
    patches: AllPatches | None


def pooled_of(image: ImageArrays) -> Pooled:
    """Room for what will be known of the activations."""
    patches, size = image.low.shape
    high, low = np.empty(size), np.empty(size)
    if image.pooling == MAXIMUM:
        return Pooled(high, low, nearest_of(patches, size), None)
    return Pooled(high, low, None, all_patches_of(image, patches, size))


@part
def pool(image: ImageArrays, pooled: Pooled, lower: Floats, upper: Floats) -> None:
    """From ranges (L, P) of observables."""
    _pool(image, pooled.nearest, pooled.patches, lower, upper, pooled.high, pooled.low)


@part
def _pool(
    image: ImageArrays, nearest: Nearest | None, patches: AllPatches | None, lower: Floats, upper: Floats,
    high: Floats, low: Floats,
) -> None:  # fmt: skip
    if patches is not None:
        enter_all(image, patches, lower, upper, high, low)
    if nearest is not None:
        find_nearest(image, nearest, lower, upper, high, low)


@part
def all_margins(image: ImageArrays, pooled: Pooled, margins: Floats) -> None:
    """The margins (K,) of what is known."""
    _margins(image, image.readout, pooled, margins)


@part
def _margins(image: ImageArrays, readout: ReadOut | None, pooled: Pooled, margins: Floats) -> None:
    if readout is not None:
        read_out_margins(readout, pooled.high, pooled.low, margins)
        return
    overwrite(margins, image.bias)
    for k in range(len(pooled.high)):
        for c in range(len(margins)):
            weight = image.weights[k, c]
            margins[c] += weight * (pooled.low[k] if weight > 0.0 else pooled.high[k])


@part
def try_pooled(
    image: ImageArrays, weights: Floats, pooled: Pooled, patch: int, lower: Floats, upper: Floats,
    margins: Floats, tried: Floats,
) -> None:  # fmt: skip
    """The margins if a patch had these ranges (P,) of observables."""
    _try(image, weights, pooled.nearest, pooled.patches, pooled.high, pooled.low, patch, lower, upper, margins, tried)


@part
def _try(
    image: ImageArrays, weights: Floats, nearest: Nearest | None, patches: AllPatches | None, high: Floats, low: Floats,
    patch: int, lower: Floats, upper: Floats, margins: Floats, tried: Floats,
) -> None:  # fmt: skip
    if patches is not None:
        try_in_all(image, weights, patches, high, low, patch, lower, upper, margins, tried)
    if nearest is not None:
        try_patch(image, weights, nearest, high, low, patch, lower, upper, margins, tried)


@part
def replace_pooled(image: ImageArrays, pooled: Pooled, patch: int, lower: Floats, upper: Floats) -> None:
    """A patch gets these ranges (P,) of observables."""
    _replace(image, pooled.nearest, pooled.patches, pooled.high, pooled.low, patch, lower, upper)


@part
def _replace(
    image: ImageArrays, nearest: Nearest | None, patches: AllPatches | None, high: Floats, low: Floats, patch: int,
    lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    if patches is not None:
        replace_in_all(image, patches, high, low, patch, lower, upper)
    if nearest is not None:
        replace_patch(image, nearest, high, low, patch, lower, upper)
