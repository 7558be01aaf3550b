"""Which explanations may claim that every statement is needed: where neither rounding nor multipliers can decide it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from verale.bounds import ExactParadigm, SpatialParadigm, pooling_of
from verale.rounding import UNIT, Enclosure
from verale.search.at_once import range_without, ranges_from_scratch, ranges_without_each
from verale.search.problem import Pair, Problem

__all__ = ["inner_margins", "noise_of", "not_surely_needed", "proved_margins", "surely_needed", "without_doubtful"]

_ROWS_AT_ONCE = 256
"""Patches of which something is computed at once."""

_EVALUATION = 64
"""So many times the rounding error of a margin, similarities and pooling are rounded less."""


def proved_margins(problem: Problem, ranges: Enclosure) -> Tensor:
    """(N, C) proved margins, from the ranges (N * L, P) of all patches."""
    box = pooling_of(problem.head).box(ranges.view(len(problem), problem.patches, -1))
    return problem.margins.lower(box[:, None])[:, 0]


def surely_needed(problem: Problem, paradigm: ExactParadigm, explanations: list[list[Pair]]) -> list[bool]:
    """For each image, whether no checker can prove the class without some one of its statements.

    A statement is needed if a margin without it is negative though all observables have the paradigm's ranges from
    within (`ExactParadigm.inner`). The checker's ranges hold these, whatever its multipliers and its precision, so
    its margins are no greater. The observables of the image itself satisfy the statements, so they too lie within.

    Args:
        problem: N images.
        paradigm: how statements bound observables.
        explanations: for each image, its statements, in their order.
    """
    return [not pairs for pairs in not_surely_needed(problem, paradigm, explanations)]


def not_surely_needed(
    problem: Problem,
    paradigm: ExactParadigm,
    explanations: list[list[Pair]],
    among: list[list[Pair]] | None = None,
) -> list[list[Pair]]:
    """For each image, the statements that are not surely needed; see `surely_needed`.

    Args:
        problem: N images.
        paradigm: how statements bound observables.
        explanations: for each image, its statements, in their order.
        among: for each image, those of them that are in question; all by default.
    """
    stated, patches = problem.by_patch(explanations), problem.patches
    asked = stated if among is None else problem.by_patch(among)
    alone: dict[int, tuple[Problem, Any]] = {}
    found: list[list[Pair]] = [[] for _ in explanations]
    if not asked:
        return found
    inner = paradigm.inner()
    ranges = _with_actual(ranges_from_scratch(problem, inner, explanations), problem.observed)
    noise = noise_of(problem).tolist()
    for chunk in _chunks([row for row in stated if row in asked], lambda row: len(asked[row])):
        left_out, known = ranges_without_each(problem, inner, {row: stated[row] for row in chunk}, asked)
        within = _with_actual(known, problem.observed[problem.index([row for row, _ in left_out])])
        begin = 0
        for image, of_image in groupby(left_out, lambda pair: pair[0] // patches):
            pairs = [(row % patches, prototype) for row, prototype in of_image]
            if image not in alone:
                of_all = ranges[image * patches : (image + 1) * patches]
                alone[image] = problem.take([image]), pooling_of(problem.head).dropping(of_all)
            one, pooled = alone[image]
            end = begin + len(pairs)
            boxes = pooled.alone(problem.index([patch for patch, _ in pairs]), within[begin:end])
            surely = (one.margins.lower(boxes[None])[0].amin(1) < -noise[image]).tolist()
            found[image] += [pair for pair, needed in zip(pairs, surely, strict=True) if not needed]
            begin = end
    return found


def inner_margins(problem: Problem, inner: ExactParadigm, explanations: list[list[Pair]]) -> tuple[Tensor, Tensor]:
    """(N, C) margins from ranges from within, and (N,) how much less than 0 one has to be: then the real margin is
    negative."""
    ranges = _with_actual(ranges_from_scratch(problem, inner, explanations), problem.observed)
    return proved_margins(problem, ranges), noise_of(problem)


def without_doubtful(
    problem: Problem,
    paradigm: SpatialParadigm,
    pairs: list[Pair],
    doubtful: list[Pair],
    told: Enclosure | None = None,
) -> list[Pair]:
    """The statements of the only image without those doubtful ones that bounds, rounded outward, prove needless.

    Args:
        problem: the image.
        paradigm: how statements bound observables.
        pairs: its statements, in their order.
        doubtful: some of them; each is tried once, in this order.
        told: (P,) what other statements say of the activations.
    """
    left = list(pairs)
    pooled = pooling_of(problem.head).dropping(ranges_from_scratch(problem, paradigm, [left]))
    for pair in doubtful:
        patch, ranges = problem.index([pair[0]]), range_without(problem, paradigm, left, pair)
        box = pooled.alone(patch, ranges)
        box = box if told is None else box.intersect(told)
        if bool((problem.margins.lower(box[None]) > 0).all()):
            pooled.replace(patch, ranges)
            left.remove(pair)
    return left


def _with_actual(ranges: Enclosure, observed: Enclosure) -> Enclosure:
    """Ranges from within, and the image's own observables."""
    return Enclosure.unchecked(torch.minimum(ranges.lower, observed.upper), torch.maximum(ranges.upper, observed.lower))


def noise_of(problem: Problem) -> Tensor:
    """(N,) more than rounding lowers a margin from given ranges of observables.

    A similarity is rounded a few times, relative to the greatest one, which `error` counts for every prototype. Of a
    cosine m, 1 - m is rounded before it is multiplied by the scale.
    """
    noise = _EVALUATION * problem.margins.error
    if problem.head.scale is not None:
        noise = noise + _EVALUATION * UNIT * float(problem.head.scale.max()) * problem.margins.sensitivity
    return noise.amax(1)


def _chunks(items: list[int], weight: Callable[[int], int]) -> list[list[int]]:
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
