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
from verale.search.digits import FEWEST_DIGITS
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
    avoid: Avoid | str = NOTHING,
    costs: Costs = UNIT_COSTS,
    digits: int | str = FEWEST_DIGITS,
) -> list[Certificate | Unexplained]:
    """Explain the head's prediction for every image.

    Args:
        head: the head.
        latents: (N, D, H, W) or (N, L, D), float32 or float64, a torch tensor or a numpy array; taken exactly.
        paradigm: how the class follows from statements: `projection`, `triangle`, `hypersphere` or `joint` (statements
            about patches of a head with prototypes), `simplex` or `assignment` (about patches of a softmax head),
            `top_k`, `mixed` or `sparse` (about activations of the whole image); `smallest` for the smallest explanation
            of each image under any of them; None for `projection`, of a softmax head `assignment` or `simplex`.
        order: of statements about patches: `rival`, each is chosen against the class that is nearest to winning, or
            `nearest`, the published order; None for `rival` and, under simplex, the smaller of both. Under `top_k` also
            `highest`, the published top-k: only the highest activations are tried, no cover is searched for.
        tolerance: each interval is widened outward to multiples of this, in units of what is stated: 0.01 gives two
            decimals. "1%" widens each end by at most so much of the number, to at most three digits; "auto" takes for
            each image the widest percentage under which it has an explanation. Wider intervals take more statements,
            and too wide ones leave images unexplained. 0 for the tightest intervals; otherwise at least 2e-9.
        device: where to compute, such as "cuda". It is examined; so far the search computes on the CPU all the same.
        batch: how many images are explained together; the same batch gives the same bytes.
        max_memory: about how many bytes the search may use; batches shrink to fit.
        inflate: whether to widen what is stated as far as the class stays proved, under `top_k`, `sparse` and `joint`.
        avoid: patches and prototypes that no statement may be about: `verale.search.Avoid(prototypes=(3,), patches=(0,
            1))`, or text such as "patches:0-7".
        costs: what statements cost, `verale.search.Costs.of(prototypes={3: 5.0}, patches={0: 10.0})`; the cheapest
            explanation found is kept. By default each statement costs 1.
        digits: `fewest`: the numbers of statements are decimals with as few digits as the statements found allow. A
            number: with at most so many, though that may take more statements. `exact`: the tightest intervals.

    Returns:
        One entry an image, in order: a certificate, or an `Unexplained` with the reason (a tie, for example), whose
        `size` and `margin` are None.

    Raises:
        LatentsError: latents whose shape or values do not fit this head.
        UsageError: an unknown option, a paradigm that is not defined for the head, or a head that is none.

    Soundness: every certificate's margins are proved in outward-rounded float64; nothing is kept between images.
    """
    avoided = Avoid.parse([avoid]) if isinstance(avoid, str) else avoid
    options = SearchOptions(paradigm, order, tolerance, device, batch, max_memory, inflate, avoided, costs, digits)
    return [result for results in explain_batches(head, latents, options) for result in results]


def explain_batches(
    head: Head, latents: Any, options: SearchOptions | None = None
) -> Iterator[list[Certificate | Unexplained]]:
    """The same as `explain`, one batch after the other; arguments are checked before the first."""
    batches = Batches(head, latents, options)
    return ([result.explanation for result in part] for start in batches.starts for part in batches.parts(start))
