"""Similarities of dissimilarities in float64, for the search. `verale.bounds.similarity` has the enclosures."""

from __future__ import annotations

import math

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.image import (
    EXP_DISTANCE,
    EXPONENTIAL,
    IDENTITY,
    LOG_RATIO,
    NEGATED,
    QUADRATIC,
    Floats,
    ImageArrays,
)
from verale.search.compiled.parts import part

__all__ = ["orient", "similarity"]


@part
def similarity(number: int, of_distance: bool, epsilon: float, scale: float, dissimilarity: float) -> float:
    """S of a dissimilarity, given the number of S and its parameters."""
    if number == IDENTITY:
        return -dissimilarity
    if number == LOG_RATIO:
        return math.log1p((1 - epsilon) / (max(dissimilarity, 0.0) * scale + epsilon))
    if number == NEGATED:
        return -max(dissimilarity * scale, 0.0)
    if number == EXP_DISTANCE:
        return math.exp(-math.sqrt(max(dissimilarity, 0.0) + epsilon))
    if number == EXPONENTIAL:
        squared = dissimilarity if of_distance else 1 + dissimilarity
        return math.exp(-max(squared, 0.0) * scale)
    if number == QUADRATIC:
        return -(max(dissimilarity, 0.0) ** 2)
    return max(-dissimilarity, 0.0)  # rectified


@part
def orient(image: ImageArrays, patch: int, lower: Floats, upper: Floats, near: Floats, far: Floats) -> None:
    """The least and the greatest dissimilarities (P,) of a patch whose observables lie in [lower, upper]."""
    hidden, peak = image.hidden[patch], image.peak
    if image.similarity == QUADRATIC:
        for k in range(len(near)):
            above, below = lower[k] - peak[k], peak[k] - upper[k]
            near[k] = max(max(above, below), 0.0)
            far[k] = max(upper[k] - peak[k], peak[k] - lower[k])
    elif image.distance:
        overwrite(near, lower)
        overwrite(far, upper)
    else:
        for k in range(len(near)):
            near[k], far[k] = -upper[k], -lower[k]
    for k in range(len(near)):
        if hidden[k]:
            near[k] = far[k] = math.inf
