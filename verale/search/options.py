"""The options of the search, and the result for an image without a certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from verale.errors import UsageError
from verale.paradigms import ORDERS, PARADIGMS, SMALLEST
from verale.search.avoid import NOTHING, Avoid

__all__ = ["LEAST_TOLERANCE", "SearchOptions", "Unexplained"]


LEAST_TOLERANCE = 2.0**-29
"""About 2e-9. The checker takes intervals narrower than 2^-32 of what their observable can be for equalities, so
intervals are either this wide or as narrow as they can be."""


@dataclass(frozen=True)
class Unexplained:
    """An image without a certificate, and why.

    Attributes:
        predicted: the head's class in float64, an estimate.
        reason: why there is none.
    """

    predicted: int
    reason: str


@dataclass(frozen=True)
class SearchOptions:
    """How to search. The options change which explanation comes out, never whether it is sound.

    Attributes:
        paradigm: a name of `verale.paradigms.PARADIGMS` that is defined for the head's geometry; `smallest` for the
            smallest explanation of each image, under whichever paradigm; None for the spatial paradigm with the
            smallest explanations.
        order: `rival` (each statement is chosen against the worst open rival) or `nearest` (the published order); None
            for `rival` and, under simplex and assignment, the smaller of both.
        device: where to compute.
        tolerance: each interval is widened outward to multiples of this, in the units of the stated observable (0.01
            gives two decimals); 0 for the tightest intervals that float64 gives, otherwise at least
            LEAST_TOLERANCE. The guarantee holds for everything that the intervals allow; wider intervals take more
            statements.
        batch: how many images are explained in lockstep; the same batch gives the same bytes.
        max_memory: about how many bytes the search may use; batches shrink to fit.
        inflate: whether to widen what is stated as far as the class stays proved; only for paradigms of
            `verale.search.priced.PRICED`.
        avoid: patches and prototypes that no statement may be about.
    """

    paradigm: str | None = None
    order: str | None = None
    tolerance: float = 0.0
    device: str | torch.device = "cpu"
    batch: int = 16
    max_memory: float = 4 * 2**30
    inflate: bool = False
    avoid: Avoid = NOTHING

    def __post_init__(self) -> None:
        if self.paradigm is not None and self.paradigm not in (*PARADIGMS, SMALLEST):
            known = ", ".join((*PARADIGMS, SMALLEST))
            raise UsageError(f"paradigm {self.paradigm!r} is unknown, expected one of {known}")
        if self.order is not None and self.order not in ORDERS:
            raise UsageError(f"order {self.order!r} is unknown, expected one of {', '.join(ORDERS)}")
        if not 0 <= self.tolerance < math.inf:
            raise UsageError(f"tolerance is {self.tolerance}, expected a finite number, at least 0")
        if 0 < self.tolerance < LEAST_TOLERANCE:
            raise UsageError(
                f"tolerance is {self.tolerance}, expected at least {LEAST_TOLERANCE:.3g},"
                " or 0 for the tightest intervals"
            )
        if self.batch < 1:
            raise UsageError(f"batch is {self.batch}, expected at least 1")
        if not self.max_memory > 0:
            raise UsageError(f"max_memory is {self.max_memory}, expected a number of bytes")
