"""Margins: o_predicted - o_c = b_predicted - b_c + sum_j D_j a_j with D = W_predicted - W_c, bounded term by term.

With a_j in [lo_j, hi_j], D_j a_j >= min(D_j lo_j, D_j hi_j). Logits are never bounded apart: what two classes share
cancels in D, exactly.
"""

from __future__ import annotations

from fractions import Fraction
from operator import sub

from ..dyadic import about
from ..errors import UnprovedError
from ..head import Head
from .similarity import Box

__all__ = ["lower_bound", "proved_margins", "require"]


def lower_bound(head: Head, box: Box, winner: int, loser: int) -> Fraction:
    """The exact value of the term-by-term lower bound of o_winner - o_loser."""
    weight, bias = head.weight, head.bias.rows[0]
    differences = map(sub, weight.rows[winner], weight.rows[loser])
    total = sum(d * (low if d > 0 else high) for d, low, high in zip(differences, box.lower, box.upper, strict=True))
    return Fraction(total, 1 << weight.bits + box.bits) + Fraction(bias[winner] - bias[loser], 1 << head.bias.bits)


def proved_margins(head: Head, box: Box, predicted: int) -> tuple[Fraction | None, ...]:
    """The lower bound for every rival, None at `predicted`."""
    return tuple(
        None if rival == predicted else lower_bound(head, box, predicted, rival) for rival in range(head.classes)
    )


def require(proved: tuple[Fraction | None, ...], stated: tuple[Fraction | None, ...]) -> None:
    """Step 7. Raises UnprovedError, which names the worst rival: `entailment` or `margin`."""
    rivals = [(bound, rival) for rival, bound in enumerate(proved) if bound is not None]
    least, worst = min(rivals)
    if least <= 0:
        raise UnprovedError(
            "entailment",
            f"rival {worst}: the proved lower bound of its margin is {about(least)}, expected more than 0;"
            " the statements do not entail the predicted class under this paradigm",
        )
    for bound, rival in rivals:
        claimed = stated[rival]
        if claimed is not None and bound < claimed:
            short = about(claimed - bound)
            raise UnprovedError(
                "margin",
                f"rival {rival}: the proved lower bound of its margin is {about(bound)}, which is {short} less than the"
                " stated one; state a smaller margin",
            )
