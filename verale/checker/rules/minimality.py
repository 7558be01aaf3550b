"""Minimality: without any one statement, the paradigm's rules no longer prove every margin positive (step 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from ..certificate import Statement
from ..errors import UnprovedError
from ..head import Head
from ..work import Work
from .margin import lower_bound, margin_steps
from .similarity import Box

__all__ = ["require_minimal"]


def require_minimal(
    head: Head,
    predicted: int,
    statements: Sequence[Statement],
    boxes: Iterable[tuple[int, Box]],
    margins: Sequence[Fraction | None],
    work: Work,
    provable: Callable[[int, Box, int], bool] | None = None,
) -> None:
    """Raises UnprovedError, which names a statement that can be dropped, or if that takes too long.

    Args:
        boxes: for each statement its index and the activations' enclosures without it.
        work: counts each lower bound.
        margins: those proved with all statements. The closest rival is tried first: it is the likeliest to fail.
        provable: whether a rival's margin can be proved positive, from the index, the enclosures and the rival; by
            default from the enclosures.
    """

    def positive(index: int, box: Box, rival: int) -> bool:
        work.take(margin_steps(head))
        return lower_bound(head, box, predicted, rival) > 0

    provable = provable or positive
    rivals = sorted((bound, rival) for rival, bound in enumerate(margins) if bound is not None)
    for index, box in boxes:
        if all(provable(index, box, rival) for _, rival in rivals):
            raise UnprovedError(
                "minimality",
                f"statement {index} ({statements[index]}) can be dropped: without it every margin is still proved"
                " positive; drop it, or withdraw the claim",
            )
