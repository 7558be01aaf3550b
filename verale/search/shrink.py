"""Shrink: drop statements until none can be dropped."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.bounds import SpatialParadigm, pooling_of, put, take
from verale.rounding import Enclosure
from verale.search.problem import Pair, Problem

__all__ = ["enter", "proved_margins", "shrink"]

R = TypeVar("R", bound=Any)

_ROWS_AT_ONCE = 256
_TRIED_AT_ONCE = 128
_DROPPED_AT_ONCE = 32


def shrink(
    problem: Problem, paradigm: SpatialParadigm[R], explanations: list[list[Pair]], rows: R
) -> tuple[list[list[Pair]], list[list[float]]]:
    """For each image a subset of its pairs that still entails the class and, where bounds are monotone, from which
    nothing can be dropped.

    First every single deletion is tried, from the full set. Where bounds are monotone in E, a statement whose deletion
    fails there is needed in every subset. Of the others, those that leave most are dropped together, as many as can be,
    and what is left of them is tried again, until nothing is left. An ordered paradigm is not monotone: of what is kept
    something may be droppable still, but from an explanation that comes back as it was given no single pair is.

    Args:
        problem: N images of L patches.
        paradigm: how statements bound observables.
        explanations: for each image, statements that entail its class.
        rows: the paradigm's rows (N * L) after them.

    Returns:
        The pairs kept, in their order; and for each of them the least margin, not positive, that was left when its
        deletion failed, an upper bound of what is left when it is dropped from the pairs kept.

    Soundness: a deletion is accepted only if every margin is proved positive, rounded outward, without it.
    """
    kept, slack = [], []
    for image, pairs in enumerate(explanations):
        ranges = rows.range[image * problem.patches : (image + 1) * problem.patches]
        needed = _Shrinking(problem.take([image]), paradigm, pairs, ranges).run()
        kept.append([pair for pair in pairs if pair in needed])
        slack.append([needed[pair] for pair in kept[-1]])
    return kept, slack


def proved_margins(problem: Problem, rows: Any) -> Tensor:
    """(N, C) proved margins, from the rows of all images."""
    box = pooling_of(problem.head).box(rows.range.view(len(problem), problem.patches, -1))
    return problem.margins.lower(box[:, None])[:, 0]


class _Shrinking:
    """One image while statements are dropped.

    Args:
        problem: the image.
        pairs: its statements, which entail the class.
        ranges: (L, P) bounds of its patches given these.
    """

    def __init__(self, problem: Problem, paradigm: SpatialParadigm[Any], pairs: list[Pair], ranges: Enclosure) -> None:
        self._problem, self._paradigm = problem, paradigm
        self._pooled = pooling_of(problem.head).dropping(ranges)
        self._stated = problem.by_patch([pairs])
        # An upper bound of the least margin without a statement; the statements that are needed leave `open`.
        self._open = dict.fromkeys(pairs, math.inf)
        self._needed: dict[Pair, float] = {}
        # The bounds of a statement's patch without it, (P,) an end; forgotten when the patch changes.
        self._without: dict[Pair, tuple[Tensor, Tensor]] = {}
        # Where these are not all that the statements give, so that a deletion that fails shows nothing.
        self._lost: set[Pair] = set()

    def run(self) -> dict[Pair, float]:
        """Drop what can be dropped: returns the statements needed, and the least margin without each."""
        for chunk in _chunks(list(self._stated), lambda patch: len(self._stated[patch])):
            self._try_alone([(patch, prototype) for patch in chunk for prototype in self._stated[patch]])
        while self._open:
            together: dict[int, Pair] = {}  # one a patch: dropping it leaves the other patches' bounds as they are
            for pair in takewhile(self._without.__contains__, self._best()):
                together.setdefault(pair[0], pair)
            if together:
                self._drop(list(together.values())[:_DROPPED_AT_ONCE])
            self._try_alone(self._best()[:_TRIED_AT_ONCE])
        return self._needed

    def _best(self) -> list[Pair]:
        """What may yet be dropped: first the statement that leaves most or, under an ordered paradigm, the last.

        What came after a statement was chosen for the bounds that it gave; what came last leaves all others' as they
        were.
        """
        if self._paradigm.ordered:
            return list(reversed(self._open))
        return sorted(self._open, key=lambda pair: -self._open[pair])

    def _settle(self, pair: Pair, left: float) -> None:
        """Note what a deletion leaves."""
        if left > 0:
            self._open[pair] = left
        else:
            self._needed[pair] = 0.0 if pair in self._lost else left
            del self._open[pair]

    def _try_alone(self, pairs: list[Pair]) -> None:
        """Try deletions one by one, from what is stated now."""
        if not pairs:
            return
        stale = [pair for pair in pairs if pair not in self._without]
        if stale:
            groups = {patch: self._stated[patch] for patch, _ in stale}
            if len(stale) <= sum(len(group).bit_length() for group in groups.values()):
                built = self._without_one(stale)
            else:
                stale, built = _without_each(self._paradigm, self._problem, groups)
            self._without |= zip(stale, zip(built.range.lower, built.range.upper, strict=True), strict=True)
            if self._paradigm.ordered:
                self._lost.difference_update(stale)
                self._lost.update(pair for pair, lost in zip(stale, built.lost.tolist(), strict=True) if lost)
        ranges = Enclosure.unchecked(*map(torch.stack, zip(*(self._without[pair] for pair in pairs), strict=True)))
        least = self._least_margins(self._pooled.alone(self._patches(pairs), ranges))
        for pair, left in zip(pairs, least, strict=True):
            self._settle(pair, left)

    def _drop(self, pairs: list[Pair]) -> None:
        """Drop the first of some pairs of different patches, as many as can be dropped together; the next is needed."""
        patches = self._patches(pairs)
        ranges = self._without_one(pairs).range
        least = self._least_margins(self._pooled.together(patches, ranges))
        accepted = next((count for count, value in enumerate(least) if value <= 0), len(least))
        if accepted < len(pairs):
            self._settle(pairs[accepted], least[accepted])
        self._pooled.replace(patches[:accepted], ranges[:accepted])
        for patch, prototype in pairs[:accepted]:
            self._stated[patch].remove(prototype)
            del self._open[patch, prototype]
        changed = {patch for patch, _ in pairs[:accepted]}
        self._without = {pair: bounds for pair, bounds in self._without.items() if pair[0] not in changed}

    def _without_one(self, pairs: list[Pair]) -> Any:
        """Rows for each pair's patch without it, built in the order of the proof from scratch."""
        left = [[j for j in self._stated[patch] if j != prototype] for patch, prototype in pairs]
        nothing = self._paradigm.start(len(pairs))
        return enter(self._paradigm, self._problem, nothing, [patch for patch, _ in pairs], left)

    def _patches(self, pairs: list[Pair]) -> Tensor:
        return self._problem.index([patch for patch, _ in pairs])

    def _least_margins(self, box: Enclosure) -> list[float]:
        """The least margin under each of (S, P) boxes."""
        least: list[float] = self._problem.margins.lower(box[None])[0].amin(1).tolist()
        return least


