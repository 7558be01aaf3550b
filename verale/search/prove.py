"""The one loop of the search: propose in plain floats, prove in rounded ones, drop what is not needed.

An engine proposes. What it proposes for an image counts only once rounded bounds prove it; where they do not, it is
asked again with a larger guard. Statements that are not surely needed are dropped where rounded bounds prove that they
can be; if that leaves some, the engine tries once to do without them.

**Surely needed.** A statement is needed if a margin without it is negative though all observables have the paradigm's
ranges from within (`ExactParadigm.inner`). The checker's ranges hold these, whatever its multipliers and its precision,
so its margins are no greater. The observables of the image itself satisfy the statements, so they too lie within.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from verale.bounds import ExactParadigm, SpatialParadigm, pooling_of
from verale.rounding import Enclosure
from verale.search.problem import NoExplanation, Pair, Problem

__all__ = [
    "HOPELESS",
    "UNSETTLED",
    "Engine",
    "Explained",
    "Proved",
    "SpatialExplanation",
    "by_patch",
    "inner_margins",
    "not_surely_needed",
    "propose_and_prove",
    "without_doubtful",
]

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


Chosen = Sequence[list[Pair] | NoExplanation | None]
"""For each image the statements, why there are none, or None where the engine finds none."""


class Engine(Protocol):
    """Proposes statements for the images of one problem, and has them proved.

    Attributes:
        problem: N images.
        guards: a margin of plain floats counts as positive above a guard. The first is tried first; where the proof
            fails greater ones are, and where the class stays open smaller ones.
    """

    problem: Problem
    guards: tuple[float, ...]

    @property
    def paradigm(self) -> SpatialParadigm:
        """How statements bound observables."""
        ...

    def choose(self, images: list[int], guard: float, most: list[float], early: list[list[Pair]]) -> Chosen:
        """Statements for some images.

        Args:
            images: their indices.
            guard: one of the guards.
            most: for each image, how many statements are too many before shrinking.
            early: for each image, the statements to leave out before others, where they can be.
        """
        ...

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """What statements prove of some images, rounded outward; None where a margin is not positive."""
        ...


def by_patch(pairs: list[Pair], ordered: bool) -> list[Pair]:
    """The pairs sorted by patch; within a patch by prototype or, where the order matters, as they were chosen."""
    return sorted(pairs, key=lambda pair: (pair[0], 0 if ordered else pair[1]))


def propose_and_prove(engine: Engine, most: list[float] | None = None) -> dict[int, Explained]:
    """The explanations of the images of which the engine finds some, and why others were given up.

    Args:
        engine: proposes, and has its proposals proved.
        most: for each image how many statements its explanation may have; it is given up when that is hopeless.

    Soundness: whatever the engine proposes, an explanation has margins that its statements alone prove.
    """
    images = list(range(len(engine.problem)))
    limits = [math.inf] * len(images) if most is None else [HOPELESS * limit for limit in most]
    explained: dict[int, Explained] = {}
    open_, unproved = images, images
    why: dict[int, NoExplanation] = {}
    for guard in engine.guards:
        asked = open_ if guard < engine.guards[0] else unproved
        choices = engine.choose(asked, guard, [limits[image] for image in asked], [[] for _ in asked])
        chosen = dict(zip(asked, choices, strict=True))
        why |= {image: each for image, each in chosen.items() if isinstance(each, NoExplanation)}
        proved = engine.prove({image: each for image, each in chosen.items() if isinstance(each, list)})
        why |= {image: UNSETTLED for image, each in proved.items() if each is None}
        explained |= _without_doubt(engine, guard, {image: each for image, each in proved.items() if each})
        unproved = [image for image, each in proved.items() if each is None]
        open_ = [image for image, each in sorted(why.items()) if each.stays_open and image not in explained]
        if not (open_ or unproved):
            break
    return why | explained


def _without_doubt(engine: Engine, guard: float, proved: dict[int, Proved]) -> dict[int, SpatialExplanation]:
    """The explanations of some images, without the statements that are not surely needed where that can be."""
    explanations = {image: explanation for image, (explanation, _) in proved.items()}
    doubtful = {image: pairs for image, (_, pairs) in proved.items() if pairs}
    fewer = {
        image: without_doubtful(engine.problem.take([image]), engine.paradigm, explanations[image].pairs, pairs)
        for image, pairs in doubtful.items()
    }
    surely = _surely_needed(engine, fewer)
    left = {image: pairs for image, pairs in doubtful.items() if image not in surely}
    if left:
        others = engine.choose(list(left), guard, [math.inf] * len(left), list(left.values()))
        surely |= _surely_needed(
            engine, {image: each for image, each in zip(left, others, strict=True) if isinstance(each, list)}
        )
    return explanations | surely


def _surely_needed(engine: Engine, chosen: dict[int, list[Pair]]) -> dict[int, SpatialExplanation]:
    """Of some images' statements, those that are proved and surely needed."""
    return {image: each[0] for image, each in engine.prove(chosen).items() if each is not None and not each[1]}


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
