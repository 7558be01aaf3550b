"""What statements alone say of the patches of images, rounded outward."""

from __future__ import annotations

from verale.bounds import Projection, SpatialParadigm
from verale.bounds.intervals import ranges_of_statements
from verale.rounding import Enclosure
from verale.search.problem import Pair, Problem

__all__ = ["range_without", "ranges_from_scratch", "ranges_of", "ranges_without_each"]


def ranges_from_scratch(problem: Problem, paradigm: SpatialParadigm, explanations: list[list[Pair]]) -> Enclosure:
    """(N * L, P) what the explanations alone say of all patches, not how the search came to them."""
    stated = problem.by_patch(explanations)
    where = list(range(len(problem) * problem.patches))
    return ranges_of(problem, paradigm, where, [stated.get(row, []) for row in where])


def ranges_without_each(
    problem: Problem,
    paradigm: SpatialParadigm,
    groups: dict[int, list[int]],
    among: dict[int, list[int]] | None = None,
) -> tuple[list[Pair], Enclosure]:
    """What is known of each patch, leaving out each of its statements in turn.

    Args:
        groups: the statements (prototypes) by patch.
        among: those to leave out; all by default.

    Returns:
        The S pairs left out, and the ranges (S, P) without each.
    """
    pairs = [(where, j) for where, stated in groups.items() for j in stated if among is None or j in among[where]]
    left = [[k for k in groups[where] if k != j] for where, j in pairs]
    return pairs, ranges_of(problem, paradigm, [where for where, _ in pairs], left)


def range_without(problem: Problem, paradigm: SpatialParadigm, pairs: list[Pair], pair: Pair) -> Enclosure:
    """(1, P) what the statements of one image say of a pair's patch without the pair."""
    rest = [j for patch, j in pairs if patch == pair[0] and (patch, j) != pair]
    return ranges_of(problem, paradigm, [pair[0]], [rest])


def ranges_of(problem: Problem, paradigm: SpatialParadigm, where: list[int], stated: list[list[int]]) -> Enclosure:
    """(R, P) what statements of any width say of some patches, `where`; see `SpatialParadigm.ranges`."""
    observed = problem.observed[problem.index(where)]
    if isinstance(paradigm, Projection):
        return ranges_of_statements(paradigm, stated, observed)
    return paradigm.ranges(stated, observed)
