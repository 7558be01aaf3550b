"""Shrink: drop statements while the class still follows from the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.bounds import Simplex, SpatialParadigm, extend_all, pooling_of, put, take
from verale.rounding import Enclosure
from verale.search.problem import Pair, Problem

__all__ = ["chunks", "proved_margins", "rows_from_scratch", "shrink", "without_each"]

R = TypeVar("R", bound=Any)

_ROWS_AT_ONCE = 256
"""Patches of which something is computed at once."""

_TRIED_AT_ONCE = 128
_DROPPED_AT_ONCE = 32


def shrink(
    problem: Problem,
    paradigm: SpatialParadigm[R],
    explanations: list[list[Pair]],
    rows: R,
    rank: Mapping[Pair, int] | None = None,
) -> list[list[Pair]]:
    """For each image a subset of its pairs that still entails the class and, where bounds are monotone, from which
    nothing can be dropped.

    First every single deletion is tried from the full set; where bounds are monotone in E, a statement whose deletion
    fails there is needed in every subset. Of the others, those whose deletion leaves the largest margins are dropped
    together, as many as possible, and the rest is tried again until nothing is undecided. The bounds of an ordered
    paradigm are not monotone: a pair may still be droppable from the result, but if the result equals the input, no
    single pair is.

    Args:
        problem: N images of L patches.
        paradigm: how statements bound observables.
        explanations: for each image, statements that entail its class.
        rows: the paradigm's rows (N * L) after them.
        rank: which pairs are dropped first, where bounds are monotone: those with the lowest numbers.

    Returns:
        The pairs kept, in their order.

    Soundness: a deletion is accepted only if every margin is proved positive, rounded outward, without it.
    """
    kept = []
    for image, pairs in enumerate(explanations):
        ranges = rows.range[image * problem.patches : (image + 1) * problem.patches]
        needed = _Shrinker(problem.take([image]), paradigm, pairs, ranges, rank).run()
        kept.append([pair for pair in pairs if pair in needed])
    return kept


def proved_margins(problem: Problem, rows: Any) -> Tensor:
    """(N, C) proved margins, from the rows of all images."""
    box = pooling_of(problem.head).box(rows.range.view(len(problem), problem.patches, -1))
    return problem.margins.lower(box[:, None])[:, 0]


class _Shrinker:
    """Drops statements of one image.

    Args:
        problem: the image.
        pairs: its statements, which entail the class.
        ranges: (L, P) bounds of its observables, given the statements.
        rank: which pairs are dropped first, those with the lowest numbers; None to go by the margin.
    """

    def __init__(
        self,
        problem: Problem,
        paradigm: SpatialParadigm[Any],
        pairs: list[Pair],
        ranges: Enclosure,
        rank: Mapping[Pair, int] | None,
    ) -> None:
        self._problem, self._paradigm, self._rank = problem, paradigm, rank
        self._pooled = pooling_of(problem.head).dropping(ranges)
        self._stated = problem.by_patch([pairs])
        # For each undecided statement, an upper bound of the least margin without it.
        self._undecided = dict.fromkeys(pairs, math.inf)
        self._needed: set[Pair] = set()
        # For a statement, both ends (P,) of its patch's bounds without it; forgotten when the patch changes.
        self._without: dict[Pair, tuple[Tensor, Tensor]] = {}

    def run(self) -> set[Pair]:
        """Drop statements; returns those whose deletion fails."""
        for chunk in chunks(list(self._stated), lambda patch: len(self._stated[patch])):
            self._try_alone([(patch, prototype) for patch in chunk for prototype in self._stated[patch]])
        while self._undecided:
            together: dict[int, Pair] = {}  # one a patch: dropping it leaves the other patches' bounds as they are
            for pair in takewhile(self._without.__contains__, self._best()):
                together.setdefault(pair[0], pair)
            if together:
                self._drop(list(together.values())[:_DROPPED_AT_ONCE])
            self._try_alone(self._best()[:_TRIED_AT_ONCE])
        return self._needed

    def _best(self) -> list[Pair]:
        """The undecided statements: the costliest first, and of these by the margin left without them; or, under an
        ordered paradigm, the last first.

        In an order, each statement was chosen for the bounds that the earlier ones gave. Dropping the last one leaves
        the bounds of all others as they were.
        """
        if self._paradigm.ordered:
            return list(reversed(self._undecided))
        if self._rank is not None:
            return sorted(self._undecided, key=self._rank.__getitem__)
        if costs := self._problem.costs:
            return sorted(self._undecided, key=lambda pair: (-costs.of_pair(pair), -self._undecided[pair]))
        return sorted(self._undecided, key=lambda pair: -self._undecided[pair])

    def _decide(self, pair: Pair, margin: float) -> None:
        """Record the least margin without a statement: if it is not positive, the statement is needed."""
        if margin > 0:
            self._undecided[pair] = margin
        else:
            self._needed.add(pair)
            del self._undecided[pair]

    def _try_alone(self, pairs: list[Pair]) -> None:
        """Try to delete each of some statements, and nothing else."""
        if not pairs:
            return
        stale = [pair for pair in pairs if pair not in self._without]
        if stale:
            groups = {patch: self._stated[patch] for patch, _ in stale}
            if len(stale) <= sum(len(group).bit_length() for group in groups.values()):
                built = self._without_one(stale)
            else:
                stale, built = without_each(self._paradigm, self._problem, groups)
            self._without |= zip(stale, zip(built.range.lower, built.range.upper, strict=True), strict=True)
        ranges = Enclosure.unchecked(*map(torch.stack, zip(*(self._without[pair] for pair in pairs), strict=True)))
        least = self._least_margins(self._pooled.alone(self._patches(pairs), ranges))
        for pair, margin in zip(pairs, least, strict=True):
            self._decide(pair, margin)

    def _drop(self, pairs: list[Pair]) -> None:
        """Drop as many of the first pairs as can be dropped together; the next is needed. Their patches differ."""
        patches = self._patches(pairs)
        ranges = self._without_one(pairs).range
        least = self._least_margins(self._pooled.together(patches, ranges))
        accepted = next((count for count, value in enumerate(least) if value <= 0), len(least))
        if accepted < len(pairs):
            self._decide(pairs[accepted], least[accepted])
        self._pooled.replace(patches[:accepted], ranges[:accepted])
        for patch, prototype in pairs[:accepted]:
            self._stated[patch].remove(prototype)
            del self._undecided[patch, prototype]
        changed = {patch for patch, _ in pairs[:accepted]}
        self._without = {pair: bounds for pair, bounds in self._without.items() if pair[0] not in changed}

    def _without_one(self, pairs: list[Pair]) -> Any:
        """Rows for each pair's patch without the pair, built in the order of the proof from scratch."""
        left = [[j for j in self._stated[patch] if j != prototype] for patch, prototype in pairs]
        return _rows_of(self._problem, self._paradigm, [patch for patch, _ in pairs], left)

    def _patches(self, pairs: list[Pair]) -> Tensor:
        return self._problem.index([patch for patch, _ in pairs])

    def _least_margins(self, box: Enclosure) -> list[float]:
        """The least margin in each of S boxes (S, P)."""
        least: list[float] = self._problem.margins.lower(box[None])[0].amin(1).tolist()
        return least


