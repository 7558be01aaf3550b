"""Statements as ends of intervals, and steps that lead latents onto them, in float64, for searches alone."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["NARROW", "inside", "sizes", "solved"]

NARROW = 1e-9
"""Intervals narrower than this, relative to their size, are met in their middle."""


def sizes(low: Tensor, high: Tensor) -> Tensor:
    """How large the ends of intervals are, at least 0.001: violations are relative to this."""
    return low.abs().nan_to_num(posinf=0.0).maximum(high.abs().nan_to_num(posinf=0.0)) + 1e-3


def inside(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """The middles of narrow intervals, twice; the ends of wide ones a little inside: where latents can only just reach
    an end, they cannot be moved onto it."""
    narrow = high - low <= NARROW * (1e-3 + low.abs().nan_to_num(posinf=0.0))
    by = 2.0**-20 * (high - low).minimum(sizes(low, high))
    middle = (low + high) / 2
    return torch.where(narrow, middle, low + by), torch.where(narrow, middle, high - by)


def solved(rows: Tensor, lacking: Tensor) -> Tensor:
    """(B, K, 1) x with rows rows^T x = lacking, on the range of the rows (B, K, n), which have length 1 or 0."""
    gram = rows @ rows.mT
    eye = torch.eye(gram.shape[-1], dtype=torch.float64)
    solved: Tensor = torch.linalg.solve(gram + 1e-13 * eye, lacking[..., None])
    return solved
