"""Spatial explanations: choose statements, drop those that are not needed, and prove the class from the rest alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from verale.bounds import ExactParadigm, SpatialParadigm
from verale.head import Head
from verale.paradigms import ORDERS
from verale.search import compiled
from verale.search.at_once import PatchRanges, ranges_from_scratch
from verale.search.grow import Growth, grow
from verale.search.needed import noise_of, not_surely_needed, surely_needed, without_doubtful
from verale.search.problem import Pair, Problem
from verale.search.shrink import proved_margins, rows_from_scratch, shrink
from verale.search.sweep import sweep

__all__ = [
    "GROWTHS",
    "HOPELESS",
    "UNSETTLED",
    "SpatialExplanation",
    "explain_spatial",
    "is_searched_alone",
    "prove_pairs",
]

GROWTHS: dict[str, Callable[[Problem, Any, list[float] | None], tuple[list[Growth], Any]]] = dict(
    zip(ORDERS, (grow, sweep), strict=True)
)
"""The ways to choose the next statement, by name."""

HOPELESS = 3
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

    Where it can, each image by itself is searched in machine code, without rounding (`verale.search.compiled`). What is
    chosen there has to be proved; where that fails, and in all other cases, costs among them, the search on tensors is
    used.
    """
    if problem.costs or not is_searched_alone(problem.head, paradigm, order):
        return _explain_on_tensors(problem, paradigm, order, most)
    explanations: list[SpatialExplanation | str] = []
    for image in range(len(problem)):
        one, limit = problem.take([image]), math.inf if most is None else most[image]
        compiled = _explain_compiled(one, paradigm, limit)
        explanations += _explain_on_tensors(one, paradigm, order, [limit]) if compiled is None else [compiled]
    return explanations


def is_searched_alone(head: Head, paradigm: SpatialParadigm[Any], order: str) -> bool:
    """Whether images are searched one by one, in machine code: then no image's certificate depends on the others."""
    return compiled.admits(head, paradigm, order) and compiled.is_available()


def _explain_compiled(problem: Problem, paradigm: Any, most: float) -> SpatialExplanation | str | None:
    """An explanation of the only image, or why it was given up; None if float64 without rounding does not give one.

    The guard grows until the statements are proved. Those that are not surely needed are dropped where rounded bounds
    prove that they can be; if that leaves any, the search tries once to do without them.
    """
    from verale.search.compiled.image import image_arrays
    from verale.search.compiled.statements import GUARDS, choose_statements

    image = image_arrays(problem, paradigm)
    for guard in GUARDS:
        chosen = choose_statements(problem, image, guard, HOPELESS * most)
        if chosen is None:
            return None
        if chosen.failure:
            return chosen.failure
        proved = prove_pairs(problem, paradigm, image, chosen.pairs)
        if proved is None:
            continue
        explanation, doubtful = proved
        if doubtful:
            again = prove_pairs(
                problem, paradigm, image, without_doubtful(problem, paradigm, explanation.pairs, doubtful)
            )
            if again is None or again[1]:
                others = choose_statements(problem, image, guard, math.inf, doubtful)
                again = prove_pairs(problem, paradigm, image, others.pairs) if others else None
            if again is not None and not again[1]:
                return again[0]
        return explanation
    return None


def prove_pairs(
    problem: Problem, paradigm: Any, image: Any, pairs: list[Pair]
) -> tuple[SpatialExplanation, list[Pair]] | None:
    """The only image's statements with the margins that they alone prove, rounded outward, and those that are not
    surely needed (none where that is not asked); None if a margin is not positive.

    Exact statements are proved in machine code. Where that does not prove the margins, tensors may, which bound errors
    one by one: first all statements at once, then one after the other. So they may prove that those are needed, too, of
    which machine code does not.
    """
    from verale.search.compiled.proof import prove

    quick = None if problem.tolerance else prove(problem, paradigm, image, pairs, float(noise_of(problem)[0]))
    margins = None if quick is None else _positive_margins(problem, PatchRanges(quick[0]))
    for from_scratch in (ranges_from_scratch, rows_from_scratch):
        if margins is None:
            margins = _positive_margins(problem, from_scratch(problem, paradigm, [pairs]))
    if margins is None:
        return None
    doubtful: list[Pair] = []
    if not problem.tolerance and (quick is None or quick[1]):
        (doubtful,) = not_surely_needed(problem, paradigm, [pairs], None if quick is None else [quick[1]])
    minimal = not problem.tolerance and not doubtful
    return SpatialExplanation(_by_patch(pairs, bool(problem.tolerance)), margins, minimal), doubtful


def _positive_margins(problem: Problem, rows: Any) -> Tensor | None:
    """(C,) margins of the only image, unless one is not positive."""
    (margins,) = proved_margins(problem, rows)
    return margins if bool((margins > 0).all()) else None


def _explain_on_tensors(
    problem: Problem, paradigm: SpatialParadigm[Any], order: str, most: list[float] | None
) -> list[SpatialExplanation | str]:
    """For each image an explanation, or the reason why there is none; all images in lockstep.

    First statements are added until the class follows (`GROWTHS`), then those that are not needed are dropped. Under an
    ordered paradigm bounds are not monotone in E, so dropping is repeated until nothing can be dropped. The class is
    then proved again from rows that know the remaining statements alone, in their order.
    """
    if not len(problem):
        return []
    stop = None if most is None else [HOPELESS * limit for limit in most]
    growths, rows = GROWTHS[order](problem, paradigm, stop)
    explanations = shrink(problem, paradigm, [[] if g.failure else g.pairs for g in growths], rows)
    while paradigm.ordered:
        before = explanations
        explanations = shrink(problem, paradigm, before, rows_from_scratch(problem, paradigm, before))
        if explanations == before:
            break
    margins = proved_margins(problem, rows_from_scratch(problem, paradigm, explanations))
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