def without_each(
    paradigm: SpatialParadigm[R], problem: Problem, groups: dict[int, list[int]]
) -> tuple[list[tuple[int, int]], R]:
    """Rows for each patch, leaving out each of its statements in turn.

    It works by halving. A node stands for a span of a patch's statements and holds the rows of all statements outside
    the span; each half of it adds the statements of the other half. That takes m log2(m) extensions for m statements.
    Where the order matters it takes m (m - 1), because statements cannot be added out of order.

    Args:
        groups: the statements (prototypes) by patch.

    Returns:
        The pairs left out, and the rows without each.
    """
    if paradigm.ordered or isinstance(paradigm, Simplex):
        pairs = [(where, j) for where, stated in groups.items() for j in stated]
        left = [[k for k in groups[where] if k != j] for where, j in pairs]
        return pairs, _rows_of(problem, paradigm, [where for where, _ in pairs], left)
    nodes = [(where, 0, len(stated)) for where, stated in groups.items()]
    rows = paradigm.start(len(nodes))
    while any(end - begin > 1 for _, begin, end in nodes):
        parents, children, siblings = [], [], []
        for parent, (where, begin, end) in enumerate(nodes):
            middle = (begin + end) // 2
            halves = [(begin, middle), (middle, end)] if end - begin > 1 else [(begin, end)]
            for half in halves:
                parents.append(parent)
                children.append((where, *half))
                siblings.append([j for other in halves if other != half for j in groups[where][slice(*other)]])
        rows = take(rows, problem.index(parents))
        rows = extend_all(paradigm, rows, [where for where, _, _ in children], siblings, problem.observed)
        nodes = children
    return [(where, groups[where][begin]) for where, begin, _ in nodes], rows


def rows_from_scratch(problem: Problem, paradigm: SpatialParadigm[Any], explanations: list[list[Pair]]) -> Any:
    """Rows (N * L) that know the explanations alone, not how the search came to them."""
    stated = problem.by_patch(explanations)
    where = list(stated)
    built = _rows_of(problem, paradigm, where, list(stated.values()))
    return put(paradigm.start(len(problem) * problem.patches), problem.index(where), built)


def _rows_of(problem: Problem, paradigm: SpatialParadigm[R], where: list[int], prototypes: list[list[int]]) -> R:
    """Rows that know statements alone: those of masses all at once, others one after the other.

    Args:
        where: the patch of each row.
        prototypes: what is stated of it.
    """
    if not isinstance(paradigm, Simplex):
        return extend_all(paradigm, paradigm.start(len(where)), where, prototypes, problem.observed)
    counts, stated = problem.index(list(map(len, prototypes))), problem.index([j for each in prototypes for j in each])
    row = torch.arange(len(where)).repeat_interleave(counts)
    rows: Any = paradigm.from_statements(len(where), row, stated, problem.observed[problem.index(where)[row], stated])
    return rows


def chunks(items: list[int], weight: Any) -> list[list[int]]:
    """Runs of consecutive items whose weights sum to at most so many; a heavier item is a run of its own."""
    chunks: list[list[int]] = []
    total = _ROWS_AT_ONCE
    for item in items:
        if total + weight(item) > _ROWS_AT_ONCE:
            chunks.append([])
            total = 0
        chunks[-1].append(item)
        total += weight(item)
    return chunks
