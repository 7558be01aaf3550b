"""What statements alone say of patches, rounded outward: from all of a patch at once, where the paradigm can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from verale.bounds import Projection, Simplex, SpatialParadigm, extend_all, put
from verale.rounding import Enclosure
from verale.search.problem import Pair, Problem

__all__ = ["PatchRanges", "range_without", "ranges_from_scratch", "ranges_without_each", "rows_from_scratch"]


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
    """What the explanations alone say of all patches (N * L), not how the search came to them."""
    if not isinstance(paradigm, Projection):
        return PatchRanges(rows_from_scratch(problem, paradigm, explanations).range)
    stated = problem.by_patch(explanations)
    where = range(len(problem) * problem.patches)
    return _ranges(problem, paradigm, list(where), [stated.get(row, []) for row in where])


def ranges_without_each(
    problem: Problem, paradigm: SpatialParadigm[Any], groups: dict[int, list[int]]
) -> tuple[list[Pair], PatchRanges]:
    """What is known of each patch, leaving out each of its statements in turn.

    Args:
        groups: the statements (prototypes) by patch.

    Returns:
        The pairs left out, and the ranges without each.
    """
    pairs = [(where, j) for where, stated in groups.items() for j in stated]
    left = [[k for k in groups[where] if k != j] for where, j in pairs]
    return pairs, _ranges(problem, paradigm, [where for where, _ in pairs], left)


def range_without(problem: Problem, paradigm: SpatialParadigm[Any], pairs: list[Pair], pair: Pair) -> PatchRanges:
    """What the statements of one image say of a pair's patch without the pair, (1, P)."""
    rest = [j for patch, j in pairs if patch == pair[0] and (patch, j) != pair]
    return _ranges(problem, paradigm, [pair[0]], [rest])


def rows_from_scratch(problem: Problem, paradigm: SpatialParadigm[Any], explanations: list[list[Pair]]) -> Any:
    """Rows (N * L) that know the explanations alone; masses are entered at once, others one after the other."""
    stated = problem.by_patch(explanations)
    built = _rows_of(problem, paradigm, list(stated), list(stated.values()))
    return put(paradigm.start(len(problem) * problem.patches), problem.index(list(stated)), built)


def _ranges(problem: Problem, paradigm: Any, where: list[int], prototypes: list[list[int]]) -> PatchRanges:
    """What statements say of patches.

    Args:
        where: the patch of each row.
        prototypes: what is stated of it.
    """
    if not isinstance(paradigm, Projection):
        return PatchRanges(_rows_of(problem, paradigm, where, prototypes).range)
    from verale.search.compiled.duals import compiled_moves, compiled_sums

    observed = problem.observed[problem.index(where)]
    if problem.tolerance:
        return PatchRanges(paradigm.ranges_of_intervals(prototypes, observed, compiled_sums, compiled_moves))
    return PatchRanges(paradigm.ranges_at_once(prototypes, observed, compiled_sums))


def _rows_of(problem: Problem, paradigm: SpatialParadigm[Any], where: list[int], prototypes: list[list[int]]) -> Any:
    if not isinstance(paradigm, Simplex):
        return extend_all(paradigm, paradigm.start(len(where)), where, prototypes, problem.observed)
    counts, stated = problem.index(list(map(len, prototypes))), problem.index([j for each in prototypes for j in each])
    row = torch.arange(len(where)).repeat_interleave(counts)
    return paradigm.from_statements(len(where), row, stated, problem.observed[problem.index(where)[row], stated])
