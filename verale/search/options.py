"""How to explain, and what is said of an image that has no certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from verale.errors import UsageError
from verale.paradigms import ORDERS, PARADIGMS

__all__ = ["SearchOptions", "Unexplained"]


@dataclass(frozen=True)
class Unexplained:
    """An image without a certificate, and why.

    Attributes:
        predicted: the head's class in float64, an estimate.
        reason: what stands in the way.
    """

    predicted: int
    reason: str


@dataclass(frozen=True)
class SearchOptions:
    """How to explain; what is proved does not depend on it.

    Attributes:
        paradigm: `projection`, `triangle`, `hypersphere` (euclidean, cosine), `simplex`, `assignment`, `sparse`
            (softmax), `top_k` (any); None for the best.
        order: `rival` (each statement chosen against the worst open rival) or `nearest` (the published order).
        device: where to compute.
        tolerance: what the ends of stated intervals are multiples of, in the units of what is stated (0.01: two
            decimals); 0 for the tightest intervals that float64 gives. The guarantee holds for all that the intervals
            allow; the wider they are, the more of them it takes.
        batch: how many images are treated in lockstep; the same batch gives the same bytes.
        max_memory: bytes that the search may use, about; batches shrink to fit.
    """

    paradigm: str | None = None
    order: str = "rival"
    tolerance: float = 0.0
    device: str | torch.device = "cpu"
    batch: int = 16
    max_memory: float = 4 * 2**30

    def __post_init__(self) -> None:
        if self.paradigm is not None and self.paradigm not in PARADIGMS:
            raise UsageError(f"paradigm {self.paradigm!r} is unknown, expected one of {', '.join(PARADIGMS)}")
        if self.order not in ORDERS:
            raise UsageError(f"order {self.order!r} is unknown, expected one of {', '.join(ORDERS)}")
        if not 0 <= self.tolerance < math.inf:
            raise UsageError(f"tolerance is {self.tolerance}, expected a finite number, at least 0")
        if self.batch < 1:
            raise UsageError(f"batch is {self.batch}, expected at least 1")
        if not self.max_memory > 0:
            raise UsageError(f"max_memory is {self.max_memory}, expected a number of bytes")
