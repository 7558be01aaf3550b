"""Minimality: without any one statement, some rival's reference margin is 0 or less (step 8).

**Rule.** A statement is needed if the margin is at most 0 that ranges give which certainly lie within the reference
ranges without it, none of which is empty. *Proof.* No margin falls as a lower end rises or an upper end falls
(`margin`), so this one is at least the reference margin. How such ranges are found is in `similarity`, `means`,
`domain`, and by paradigm in `quadratic.within`, `simplex`, `assignment` and `top_k`. What is not shown to be needed may
be needed: nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from ..certificate import Statement
from ..errors import UnprovedError
from ..head import Head
from .margin import lower_bound, margin_steps
from .similarity import Box
from .work import Work

__all__ = ["require_minimal"]


def require_minimal(
    head: Head,
    predicted: int,
    statements: Sequence[Statement],
    boxes: Iterable[tuple[int, Box | None]],
    margins: Sequence[Fraction | None],
    work: Work,
    provable: Callable[[int, Box, int], bool] | None = None,
) -> None:
    """Raises UnprovedError, which names a statement that is not shown to be needed, or if that takes too long.

    Args:
        boxes: for each statement its index and the activations' ranges without it, rounded inward; None if a range may
            be empty.
        work: counts each lower bound.
        margins: those proved with all statements. The closest rival is tried first: it is the likeliest to fail.
        provable: whether a rival's reference margin may be positive, from the index, the ranges and the rival; by
            default from the ranges.
    """

    def positive(index: int, box: Box, rival: int) -> bool:
        work.take(margin_steps(head))
        return lower_bound(head, box, predicted, rival) > 0

    provable = provable or positive
    rivals = sorted((bound, rival) for rival, bound in enumerate(margins) if bound is not None)
    for index, box in boxes:
        if box is None:
            raise UnprovedError(
                "minimality",
                f"statement {index} ({statements[index]}) is not shown to be needed: perhaps no latents satisfy all"
                " the others; withdraw the claim, or statements that contradict each other",
            )
        if all(provable(index, box, rival) for _, rival in rivals):
            raise UnprovedError(
                "minimality",
                f"statement {index} ({statements[index]}) is not shown to be needed: without it every margin seems to"
                " be positive; drop it, or withdraw the claim",
            )
