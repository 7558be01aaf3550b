"""Minimality: without any one statement, the paradigm's rules no longer prove every margin positive (step 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from ..certificate import Statement
from ..errors import UnprovedError
from ..head import Head
from .margin import lower_bound
from .similarity import Box

__all__ = ["require_minimal"]


def require_minimal(
    head: Head,
    predicted: int,
    statements: Sequence[Statement],
    boxes: Iterable[tuple[int, Box]],
    margins: Sequence[Fraction | None],
    provable: Callable[[int, Box, int], bool] | None = None,
) -> None:
    """Raises UnprovedError, which names a statement that can be dropped.

    Args:
        boxes: for each statement its place and the activations' enclosures without it.
        margins: the margins proved with all statements: rivals are tried from the closest, the likeliest to fail.
        provable: whether a rival's margin can be proved positive, from the place, the enclosures and the rival; by
            default from the enclosures.
    """

    def positive(place: int, box: Box, rival: int) -> bool:
        return lower_bound(head, box, predicted, rival) > 0

    provable = provable or positive
    rivals = sorted((bound, rival) for rival, bound in enumerate(margins) if bound is not None)
    for place, box in boxes:
        if all(provable(place, box, rival) for _, rival in rivals):
            raise UnprovedError(
                "minimality",
                f"statement {place} ({statements[place]}) can be dropped: without it every margin is still proved"
                " positive; drop it, or withdraw the claim",
            )
