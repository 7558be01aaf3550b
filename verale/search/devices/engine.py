"""The engine on a GPU: one launch searches all images, whose statements are proved in lockstep."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from verale.search.at_once import ranges_alike
from verale.search.compiled.statements import GUARDS
from verale.search.devices.launch import choose_statements
from verale.search.needed import not_surely_needed
from verale.search.problem import Pair, Problem
from verale.search.prove import Proved, SpatialExplanation
from verale.search.shrink import proved_margins, rows_from_scratch

__all__ = ["Launched"]


class Launched:
    """See `verale.search.prove.Engine`. `choose` raises NotCompiledError where the kernel does not run."""

    guards: tuple[float, ...] = GUARDS

    def __init__(self, problem: Problem, paradigm: Any) -> None:
        self.problem, self.paradigm = problem, paradigm

    def choose(
        self, images: list[int], guard: float, most: list[float], early: list[list[Pair]]
    ) -> list[list[Pair] | str | None]:
        """See `Engine`."""
        return choose_statements(self.problem.take(images), self.paradigm, guard, most, early) if images else []

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """See `Engine`. One statement after the other may prove what all at once just fail to."""
        proved: dict[int, Proved | None] = dict.fromkeys(chosen)
        for from_scratch in (ranges_alike, rows_from_scratch):
            left = [image for image in chosen if proved[image] is None]
            if not left:
                break
            some, pairs = self.problem.take(left), [sorted(chosen[image]) for image in left]
            margins = proved_margins(some, from_scratch(some, self.paradigm, pairs))
            positive = [index for index, least in enumerate(margins) if bool((least > 0).all())]
            doubts = self._doubtful(some.take(positive), [pairs[index] for index in positive])
            for index, doubtful in zip(positive, doubts, strict=True):
                proved[left[index]] = _explanation(pairs[index], margins[index], doubtful), doubtful
        return proved

    def _doubtful(self, problem: Problem, pairs: list[list[Pair]]) -> list[list[Pair]]:
        return not_surely_needed(problem, self.paradigm, pairs) if pairs else []


def _explanation(pairs: list[Pair], margins: Tensor, doubtful: list[Pair]) -> SpatialExplanation:
    return SpatialExplanation(pairs, margins, minimal=not doubtful)
