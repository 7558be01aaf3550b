"""Explain: from a head and latents to certificates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from verale.certificate import Certificate
from verale.head import Head
from verale.search.avoid import NOTHING, Avoid
from verale.search.batches import Batches
from verale.search.costs import UNIT_COSTS, Costs
from verale.search.options import SearchOptions, Unexplained

__all__ = ["explain", "explain_batches"]


def explain(
    head: Head,
    latents: Any,
    paradigm: str | None = None,
    *,
    order: str | None = None,
    tolerance: float | str = 0.0,
    device: str | torch.device = "cpu",
    batch: int = 16,
    max_memory: float = 4 * 2**30,
    inflate: bool = False,
    avoid: Avoid = NOTHING,
    costs: Costs = UNIT_COSTS,
) -> list[Certificate | Unexplained]:
    """Explain the head's prediction for every image.

    Args:
        head: the head.
        latents: (N, D, H, W) or (N, L, D), float32 or float64, exact.
        paradigm: see `SearchOptions`, as for all options that follow.

    Returns:
        One entry an image, in order: a certificate, or an `Unexplained` with the reason (a tie, for example).

    Raises:
        LatentsError: latents whose shape or values do not fit this head.
        UsageError: an unknown option, or a paradigm that is not defined for the head.

    Soundness: every certificate's margins are proved in outward-rounded float64; nothing is kept between images.
    """
    options = SearchOptions(paradigm, order, tolerance, device, batch, max_memory, inflate, avoid, costs)
    return [result for results in explain_batches(head, latents, options) for result in results]


def explain_batches(
    head: Head, latents: Any, options: SearchOptions | None = None
) -> Iterator[list[Certificate | Unexplained]]:
    """The same as `explain`, one batch after the other; arguments are checked before the first."""
    batches = Batches(head, latents, options)
    return ([result.explanation for result in part] for start in batches.starts for part in batches.parts(start))
