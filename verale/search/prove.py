"""What is proved of statements about patches: which are surely needed, and which the others make needless.

**Surely needed.** A statement is needed if a margin without it is negative though all observables have the paradigm's
ranges from within (`ExactParadigm.inner`). The checker's ranges hold these, whatever its multipliers and its precision,
so its margins are no greater. The observables of the image itself satisfy the statements, so they too lie within.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from verale.bounds import ExactParadigm, SpatialParadigm, pooling_of
from verale.certificate import PatchStatement, Statement
from verale.rounding import Enclosure
from verale.search.problem import NoExplanation, Pair, Problem

UNSETTLED = NoExplanation("the margin left is too small for float64 to prove")

HOPELESS = 3
"""Of the statements that are chosen, shrinking leaves more than one in so many."""

_AT_ONCE = 256
"""So many statements are left out at once, each alone."""


@dataclass(frozen=True)
class SpatialExplanation:
    """An explanation by statements about patches.

    Attributes:
        pairs: what is stated.
        margins: (C,) proved.
        minimal: whether every pair is surely needed; see the top of this file.
        prices: for each rival that needs them, the prices of prototypes (`assignment` only).
    """

    pairs: list[Pair]
    margins: Tensor
    minimal: bool
    prices: dict[int, dict[int, float]] = field(default_factory=dict)


Explained = SpatialExplanation | NoExplanation

Proved = tuple[SpatialExplanation, list[Pair]]
"""An explanation, and those of its statements that are not surely needed, though perhaps they are."""


def by_patch(pairs: list[Pair], ordered: bool) -> list[Pair]:
    """The pairs sorted by patch; within a patch by prototype or, where the order matters, as they were chosen."""
    return sorted(pairs, key=lambda pair: (pair[0], 0 if ordered else pair[1]))


def not_surely_needed(
    problem: Problem, paradigm: ExactParadigm, pairs: list[Pair], among: list[Pair] | None = None
) -> list[Pair]:
    """Those statements of the only image of which it is not sure that no checker proves the class without them.

    Args:
        problem: the image.
        paradigm: how statements bound observables.
        pairs: its statements, in their order.
        among: those of them that are in question; all by default.
    """
    inner, stated = paradigm.inner(), problem.by_patch([pairs])
    pooled = pooling_of(problem.head).dropping(_with_actual(problem.ranges(inner, [pairs]), problem.observed))
    asked, noise = pairs if among is None else among, float(problem.noise)
    doubtful: list[Pair] = []
    for part in (asked[begin : begin + _AT_ONCE] for begin in range(0, len(asked), _AT_ONCE)):
        patches = problem.index([patch for patch, _ in part])
        observed = problem.observed[patches]
        without = inner.ranges([[k for k in stated[patch] if k != j] for patch, j in part], observed)
        least = problem.margins.lower(pooled.alone(patches, _with_actual(without, observed))[None])[0].amin(1)
        doubtful += [pair for pair, margin in zip(part, least.tolist(), strict=True) if not margin < -noise]
    return doubtful


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
    pooled = pooling_of(problem.head).dropping(problem.ranges(paradigm, [left]))
    for pair in doubtful:
        patch = problem.index([pair[0]])
        others = [j for where, j in left if where == pair[0] and j != pair[1]]
        ranges = paradigm.ranges([others], problem.observed[patch])
        box = pooled.alone(patch, ranges)
        box = box if told is None else box.intersect(told)
        if bool((problem.margins.lower(box[None]) > 0).all()):
            pooled.replace(patch, ranges)
            left.remove(pair)
    return left


def inner_margins(problem: Problem, inner: ExactParadigm, explanations: list[list[Pair]]) -> Tensor:
    """(N, C) margins by ranges from within: where one is below 0 by more than `Problem.noise`, so is the real one."""
    return problem.proved_margins(_with_actual(problem.ranges(inner, explanations), problem.observed))


def _with_actual(ranges: Enclosure, observed: Enclosure) -> Enclosure:
    """Ranges from within, and the image's own observables."""
    return Enclosure.unchecked(torch.minimum(ranges.lower, observed.upper), torch.maximum(ranges.upper, observed.lower))


def pairs_of(statements: Sequence[Statement]) -> list[Pair]:
    """The pairs that statements about patches are about."""
    return [(each.patch, each.prototype) for each in statements if isinstance(each, PatchStatement)]


def statements_about(problem: Problem, pairs: Sequence[Pair], image: int = 0) -> list[Statement]:
    """Statements about pairs of one image, with its observables."""
    rows = problem.index([image * problem.patches + patch for patch, _ in pairs])
    observed = problem.observed[rows, problem.index([prototype for _, prototype in pairs])]
    ends = zip(pairs, observed.lower.tolist(), observed.upper.tolist(), strict=True)
    return [PatchStatement(*pair, lower, upper) for pair, lower, upper in ends]
