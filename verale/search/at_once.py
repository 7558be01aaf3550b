"""Ranges from all statements at once, where the paradigm can: the same but for rounding, and several times faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verale.bounds import Projection, SpatialParadigm, extend_all
from verale.rounding import Enclosure
from verale.search import compiled
from verale.search.problem import Pair, Problem
from verale.search.shrink import rows_from_scratch, without_each

__all__ = ["PatchRanges", "range_without", "ranges_from_scratch", "ranges_without_each"]


@dataclass(frozen=True)
class PatchRanges:
    """What is known of R patches.

    Attributes:
        range: (R, P) bounds of the observables.
    """

    range: Enclosure


def ranges_from_scratch(
    problem: Problem, paradigm: SpatialParadigm[Any], explanations: list[list[Pair]]
) -> PatchRanges:
    """What the explanations alone say of all patches (N * L); see `rows_from_scratch`."""
    if not _can(paradigm):
        return PatchRanges(rows_from_scratch(problem, paradigm, explanations).range)
    stated = problem.by_patch(explanations)
    where = range(len(problem) * problem.patches)
    return _at_once(problem, paradigm, list(where), [stated.get(row, []) for row in where])


def ranges_without_each(
    problem: Problem, paradigm: SpatialParadigm[Any], groups: dict[int, list[int]]
) -> tuple[list[Pair], PatchRanges]:
    """What is known of each patch without each of its statements in turn; see `without_each`."""
    if not _can(paradigm):
        pairs, rows = without_each(paradigm, problem, groups)
        return pairs, PatchRanges(rows.range)
    pairs = [(where, j) for where, stated in groups.items() for j in stated]
    left = [[k for k in groups[where] if k != j] for where, j in pairs]
    return pairs, _at_once(problem, paradigm, [where for where, _ in pairs], left)


def range_without(problem: Problem, paradigm: SpatialParadigm[Any], pairs: list[Pair], pair: Pair) -> PatchRanges:
    """What the statements of one image say of a pair's patch without the pair, (1, P)."""
    rest = [j for patch, j in pairs if patch == pair[0] and (patch, j) != pair]
    if not _can(paradigm):
        return PatchRanges(extend_all(paradigm, paradigm.start(1), [pair[0]], [rest], problem.observed).range)
    return _at_once(problem, paradigm, [pair[0]], [rest])


def _can(paradigm: SpatialParadigm[Any]) -> bool:
    """Whether all statements of a patch can be entered at once."""
    return isinstance(paradigm, Projection)


def _at_once(problem: Problem, paradigm: Any, where: list[int], prototypes: list[list[int]]) -> PatchRanges:
    observed = problem.observed[problem.index(where)]
    quick: tuple[Any, ...] = ()
    if compiled.is_available():
        from verale.search.compiled.duals import compiled_moves, compiled_sums

        quick = compiled_sums, compiled_moves
    if problem.tolerance:
        return PatchRanges(paradigm.ranges_of_intervals(prototypes, observed, *quick))
    return PatchRanges(paradigm.ranges_at_once(prototypes, observed, *quick[:1]))
