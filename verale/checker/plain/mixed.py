"""The paradigm `mixed`: statements about patches and about activations, ceiling, floor, and the Lipschitz rule.

**Rule.** The activations' ranges given the statements about patches (`spatial`) are cut by what is stated about
activations (`top_k`), and then by what activations say of each other (`lipschitz`). *Proof.* Each of these is a range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, Statement
from .lipschitz import Lipschitz
from .quadratic import QuadraticRule
from .similarity import Box
from .spatial import SpatialRule
from .top_k import TopK

__all__ = ["Mixed"]


class Mixed:
    """Activations under statements of all forms."""

    def __init__(self, rule: QuadraticRule) -> None:
        self._patches = SpatialRule(rule.space, rule)
        self._activations = TopK(rule.space)
        self._lipschitz = Lipschitz(rule.space)

    def box(self, statements: Sequence[Statement], patches: int, quick: bool = False) -> Box:
        """The activations' enclosures, given the statements."""
        of_patches = [each for each in statements if isinstance(each, PatchStatement)]
        others = [each for each in statements if not isinstance(each, PatchStatement)]
        box = self._activations.cut(self._patches.box(of_patches, patches, quick), others)
        stated = {each.prototype for each in others if isinstance(each, ActivationStatement)}
        above = {j for each in others if isinstance(each, OrderStatement) for j in each.exempt}
        below = {j for each in others if isinstance(each, FloorStatement) for j in each.exempt}
        return self._lipschitz.cut(box, stated, above, below)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box | None]]:
        """Nothing is shown to be needed: the paradigm has no reference ranges."""
        for index in range(len(statements)):
            yield index, None
