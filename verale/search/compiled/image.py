"""One image as arrays: what the compiled search knows of it. All numbers are estimates; none enters a certificate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verale.bounds import Hypersphere, Projection, Simplex, SpatialParadigm, Triangle, activation, domain_range
from verale.head import FocalPooling, Head, Linear, TopMeanPooling
from verale.search.compiled.formula import Formula, formula_of
from verale.search.compiled.readout import ReadOut, read_out_of
from verale.search.costs import NEARLY_FREE
from verale.search.problem import Problem

__all__ = [
    "HYPERSPHERE",
    "MAXIMUM",
    "MEAN_DISTANCE",
    "MEAN_OF_GREATEST",
    "MEAN_SIMILARITY",
    "PROJECTION",
    "SIMPLEX",
    "TRIANGLE",
    "Booleans",
    "Floats",
    "ImageArrays",
    "Integers",
    "image_arrays",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

MAXIMUM, MEAN_SIMILARITY, MEAN_DISTANCE, MEAN_OF_GREATEST = range(4)
"""Poolings: the greatest similarity, less the mean or the similarity at the mean distance; the mean of the greatest."""

PROJECTION, TRIANGLE, SIMPLEX, HYPERSPHERE = range(4)
"""How statements about a patch bound its observables; see the classes of these names in `verale.bounds`."""

_FAR = 2.0**20
"""Stands for a distance without an end, as a multiple of the image's greatest: so that sums can be updated."""


class ImageArrays(NamedTuple):
    """One image of L patches, a head of P prototypes, and K rivals of the predicted class.

    Attributes:
        bounds: how statements bound observables; one of the numbers above.
        distance: whether observables are squared distances.
        gram: (P, P) inner products of prototypes, or of their directions; (P, 0) under `simplex` and `hypersphere`.
        pairs: (P, P) squared distances or cosines of prototypes, under `hypersphere`; otherwise None, and numba leaves
            out what only this asks for.
        whole: the square of the radius of the ball in which a patch without statements lies; 0 for distances.
        shift: (P,) observables of the ball's centre.
        least_residual: a direction that is not longer, squared, than this is not used.
        room: a patch has at most so many directions: one more than there are dimensions, for rounding; on spheres every
            statement may count.
        lower, upper: (P,) what observables can be over the domain.
        low, high: (L, P) the ends that statements give.
        hidden: (L, P) which prototypes do not look at which patches.
        allowed: (L, P) which pairs may be stated.
        costs: (L, P) what statements cost.
        formula: the similarity.
        scale, peak: (P,) its parameters of prototypes.
        pooling: one of the numbers above.
        greatest: of how many similarities the mean is.
        weights: (P, K) W_predicted - W_rival, of a linear readout.
        bias: (K,) b_predicted - b_rival.
        readout: any other readout; None of a linear one.
        actual: (P,) the activations.
        actual_similar: (P, L) the similarities; of no patch under max pooling.
        attained: (P,) the patch that may be stated and is most similar to the prototype.
    """

    bounds: int
    distance: bool
    gram: Floats
    pairs: Floats | None
    whole: float
    shift: Floats
    least_residual: float
    room: int
    lower: Floats
    upper: Floats
    low: Floats
    high: Floats
    hidden: Booleans
    allowed: Booleans
    costs: Floats
    formula: Formula
    scale: Floats
    peak: Floats
    pooling: int
    greatest: int
    weights: Floats
    bias: Floats
    readout: ReadOut | None
    actual: Floats
    actual_similar: Floats
    attained: Integers


def _pooling_number(head: Head) -> int:
    pooling = head.pooling
    if isinstance(pooling, FocalPooling):
        return MEAN_DISTANCE if pooling.of_distances else MEAN_SIMILARITY
    return MEAN_OF_GREATEST if isinstance(pooling, TopMeanPooling) and pooling.k > 1 else MAXIMUM


def image_arrays(problem: Problem, paradigm: SpatialParadigm) -> ImageArrays:
    """The arrays of a problem with one image. Raises UsageError for a similarity without a formula."""
    head, margins = problem.head, problem.margins
    (row,) = range(len(problem))
    rivals = (margins.rivals[row] != margins.predicted[row]).nonzero()[:, 0]
    dissimilar = problem.dissimilarities()[row]
    left = problem.patches_left[:, None] & problem.prototypes_left
    hidden = head.pooling.hidden(problem.patches, head.size)
    predicted = int(margins.predicted[row])
    weight, bias, readout = torch.zeros((head.classes, head.size)), torch.zeros(head.classes), None
    if isinstance(head.readout, Linear):
        weight, bias = head.weight.to(torch.float64), bias if head.bias is None else head.bias.to(torch.float64)
    else:
        readout = read_out_of(head, predicted, rivals.tolist())
    actual = (problem.activations.lower[row] + problem.activations.upper[row]) / 2
    low, high = problem.observed.lower, problem.observed.upper
    if not problem.tolerance:
        low = high = (low + high) / 2
    domain, far = domain_range(head), _FAR * (1 + float(high.max()))
    return ImageArrays(
        **_bounds(paradigm, head),
        distance=head.geometry.is_distance,
        room=head.size if isinstance(paradigm, Hypersphere) else min(head.size, head.depth) + 1,
        lower=_array(domain.lower),
        upper=_array(domain.upper.nan_to_num(posinf=far)),
        low=_array(low),
        high=_array(high),
        hidden=_array(torch.zeros_like(left) if hidden is None else hidden),
        allowed=_array(left),
        costs=_array(problem.costs.of_pairs(problem.patches, head.size).clamp(min=NEARLY_FREE)),
        formula=formula_of(head),
        scale=_array(torch.ones(head.size) if head.scale is None else head.scale),
        peak=_array(torch.zeros(head.size) if head.peak is None else head.peak),
        pooling=_pooling_number(head),
        greatest=int(getattr(head.pooling, "k", 1)),
        weights=_array((weight[predicted] - weight[rivals]).T),
        bias=_array(bias[predicted] - bias[rivals]),
        readout=readout,
        actual=_array(actual),
        actual_similar=_array(_similarities(problem)),
        attained=_array(dissimilar.masked_fill(~problem.patches_left[:, None], torch.inf).argmin(0)),
    )


def _bounds(paradigm: SpatialParadigm, head: Head) -> dict[str, Any]:
    """How statements bound the observables of a patch. Raises TypeError for a paradigm that machine code has not."""
    known: dict[str, Any] = {"gram": np.zeros((head.size, 0)), "pairs": None, "whole": 1.0}
    known["shift"] = np.zeros(head.size)
    match paradigm:
        case Projection() | Triangle():
            numbers = paradigm.numbers()
            number = PROJECTION if isinstance(paradigm, Projection) else TRIANGLE
            known |= {"gram": _array(numbers.gram), "whole": numbers.whole, "shift": _array(numbers.shift)}
            return {"bounds": number, "least_residual": numbers.least_residual, **known}
        case Simplex():
            return {"bounds": SIMPLEX, "least_residual": 0.0, **known}
        case Hypersphere():
            return {
                "bounds": HYPERSPHERE,
                "least_residual": 0.0,
                **known,
                "pairs": _array(paradigm.pairs),
                "whole": 0.0,
            }
    raise TypeError(f"machine code has no bounds of {type(paradigm).__name__}")


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
