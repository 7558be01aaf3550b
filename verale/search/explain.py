"""Explain: from a head and latents to certificates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from verale.certificate import Certificate
from verale.head import Head
from verale.options import keywords
from verale.paradigms import READABLE
from verale.search.batches import Batches
from verale.search.options import SearchOptions, Unexplained


@keywords(SearchOptions)
def explain(head: Head, latents: Any, paradigm: str = READABLE, **fields: Any) -> list[Certificate | Unexplained]:
    """Explain the head's prediction for every image.

    Args:
        head: the head.
        latents: (N, D, H, W) or (N, L, D), float32 or float64, a torch tensor or a numpy array; taken exactly.

    Returns:
        One entry an image, in order: a certificate, or an `Unexplained` with the reason (a tie, for example), whose
        `size` and `margin` are None.

    Raises:
        LatentsError: latents whose shape or values do not fit this head.
        UsageError: an unknown option, a paradigm that is not defined for the head, or a head that is none.

    Soundness: every certificate's margins are proved in outward-rounded float64; nothing is kept between images.
    """
    options = SearchOptions.of({"paradigm": paradigm, **fields})
    return [result for results in explain_batches(head, latents, options) for result in results]


def explain_batches(
    head: Head, latents: Any, options: SearchOptions | None = None
) -> Iterator[list[Certificate | Unexplained]]:
    """The same as `explain`, one batch after the other; arguments are checked before the first."""
    batches = Batches(head, latents, options)
    return ([result.explanation for result in part] for start in batches.starts for part in batches.parts(start))
