"""Shrink: drop statements until none can be dropped."""

from __future__ import annotations

from itertools import groupby
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.bounds import SpatialParadigm, oriented, pooled_activation, put, take
from verale.search.problem import Pair, Problem

__all__ = ["enter", "proved_margins", "shrink"]

R = TypeVar("R", bound=Any)

_ROWS_AT_ONCE = 512
_TRIED_AT_ONCE = 8


def shrink(
    problem: Problem, paradigm: SpatialParadigm[R], explanations: list[list[Pair]], rows: R
) -> tuple[list[list[Pair]], list[list[float]]]:
    """For each image a subset of its pairs that still entails the class and from which nothing can be dropped.

    First every single deletion is tried, from the full set. Bounds are monotone in E, so a statement whose deletion
    fails there is needed in every subset; only the others are tried again, one after the other (all images in
    lockstep), each with the bounds of what is then left.

    Args:
        problem: N images of L patches.
        paradigm: how statements bound observables; monotone in E.
        explanations: for each image, statements that entail its class.
        rows: the paradigm's rows (N * L) after them.

    Returns:
        The pairs kept, in their order; and for each pair given, the least margin when it alone is dropped.

    Soundness: a deletion is accepted only if every margin is proved positive, rounded outward, without it.
    """
    slack = _slack_after_each_deletion(problem, paradigm, explanations, rows)
    queues = [_droppable(pairs, values) for pairs, values in zip(explanations, slack, strict=True)]
    if not any(queues):
        return explanations, slack
    # Longest queue first: the images that are still at it are then always the first ones, and need no copy.
    order = sorted(range(len(queues)), key=lambda image: -len(queues[image]))
    back = sorted(range(len(order)), key=order.__getitem__)
    problem, rows = problem.take(order), take(rows, problem.rows_of(order))
    queues = [queues[image] for image in order]
    kept = [list(explanations[image]) for image in order]
    while busy := max((image + 1 for image, queue in enumerate(queues) if queue), default=0):
        picked = [_pick(queue, _TRIED_AT_ONCE) for queue in queues[:busy]]
        owners = [(image, pair) for image in range(busy) for pair in picked[image]]
        where = [image * problem.patches + pair[0] for image, pair in owners]
        left = [[j for patch, j in kept[image] if patch == pair[0] and j != pair[1]] for image, pair in owners]
        built = enter(paradigm, problem, paradigm.start(len(where)), where, left)
        for step in range(max(map(len, picked))):
            now = {(image, pairs[step]) for image, pairs in enumerate(picked) if len(pairs) > step}
            tried = [place for place, owner in enumerate(owners) if owner in now]
            index = problem.index([where[place] for place in tried])
            before = take(rows, index)
            rows = put(rows, index, take(built, problem.index(tried)))
            proved = (proved_margins(problem, rows, slice(busy)).amin(1) > 0).tolist()
            failed = [n for n, place in enumerate(tried) if not proved[owners[place][0]]]
            for place in tried:
                image, pair = owners[place]
                if proved[image]:
                    kept[image].remove(pair)
            failures = problem.index(failed)
            rows = put(rows, index[failures], take(before, failures))
    return [kept[place] for place in back], slack


def proved_margins(problem: Problem, rows: Any, images: slice) -> Tensor:
    """(n, C) proved margins of some images, from the rows of all."""
    near, far = (
        end.view(len(problem), problem.patches, -1)[images].amin(1) for end in oriented(problem.head, rows.range)
    )
    box = pooled_activation(problem.head, near, far)
    return problem.margins.take(images).lower(box[:, None])[:, 0]


def _pick(queue: list[Pair], most: int) -> list[Pair]:
    """Take the next pairs off a queue, of different patches: dropping one leaves the others' rows as they are."""
    picked: dict[int, Pair] = {}
    for pair in queue:
        if len(picked) < most:
            picked.setdefault(pair[0], pair)
    queue[:] = [pair for pair in queue if picked.get(pair[0]) != pair]
    return list(picked.values())


def _droppable(pairs: list[Pair], slack: list[float]) -> list[Pair]:
    """The pairs that could be dropped alone, the one that leaves most first."""
    ranked = sorted(range(len(pairs)), key=lambda place: -slack[place])
    return [pairs[place] for place in ranked if slack[place] > 0]


def _slack_after_each_deletion(
    problem: Problem, paradigm: SpatialParadigm[R], explanations: list[list[Pair]], rows: R
) -> list[list[float]]:
    """For each pair the least margin that is left when it alone is dropped."""
    near, far = (
        _least_of_others(end.view(len(problem), problem.patches, -1)).flatten(0, 1)
        for end in oriented(problem.head, rows.range)
    )
    groups = problem.by_patch(explanations)
    slack: dict[tuple[int, int], float] = {}
    for chunk in _chunks(sorted(groups), lambda where: len(groups[where])):
        owners, built = _without_each(paradigm, problem, {where: groups[where] for where in chunk})
        index = problem.index([where for where, _ in owners])
        built_near, built_far = oriented(problem.head, built.range)
        box = pooled_activation(
            problem.head, torch.minimum(built_near, near[index]), torch.minimum(built_far, far[index])
        )
        begin = 0
        for image, mine in groupby(owners, key=lambda owner: owner[0] // problem.patches):
            named = list(mine)
            part = slice(begin, begin + len(named))
            margins = problem.margins.take(slice(image, image + 1)).lower(box[part][None])[0]
            slack.update(zip(named, margins.amin(1).tolist(), strict=True))
            begin += len(named)
    return [
        [slack[image * problem.patches + patch, prototype] for patch, prototype in pairs]
        for image, pairs in enumerate(explanations)
    ]


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


def _least_of_others(values: Tensor) -> Tensor:
    """(N, L, P): for each patch, the least over the image's other patches; infinity if there is none."""
    nothing = torch.full_like(values[:, :1], torch.inf)
    before = torch.cat([nothing, values.cummin(1).values[:, :-1]], 1)
    after = torch.cat([values.flip(1).cummin(1).values.flip(1)[:, 1:], nothing], 1)
    return torch.minimum(before, after)


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
