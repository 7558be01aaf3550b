"""Heads, latents and true statements about them, with the truth in rational ends."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any
from unittest.mock import patch

import flint
from support import arithmetic, files
from support.exact import Head as ExactHead
from support.recipes import COUNT, PATCHES, all_recipes, draw_head, draw_image

from verale.checker.certificate import ActivationStatement, PatchStatement
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading import space, weights
from verale.checker.reading.masses import Simplex
from verale.checker.reading.paradigms import Activations
from verale.checker.reading.quadratic import QuadraticRule

GRIDS = ((128, 64, 256), (6, 0, 8), (3, 0, 8))
"""The usual grid, and some of a few bits, where roundings show."""


@dataclass(frozen=True)
class Trial:
    """A head, latents, statements true of them, and the truth in rational ends."""

    data: bytes
    image: files.Matrix
    statements: list[PatchStatement]
    observables: list[list[arithmetic.Interval]]
    activations: list[arithmetic.Interval]
    logits: list[list[arithmetic.Interval]]
    pooled: list[ActivationStatement]

    def rules(self) -> tuple[space.Space, Any, Activations]:
        """The head on the present grid, the rule for its patches, and that for its activations."""
        where = space.Space(read_head(self.data), load_arithmetic("arb"))
        rule = Simplex(where) if where.head.geometry == "softmax" else QuadraticRule(where)
        return where, rule, Activations(where, rule)


@contextmanager
def grid(least: int, below: int, places: int) -> Iterator[None]:
    """On a grid of so many bits, with weights of so many places."""
    of_weights = patch.object(weights, "DECIMALS", replace(weights.DECIMALS, places=places))
    with of_weights, patch.multiple(space, _LEAST_BITS=least, _BITS_BELOW_GRAM=below):
        yield


_RECIPES = [*all_recipes()]


def trials(first: int, step: int) -> Iterator[Trial]:
    """Heads of every part, four of each: those of these numbers."""
    return map(_trial, range(first, 4 * len(_RECIPES), step))


def _trial(number: int) -> Trial:
    """One observable in three is stated, by intervals narrow and wide. Of recipes of open ends most have one end."""
    recipe, trial = _RECIPES[number // 4], number % 4
    generator = random.Random(f"trial {recipe.name} no {trial}")
    with flint.ctx.workprec(arithmetic.PRECISION):
        head = draw_head(recipe, generator)
        if recipe.similarity == "threshold":
            head.parts["similarity"] = {"kind": "threshold", "threshold": generator.choice((0.3, 0.17)).hex()}
        image = _drawn(head, generator, trial)
        values = head.at(image)
        observables = [list(map(arithmetic.ends, row)) for row in values.observables]
        activations = list(map(arithmetic.ends, values.activations))
        logits = [[arithmetic.ends(arithmetic.ball(one - other)) for other in values.logits] for one in values.logits]
    opened = random.Random(f"open {recipe.name} {trial}") if "open" in recipe.options else None
    some = generator.sample(list(product(range(PATCHES), range(COUNT))), (number // 4 + 3 * trial) % 8)
    stated = [
        PatchStatement(at, j, *_opened(_around(observables[at][j], generator, trial == 2), opened)) for at, j in some
    ]
    pooled = [ActivationStatement(j, *_opened(_around(activations[j], generator), opened)) for j in range(0, COUNT, 2)]
    return Trial(head.data, image, stated, observables, activations, logits, pooled)


def _drawn(head: ExactHead, generator: random.Random, trial: int) -> files.Matrix:
    """Latents in the domain, one of them on an axis, one at the corner of the domain that lies against a prototype."""
    image = draw_image(head, generator)
    low, high = (None if end is None else float.fromhex(end) for end in head.part("domain").values())
    if trial == 3 and "cosine" in head.part("geometry")["kind"]:
        return [[float(generator.randrange(1, 4)), 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 2.0, 1.0]]
    if head.prototypes and trial % 2:
        image[0] = [0.5, 0.0, 0.0]
        if low is not None and high is not None and head.part("geometry").get("radius") is None:
            image[2] = [low if 2 * x > low + high else high for x in head.prototypes[1]]
    return image


def _around(ends: arithmetic.Interval, generator: random.Random, wide: bool = False) -> arithmetic.Interval:
    widths = [generator.choice((Fraction(0), Fraction(1, 2**50), Fraction(1, 9))) for _ in range(2)]
    if wide:
        widths = generator.choice(([Fraction(0), Fraction(1, 9)], [Fraction(1, 9), Fraction(0)]))
    return Fraction(arithmetic.below(ends[0] - widths[0])), Fraction(arithmetic.above(ends[1] + widths[1]))


def _opened(ends: arithmetic.Interval, generator: random.Random | None) -> list[Fraction | None]:
    """The ends, most often without one of them."""
    side = 2 if generator is None else generator.choice((0, 0, 1, 1, 2))
    return [None if side == n else end for n, end in enumerate(ends)]


def holds(where: space.Space, ranges: space.Ranges, observables: list[arithmetic.Interval]) -> bool:
    """Whether the working observables lie in their ranges."""
    lower = [Fraction(int(low), 1 << where.bits) for low in ranges.lower]
    upper = None if ranges.upper is None else [Fraction(int(high), 1 << where.bits) for high in ranges.upper]
    for j, (least, greatest) in enumerate(observables):
        if where.head.geometry in ("cosine", "rooted_cosine"):
            square = sum(entry * entry for entry in where.vectors[j])
            near, far = (Fraction(isqrt(square << 400) + up, 1 << 200) for up in (0, 1))
            least, greatest = min(least * near, least * far), max(greatest * near, greatest * far)
        if lower[j] > greatest or (upper is not None and upper[j] < least):
            return False
    return True
