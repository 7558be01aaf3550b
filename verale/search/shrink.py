"""Shrink: drop statements until none can be dropped."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby, takewhile
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.bounds import SpatialParadigm, oriented, pooled_activation, put, take
from verale.search.problem import Pair, Problem, least_of_others

__all__ = ["enter", "proved_margins", "shrink"]

R = TypeVar("R", bound=Any)

_ROWS_AT_ONCE = 256
_TRIED_AT_ONCE = 128
_DROPPED_AT_ONCE = 32


def shrink(
    problem: Problem, paradigm: SpatialParadigm[R], explanations: list[list[Pair]], rows: R
) -> tuple[list[list[Pair]], list[list[float]]]:
    """For each image a subset of its pairs that still entails the class and from which nothing can be dropped.

    First every single deletion is tried, from the full set. Bounds are monotone in E, so a statement whose deletion
    fails there is needed in every subset. Of the others, those that leave most are dropped together, as many as can be,
    and what is left of them is tried again, until nothing is left.

    Args:
        problem: N images of L patches.
        paradigm: how statements bound observables; monotone in E.
        explanations: for each image, statements that entail its class.
        rows: the paradigm's rows (N * L) after them.

    Returns:
        The pairs kept, in their order; and for each of them the least margin, not positive, that was left when its
        deletion failed, an upper bound of what is left when it is dropped from the pairs kept.

    Soundness: a deletion is accepted only if every margin is proved positive, rounded outward, without it.
    """
    near, far = (end.view(len(problem), problem.patches, -1) for end in oriented(problem.head, rows.range))
    deletions = _every_deletion(problem, paradigm, explanations, near, far)
    kept, slack = [], []
    for image, (pairs, tried) in enumerate(zip(explanations, deletions, strict=True)):
        needed = _Shrinking(
            problem.take([image]), paradigm, pairs, near[image].clone(), far[image].clone(), tried
        ).run()
        kept.append([pair for pair in pairs if pair in needed])
        slack.append([needed[pair] for pair in kept[-1]])
    return kept, slack


def proved_margins(problem: Problem, rows: Any) -> Tensor:
    """(N, C) proved margins, from the rows of all images."""
    near, far = (end.view(len(problem), problem.patches, -1).amin(1) for end in oriented(problem.head, rows.range))
    return problem.margins.lower(pooled_activation(problem.head, near, far)[:, None])[:, 0]


@dataclass
class _Deletions:
    """Deletions of one image's statements, each tried alone.

    Attributes:
        failed: the statements that are needed, and the least margin without them.
        open: the others, and an upper bound of the least margin without them.
        near, far: for each of those the bounds of its patch without it, (P,); none where the patch has changed since.
    """

    failed: dict[Pair, float] = field(default_factory=dict)
    open: dict[Pair, float] = field(default_factory=dict)
    near: dict[Pair, Tensor] = field(default_factory=dict)
    far: dict[Pair, Tensor] = field(default_factory=dict)

    def settle(self, pair: Pair, left: float) -> None:
        """Note what a deletion leaves."""
        if left > 0:
            self.open[pair] = left
        else:
            self.failed[pair] = left
            self.open.pop(pair, None)

    def remember(self, pairs: list[Pair], near: Tensor, far: Tensor) -> None:
        """Keep the rows (S, P) of pairs."""
        self.near |= zip(pairs, near, strict=True)
        self.far |= zip(pairs, far, strict=True)

    def rows(self, pairs: list[Pair]) -> tuple[Tensor, Tensor]:
        """near and far of some pairs, (S, P) each."""
        return torch.stack([self.near[pair] for pair in pairs]), torch.stack([self.far[pair] for pair in pairs])


class _Shrinking:
    """One image while statements are dropped.

    Args:
        problem: the image.
        pairs: its statements.
        near, far: (L, P) bounds of its patches given these; overwritten.
        tried: every deletion from the full set; overwritten.
    """

    def __init__(
        self,
        problem: Problem,
        paradigm: SpatialParadigm[Any],
        pairs: list[Pair],
        near: Tensor,
        far: Tensor,
        tried: _Deletions,
    ) -> None:
        self._problem, self._paradigm = problem, paradigm
        self._near, self._far = near, far
        self._tried = tried
        self._stated = problem.by_patch([pairs])

    def run(self) -> dict[Pair, float]:
        """Drop what can be dropped: returns the statements needed, and the least margin without each."""
        tried = self._tried
        while tried.open:
            self._try_alone(sorted(tried.open, key=lambda pair: -tried.open[pair])[:_TRIED_AT_ONCE])
            best = sorted(tried.open, key=lambda pair: -tried.open[pair])
            together: dict[int, Pair] = {}  # one a patch: dropping it leaves the other patches' rows as they are
            for pair in takewhile(tried.near.__contains__, best):
                together.setdefault(pair[0], pair)
            if together:
                self._drop(list(together.values())[:_DROPPED_AT_ONCE])
        return tried.failed

    def _try_alone(self, pairs: list[Pair]) -> None:
        """Try every deletion of a list again, from what is stated now."""
        problem, tried = self._problem, self._tried
        changed = {pair[0]: self._stated[pair[0]] for pair in pairs if pair not in tried.near}
        if changed:
            owners, built = _without_each(self._paradigm, problem, changed)
            tried.remember(owners, *oriented(problem.head, built.range))
        near, far = tried.rows(pairs)
        patches = problem.index([patch for patch, _ in pairs])
        near = torch.minimum(near, _without_rows(self._near, patches))
        far = torch.minimum(far, _without_rows(self._far, patches))
        for pair, left in zip(pairs, _least_margins(problem, near, far).tolist(), strict=True):
            tried.settle(pair, left)

    def _drop(self, pairs: list[Pair]) -> None:
        """Drop the first of some pairs of different patches, as many as can be dropped together; the next is needed."""
        problem, tried = self._problem, self._tried
        # Built in the statements' own order, as they will be when they are proved from scratch.
        left = [[j for j in self._stated[patch] if j != prototype] for patch, prototype in pairs]
        rows = self._paradigm.start(len(pairs))
        built = enter(self._paradigm, problem, rows, [patch for patch, _ in pairs], left)
        near, far = oriented(problem.head, built.range)
        patches = problem.index([patch for patch, _ in pairs])
        least = _least_margins(
            problem, _as_replaced(self._near, patches, near), _as_replaced(self._far, patches, far)
        ).tolist()
        accepted = next((count for count, value in enumerate(least) if value <= 0), len(least))
        for place, (patch, prototype) in enumerate(pairs[:accepted]):
            self._near[patch], self._far[patch] = near[place], far[place]
            self._stated[patch].remove(prototype)
            del tried.open[patch, prototype]
        if accepted < len(pairs):
            tried.settle(pairs[accepted], least[accepted])
        changed = {patch for patch, _ in pairs[:accepted]}
        for pair in [pair for pair in tried.near if pair[0] in changed]:
            del tried.near[pair], tried.far[pair]


def _without_rows(values: Tensor, patches: Tensor) -> Tensor:
    """(S, P) the least of (L, P) values over all patches but one, for each of S patches."""
    unique, place = torch.unique(patches, return_inverse=True)
    rest = values.clone()
    rest[unique] = torch.inf
    return torch.minimum(least_of_others(values[unique][None])[0], rest.amin(0))[place]


def _as_replaced(values: Tensor, patches: Tensor, replacements: Tensor) -> Tensor:
    """(S, P) the least of (L, P) values over all patches once the first, the first two, ... all S are replaced."""
    rest = values.clone()
    rest[patches] = torch.inf
    after = values[patches].flip(0).cummin(0).values.flip(0)
    after = torch.cat([after[1:], torch.full_like(after[:1], torch.inf)])
    return torch.minimum(torch.minimum(replacements.cummin(0).values, after), rest.amin(0))


def _least_margins(problem: Problem, near: Tensor, far: Tensor) -> Tensor:
    """(B,) the least margin of one image under pooled bounds (B, P)."""
    return problem.margins.lower(pooled_activation(problem.head, near, far)[None])[0].amin(1)


def _every_deletion(
    problem: Problem, paradigm: SpatialParadigm[R], explanations: list[list[Pair]], near: Tensor, far: Tensor
) -> list[_Deletions]:
    """For each image, what is left of every margin when one statement is dropped."""
    others_near, others_far = (least_of_others(end).flatten(0, 1) for end in (near, far))
    groups = problem.by_patch(explanations)
    tried = [_Deletions() for _ in explanations]
    for chunk in _chunks(sorted(groups), lambda where: len(groups[where])):
        owners, built = _without_each(paradigm, problem, {where: groups[where] for where in chunk})
        index = problem.index([where for where, _ in owners])
        built_near, built_far = oriented(problem.head, built.range)
        box = pooled_activation(
            problem.head, torch.minimum(built_near, others_near[index]), torch.minimum(built_far, others_far[index])
        )
        begin = 0
        for image, mine in groupby(owners, key=lambda owner: owner[0] // problem.patches):
            end = begin + len(list(mine))
            margins = problem.margins.take(slice(image, image + 1)).lower(box[begin:end][None])[0]
            pairs = [(where % problem.patches, prototype) for where, prototype in owners[begin:end]]
            tried[image].remember(pairs, built_near[begin:end], built_far[begin:end])
            for pair, left in zip(pairs, margins.amin(1).tolist(), strict=True):
                tried[image].settle(pair, left)
            begin = end
    return tried


def _without_each(
    paradigm: SpatialParadigm[R], problem: Problem, groups: dict[int, list[int]]
) -> tuple[list[tuple[int, int]], R]:
    """Rows for each group of statements about one patch, leaving out one statement in turn.

    By halves: a node stands for a span of its group and holds the rows of all statements outside the span; its halves
    add each other's statements. m log2(m) extensions a group instead of m (m - 1).

    Returns:
        (patch row, prototype left out) for each, and the rows.
    """
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