def _without_each(
    paradigm: SpatialParadigm[R], problem: Problem, groups: dict[int, list[int]]
) -> tuple[list[tuple[int, int]], R]:
    """Rows for each group of statements about one patch, leaving out one statement in turn.

    By halves: a node stands for a span of its group and holds the rows of all statements outside the span; its halves
    add each other's statements. m log2(m) extensions a group instead of m (m - 1), which it takes where order matters.

    Returns:
        (patch row, prototype left out) for each, and the rows.
    """
    if paradigm.ordered:
        owners = [(where, j) for where, stated in groups.items() for j in stated]
        left = [[k for k in groups[where] if k != j] for where, j in owners]
        return owners, enter(paradigm, problem, paradigm.start(len(owners)), [where for where, _ in owners], left)
    nodes = [(where, 0, len(stated)) for where, stated in groups.items()]
    rows = paradigm.start(len(nodes))
    while any(end - begin > 1 for _, begin, end in nodes):
        parents, children, siblings = [], [], []
        for place, (where, begin, end) in enumerate(nodes):
            middle = (begin + end) // 2
            halves = [(begin, middle), (middle, end)] if end - begin > 1 else [(begin, end)]
            for half in halves:
                parents.append(place)
                children.append((where, *half))
                siblings.append([j for other in halves if other != half for j in groups[where][slice(*other)]])
        rows = take(rows, problem.index(parents))
        rows = enter(paradigm, problem, rows, [where for where, _, _ in children], siblings)
        nodes = children
    return [(where, groups[where][begin]) for where, begin, _ in nodes], rows


def enter(paradigm: SpatialParadigm[R], problem: Problem, rows: R, where: list[int], prototypes: list[list[int]]) -> R:
    """Enter lists of statements of different lengths, one of each list at a time."""
    patches = problem.index(where)
    for step in range(max(map(len, prototypes), default=0)):
        having = [place for place, stated in enumerate(prototypes) if len(stated) > step]
        now = problem.index([prototypes[place][step] for place in having])
        if len(having) == len(where):
            rows = paradigm.extend(rows, now, problem.observed[patches, now])
        else:
            index = problem.index(having)
            rows = put(rows, index, paradigm.extend(take(rows, index), now, problem.observed[patches[index], now]))
    return rows


def _chunks(items: list[int], weight: Any) -> list[list[int]]:
    """Consecutive items whose weights sum to at most _ROWS_AT_ONCE (or single ones)."""
    chunks: list[list[int]] = []
    total = _ROWS_AT_ONCE
    for item in items:
        if total + weight(item) > _ROWS_AT_ONCE:
            chunks.append([])
            total = 0
        chunks[-1].append(item)
        total += weight(item)
    return chunks
