"""Spatial explanations: find statements, drop what is not needed, and prove what is left from nothing but itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from verale.bounds import SpatialParadigm, put
from verale.search.grow import Growth, grow
from verale.search.problem import NOISE, Pair, Problem
from verale.search.shrink import enter, proved_margins, shrink
from verale.search.sweep import sweep

__all__ = ["ORDERS", "UNSETTLED", "Spatial", "explain_spatial", "from_scratch"]

ORDERS: dict[str, Callable[[Problem, Any], tuple[list[Growth], Any]]] = {"rival": grow, "nearest": sweep}
"""How the next statement is chosen, by name."""

_BOUND_NOISE = 2.0**-22
"""About what rounding does to the bound of an observable that nearly depends on stated ones: the root of some u."""

UNSETTLED = "the margin left is too small for float64 to prove"


@dataclass(frozen=True)
class Spatial:
    """An explanation found.

    Attributes:
        pairs: what is stated.
        margins: (C,) proved.
        minimal: whether without any one pair the bounds miss the class by more than rounding can explain, so that the
            checker, which rounds less, will miss it too.
        prices: for each rival that needs them, the prices of prototypes (`assignment` only).
    """

    pairs: list[Pair]
    margins: Tensor
    minimal: bool
    prices: dict[int, dict[int, float]] = field(default_factory=dict)


def explain_spatial(problem: Problem, paradigm: SpatialParadigm[Any], order: str) -> list[Spatial | str]:
    """For each image an explanation, or the reason why there is none.

    Under an ordered paradigm bounds are not monotone in E, and shrinking is repeated until nothing can be dropped. What
    is kept is proved again from rows that know the remaining statements alone, in their order.
    """
    if not len(problem):
        return []
    growths, rows = ORDERS[order](problem, paradigm)
    explanations, slack = shrink(problem, paradigm, [[] if g.stuck else g.pairs for g in growths], rows)
    rows = from_scratch(problem, paradigm, explanations)
    while paradigm.ordered:
        before = explanations
        explanations, slack = shrink(problem, paradigm, before, rows)
        if explanations == before:
            break
        rows = from_scratch(problem, paradigm, explanations)
    margins = proved_margins(problem, rows)
    noise = _noise(problem).tolist()
    return [
        growth.stuck
        or (
            Spatial(
                _arranged(pairs, paradigm.ordered or problem.tolerance > 0),
                proved,
                minimal=not problem.tolerance and all(left < -least for left in after),
            )
            if bool((proved > 0).all())
            else UNSETTLED
        )
        for growth, pairs, proved, after, least in zip(growths, explanations, margins, slack, noise, strict=True)
    ]


def _arranged(pairs: list[Pair], ordered: bool) -> list[Pair]:
    """Patch by patch, and there by prototype or, where the order matters, as found."""
    return sorted(pairs, key=lambda pair: (pair[0], 0 if ordered else pair[1]))


def _noise(problem: Problem) -> Tensor:
    """(N,) how far a margin may lie below the one that the checker proves, about; for minimality only.

    Focal activations are sums over all patches, so the rounding of every bound is in them; what is left of the margins
    after shrinking is often as little. A similarity may be as steep as a root. Masses are too simple to be rounded
    much.
    """
    head, noise = problem.head, NOISE * problem.margins.error
    if (head.pooling.is_difference or head.similarity.steep) and head.geometry.has_prototypes:
        noise = noise + _BOUND_NOISE * problem.margins.sensitivity
    return noise.amax(1)


def from_scratch(problem: Problem, paradigm: SpatialParadigm[Any], explanations: list[list[Pair]]) -> Any:
    """Rows that know the explanations alone, not how they were found."""
    stated = problem.by_patch(explanations)
    where = list(stated)
    built = enter(paradigm, problem, paradigm.start(len(where)), where, list(stated.values()))
    return put(paradigm.start(len(problem) * problem.patches), problem.index(where), built)
