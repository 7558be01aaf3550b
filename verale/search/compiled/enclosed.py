"""What proofs of ranges in machine code know of a head and of patches: bounds of errors, not rounded estimates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from verale.bounds import Projection
from verale.rounding import Enclosure
from verale.search.compiled.image import Floats

__all__ = ["Enclosed", "enclosed"]


class Enclosed(NamedTuple):
    """What a proof knows of a head, and of L patches.

    Attributes:
        distance: whether observables are squared distances.
        gram: (P, P) inner products of prototypes, or of their directions.
        whole: the square of the radius of the ball in which latents lie; 0 for distances.
        shift: (P,) observables of the ball's centre.
        least_residual: a direction whose square is not above this is not used.
        largest: the greatest |x_k|^2, rounded up.
        operations: the rounded operations of an entry of the Gram matrix.
        reach_error: of |b_k|^2.
        shift_error: of the observables of the ball's centre; 0 for distances.
        low, high: (L, P) the patches' observables.
        outer: (2, P) what observables can be over the domain, from without.
        inner: (2, P) the same from within.
    """

    distance: bool
    gram: Floats
    whole: float
    shift: Floats
    least_residual: float
    largest: float
    operations: int
    reach_error: float
    shift_error: float
    low: Floats
    high: Floats
    outer: Floats
    inner: Floats


def enclosed(paradigm: Projection, observed: Enclosure) -> Enclosed:
    """The enclosures of patches with these observables (L, P)."""
    numbers, precision = paradigm.numbers(), paradigm.precision()
    return Enclosed(
        paradigm.is_of_distances,
        numbers.gram.numpy(),
        numbers.whole,
        numbers.shift.numpy(),
        numbers.least_residual,
        precision.largest,
        precision.operations,
        precision.reach_error,
        precision.shift_error,
        observed.lower.numpy(),
        observed.upper.numpy(),
        *(np.stack([each.lower.numpy(), each.upper.numpy()]) for each in (precision.outer, precision.inner)),
    )
