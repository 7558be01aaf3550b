"""The engine in machine code: it searches image by image, for `verale.search.prove`."""

from __future__ import annotations

import math

from torch import Tensor

from verale.bounds import ExactParadigm, Projection, SpatialParadigm
from verale.paradigms import ORDERS
from verale.rounding import Enclosure
from verale.search.at_once import ranges_from_scratch
from verale.search.compiled.image import ImageArrays, image_arrays
from verale.search.compiled.proof import prove
from verale.search.compiled.statements import GUARDS, add_statements, choose_statements
from verale.search.needed import noise_of, not_surely_needed, proved_margins
from verale.search.problem import Pair, Problem
from verale.search.prove import Proved, SpatialExplanation, StaysOpen, by_patch

__all__ = ["MachineCode", "first_statements", "prove_pairs"]


class MachineCode:
    """See `verale.search.prove.Engine`.

    Args:
        problem: N images.
        paradigm: how statements bound observables.
        order: in which statements are added.
    """

    guards: tuple[float, ...] = GUARDS

    def __init__(self, problem: Problem, paradigm: SpatialParadigm, order: str = ORDERS[0]) -> None:
        self.problem, self.paradigm, self._order = problem, paradigm, order
        self._images: dict[int, tuple[Problem, ImageArrays]] = {}

    def choose(
        self, images: list[int], guard: float, most: list[float], early: list[list[Pair]]
    ) -> list[list[Pair] | str | None]:
        """See `Engine`."""
        choices: list[list[Pair] | str | None] = []
        for image, limit, first in zip(images, most, early, strict=True):
            chosen = choose_statements(*self._image(image), guard, limit, first, self._order)
            choices.append(StaysOpen(chosen.failure) if chosen.stays_open else chosen.failure or chosen.pairs)
        return choices

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """See `Engine`."""
        proved = {}
        for image, pairs in chosen.items():
            one, arrays = self._image(image)
            proved[image] = prove_pairs(one, self.paradigm, arrays, pairs)
        return proved

    def _image(self, image: int) -> tuple[Problem, ImageArrays]:
        if image not in self._images:
            one = self.problem.take([image])
            self._images[image] = one, image_arrays(one, self.paradigm)
        return self._images[image]


def first_statements(problem: Problem, paradigm: SpatialParadigm) -> list[Pair]:
    """Statements about the only image in the order in which they are added to it; none is dropped."""
    return add_statements(problem, image_arrays(problem, paradigm), GUARDS[0]).pairs


def prove_pairs(
    problem: Problem, paradigm: SpatialParadigm, image: ImageArrays, pairs: list[Pair], few: float = math.inf
) -> Proved | None:
    """The only image's statements with the margins that they alone prove, rounded outward, and those that are not
    surely needed (none where that is not asked); None if a margin is not positive.

    Exact statements under `projection` are proved in one pass. Where that does not prove the margins, or not that all
    statements are needed, each patch is bounded from its own statements alone, without those that add next to nothing
    to others, and so is each patch without a statement. All that other paradigms conclude is proved so.

    Args:
        few: where the one pass leaves more statements in doubt, they stay so.
    """
    exact = paradigm if isinstance(paradigm, ExactParadigm) and not problem.tolerance else None
    quick = None
    if isinstance(exact, Projection):
        quick = prove(problem, exact, image, pairs, float(noise_of(problem)[0]))
    margins = None if quick is None else _positive_margins(problem, quick[0])
    if margins is None:
        margins = _positive_margins(problem, ranges_from_scratch(problem, paradigm, [pairs]))
    if margins is None:
        return None
    doubtful: list[Pair] = [] if quick is None else quick[1]
    if exact is not None and (quick is None or 0 < len(doubtful) <= few):
        (doubtful,) = not_surely_needed(problem, exact, [pairs], None if quick is None else [quick[1]])
    keeps_order = paradigm.ordered or bool(problem.tolerance)
    return SpatialExplanation(by_patch(pairs, keeps_order), margins, exact is not None and not doubtful), doubtful


def _positive_margins(problem: Problem, ranges: Enclosure) -> Tensor | None:
    """(C,) margins of the only image, unless one is not positive."""
    (margins,) = proved_margins(problem, ranges)
    return margins if bool((margins > 0).all()) else None
