"""Spatial explanations: choose statements, drop those that are not needed, and prove the class from the rest alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from verale.bounds import ExactParadigm, SpatialParadigm
from verale.paradigms import ORDERS
from verale.search.grow import Growth, grow
from verale.search.needed import surely_needed
from verale.search.problem import Pair, Problem
from verale.search.shrink import proved_margins, rows_from_scratch, shrink
from verale.search.sweep import sweep

__all__ = ["UNSETTLED", "SpatialExplanation", "explain_spatial"]

_GROWTH: dict[str, Callable[[Problem, Any, list[float] | None], tuple[list[Growth], Any]]] = dict(
    zip(ORDERS, (grow, sweep), strict=True)
)
"""The ways to choose the next statement, by name."""

_HOPELESS = 3
"""Of the statements that are chosen, shrinking leaves more than one in so many."""

UNSETTLED = "the margin left is too small for float64 to prove"


@dataclass(frozen=True)
class SpatialExplanation:
    """An explanation by statements about patches.

    Attributes:
        pairs: what is stated.
        margins: (C,) proved.
        minimal: whether every pair is surely needed; see `surely_needed`.
        prices: for each rival that needs them, the prices of prototypes (`assignment` only).
    """

    pairs: list[Pair]
    margins: Tensor
    minimal: bool
    prices: dict[int, dict[int, float]] = field(default_factory=dict)


def explain_spatial(
    problem: Problem, paradigm: SpatialParadigm[Any], order: str, most: list[float] | None = None
) -> list[SpatialExplanation | str]:
    """For each image an explanation, or the reason why there is none.

    Where an image's explanation has to have at most `most` statements, it is given up when that has become hopeless.

    First statements are added until the class follows (`_GROWTH`), then those that are not needed are dropped. Under an
    ordered paradigm bounds are not monotone in E, so dropping is repeated until nothing can be dropped. The class is
    then proved again from rows that know the remaining statements alone, in their order.
    """
    if not len(problem):
        return []
    stop = None if most is None else [_HOPELESS * limit for limit in most]
    growths, rows = _GROWTH[order](problem, paradigm, stop)
    explanations = shrink(problem, paradigm, [[] if g.failure else g.pairs for g in growths], rows)
    rows = rows_from_scratch(problem, paradigm, explanations)
    while paradigm.ordered:
        before = explanations
        explanations = shrink(problem, paradigm, before, rows)
        if explanations == before:
            break
        rows = rows_from_scratch(problem, paradigm, explanations)
    margins = proved_margins(problem, rows)
    needed = [False] * len(problem)
    if isinstance(paradigm, ExactParadigm) and not problem.tolerance:
        needed = surely_needed(problem, paradigm, explanations)
    return [
        growth.failure
        or (
            SpatialExplanation(
                _by_patch(pairs, paradigm.ordered or bool(problem.tolerance)),
                proved,
                minimal=every,
            )
            if bool((proved > 0).all())
            else UNSETTLED
        )
        for growth, pairs, proved, every in zip(growths, explanations, margins, needed, strict=True)
    ]


def _by_patch(pairs: list[Pair], ordered: bool) -> list[Pair]:
    """The pairs sorted by patch; within a patch by prototype or, where the order matters, as they were chosen."""
    return sorted(pairs, key=lambda pair: (pair[0], 0 if ordered else pair[1]))
