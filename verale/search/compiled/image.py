"""One image as arrays: what the compiled search knows of it. All numbers are estimates; none enters a certificate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verale.bounds import Projection, SpatialParadigm, activation
from verale.head import (
    FocalPooling,
    Head,
    Linear,
    TopMeanPooling,
)
from verale.paradigms import ORDERS
from verale.search.compiled.formula import Formula, formula_of
from verale.search.problem import Problem

__all__ = [
    "MAXIMUM",
    "MEAN_DISTANCE",
    "MEAN_OF_GREATEST",
    "MEAN_SIMILARITY",
    "Booleans",
    "Floats",
    "ImageArrays",
    "Integers",
    "admits",
    "image_arrays",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

MAXIMUM, MEAN_SIMILARITY, MEAN_DISTANCE, MEAN_OF_GREATEST = range(4)
"""Poolings: the greatest similarity, less the mean or the similarity at the mean distance; the mean of the greatest."""


class ImageArrays(NamedTuple):
    """One image of L patches, a head of P prototypes, and K rivals of the predicted class.

    Attributes:
        distance: whether observables are squared distances.
        gram: (P, P) inner products of prototypes, or of their directions.
        whole: the square of the radius of the ball in which a patch without statements lies; 0 for distances.
        shift: (P,) observables of the ball's centre.
        least_residual: a direction that is not longer, squared, than this is not used.
        lower, upper: (P,) what observables can be over the domain.
        low, high: (L, P) the ends that statements give.
        hidden: (L, P) which prototypes do not look at which patches.
        allowed: (L, P) which pairs may be stated.
        formula: the similarity.
        scale, peak: (P,) its parameters of prototypes.
        pooling: one of the numbers above.
        greatest: of how many similarities the mean is.
        weights: (P, K) W_predicted - W_rival.
        bias: (K,) b_predicted - b_rival.
        actual: (P,) the activations.
        actual_similar: (P, L) the similarities; of no patch under max pooling.
        attained: (P,) the patch that may be stated and is most similar to the prototype.
        least: (P,) the least dissimilarity.
    """

    distance: bool
    gram: Floats
    whole: float
    shift: Floats
    least_residual: float
    lower: Floats
    upper: Floats
    low: Floats
    high: Floats
    hidden: Booleans
    allowed: Booleans
    formula: Formula
    scale: Floats
    peak: Floats
    pooling: int
    greatest: int
    weights: Floats
    bias: Floats
    actual: Floats
    actual_similar: Floats
    attained: Integers
    least: Floats


def admits(head: Head, paradigm: SpatialParadigm[Any], order: str) -> bool:
    """Whether the compiled search has this head, this paradigm and this order of statements.

    Of these heads, every activation has two ends over the domain: sums with infinite ends could not be updated.
    """
    return (
        order == ORDERS[0]
        and isinstance(paradigm, Projection)
        and isinstance(head.readout, Linear)
        and formula_of(head) is not None
        and _has_ends(head)
    )


def _has_ends(head: Head) -> bool:
    """Whether every distance has two ends, where it is their mean that is pooled."""
    return _pooling_number(head) != MEAN_DISTANCE or None not in (head.domain.lower, head.domain.upper)


def _pooling_number(head: Head) -> int:
    pooling = head.pooling
    if isinstance(pooling, FocalPooling):
        return MEAN_DISTANCE if pooling.of_distances else MEAN_SIMILARITY
    return MEAN_OF_GREATEST if isinstance(pooling, TopMeanPooling) and pooling.k > 1 else MAXIMUM


def image_arrays(problem: Problem, paradigm: Projection) -> ImageArrays:
    """The arrays of a problem with one image. Raises TypeError for a similarity that `admits` refuses."""
    head, margins = problem.head, problem.margins
    (row,) = range(len(problem))
    formula = formula_of(head)
    if formula is None:
        raise TypeError(f"the similarity {head.similarity.kind} has no formula that machine code follows")
    rivals = (margins.rivals[row] != margins.predicted[row]).nonzero()[:, 0]
    dissimilar = problem.dissimilarities()[row]
    left = problem.patches_left[:, None] & problem.prototypes_left
    hidden = head.pooling.hidden(problem.patches, head.size)
    weight = head.weight.to(torch.float64)
    bias = torch.zeros(head.classes, dtype=torch.float64) if head.bias is None else head.bias.to(torch.float64)
    predicted = int(margins.predicted[row])
    numbers = paradigm.numbers()
    actual = (problem.activations.lower[row] + problem.activations.upper[row]) / 2
    low, high = problem.observed.lower, problem.observed.upper
    if not problem.tolerance:
        low = high = (low + high) / 2
    return ImageArrays(
        distance=head.geometry.is_distance,
        gram=_array(numbers.gram),
        whole=numbers.whole,
        shift=_array(numbers.shift),
        least_residual=numbers.least_residual,
        lower=_array(numbers.domain.lower),
        upper=_array(numbers.domain.upper),
        low=_array(low),
        high=_array(high),
        hidden=_array(torch.zeros_like(left) if hidden is None else hidden),
        allowed=_array(left),
        formula=formula,
        scale=_array(torch.ones(head.size) if head.scale is None else head.scale),
        peak=_array(torch.zeros(head.size) if head.peak is None else head.peak),
        pooling=_pooling_number(head),
        greatest=int(getattr(head.pooling, "k", 1)),
        weights=_array((weight[predicted] - weight[rivals]).T),
        bias=_array(bias[predicted] - bias[rivals]),
        actual=_array(actual),
        actual_similar=_array(_similarities(problem)),
        attained=_array(dissimilar.masked_fill(~problem.patches_left[:, None], torch.inf).argmin(0)),
        least=_array(dissimilar.amin(0)),
    )


def _similarities(problem: Problem) -> Tensor:
    """(P, L); (P, 0) under max pooling, where nobody asks."""
    if _pooling_number(problem.head) == MAXIMUM:
        return torch.zeros((problem.head.size, 0))
    similar = activation(problem.head, problem.observed)
    return ((similar.lower + similar.upper) / 2).T


def _array(tensor: Tensor) -> NDArray[Any]:
    """A tensor as a contiguous array: float64, int64 or bool."""
    wide = tensor.to(torch.float64) if tensor.is_floating_point() else tensor
    array: NDArray[Any] = np.ascontiguousarray(wide.numpy())
    return array
