"""Spatial explanations: choose statements, drop those that are not needed, and prove the class from the rest alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from verale.bounds import SpatialParadigm, put
from verale.paradigms import ORDERS
from verale.search.grow import Growth, grow
from verale.search.problem import NOISE, Pair, Problem
from verale.search.shrink import extend_all, proved_margins, shrink
from verale.search.sweep import sweep

__all__ = ["UNSETTLED", "SpatialExplanation", "explain_spatial", "rows_from_scratch"]

_GROWTH: dict[str, Callable[[Problem, Any], tuple[list[Growth], Any]]] = dict(zip(ORDERS, (grow, sweep), strict=True))
"""The ways to choose the next statement, by name."""

_BOUND_NOISE = 2.0**-22
"""About the rounding error in the bound of an observable that nearly depends on stated ones: the root of some u."""

UNSETTLED = "the margin left is too small for float64 to prove"


@dataclass(frozen=True)
class SpatialExplanation:
    """An explanation by statements about patches.

    Attributes:
        pairs: what is stated.
        margins: (C,) proved.
        minimal: whether every pair is needed: without it, the bounds miss the class by more than rounding can explain.
            Then the checker, which rounds less, misses it too.
        prices: for each rival that needs them, the prices of prototypes (`assignment` only).
    """

    pairs: list[Pair]
    margins: Tensor
    minimal: bool
    prices: dict[int, dict[int, float]] = field(default_factory=dict)


def explain_spatial(problem: Problem, paradigm: SpatialParadigm[Any], order: str) -> list[SpatialExplanation | str]:
    """For each image an explanation, or the reason why there is none.

    First statements are added until the class follows (`_GROWTH`), then those that are not needed are dropped. Under an
    ordered paradigm bounds are not monotone in E, so dropping is repeated until nothing can be dropped. The class is
    then proved again from rows that know the remaining statements alone, in their order.
    """
    if not len(problem):
        return []
    growths, rows = _GROWTH[order](problem, paradigm)
    explanations, slack = shrink(problem, paradigm, [[] if g.failure else g.pairs for g in growths], rows)
    rows = rows_from_scratch(problem, paradigm, explanations)
    while paradigm.ordered:
        before = explanations
        explanations, slack = shrink(problem, paradigm, before, rows)
        if explanations == before:
            break
        rows = rows_from_scratch(problem, paradigm, explanations)
    margins = proved_margins(problem, rows)
    noise = _noise(problem).tolist()
    return [
        growth.failure
        or (
            SpatialExplanation(
                _by_patch(pairs, paradigm.ordered or problem.tolerance > 0),
                proved,
                minimal=not problem.tolerance and all(left < -least for left in after),
            )
            if bool((proved > 0).all())
            else UNSETTLED
        )
        for growth, pairs, proved, after, least in zip(growths, explanations, margins, slack, noise, strict=True)
    ]


def _by_patch(pairs: list[Pair], ordered: bool) -> list[Pair]:
    """The pairs sorted by patch; within a patch by prototype or, where the order matters, as they were chosen."""
    return sorted(pairs, key=lambda pair: (pair[0], 0 if ordered else pair[1]))


def _noise(problem: Problem) -> Tensor:
    """(N,) about how far a margin may lie below the one that the checker proves; used for minimality only.

    A focal activation sums over all patches, so it adds up the rounding errors of all bounds; after shrinking, a margin
    is often no larger than that. Similarities other than the logarithm and the identity may be as steep as a root.
    Softmax masses are rounded too little to matter.
    """
    head, noise = problem.head, NOISE * problem.margins.error
    if (head.pooling.is_difference or head.similarity.steep) and head.geometry.has_prototypes:
        noise = noise + _BOUND_NOISE * problem.margins.sensitivity
    return noise.amax(1)


def rows_from_scratch(problem: Problem, paradigm: SpatialParadigm[Any], explanations: list[list[Pair]]) -> Any:
    """Rows (N * L) that know the explanations alone, not how the search came to them."""
    stated = problem.by_patch(explanations)
    where = list(stated)
    built = extend_all(paradigm, problem, paradigm.start(len(where)), where, list(stated.values()))
    return put(paradigm.start(len(problem) * problem.patches), problem.index(where), built)
