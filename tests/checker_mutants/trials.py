"""Heads, latents and true statements about them, with the truth in rational ends."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import flint
from checker_mutants.mutant import Import
from support import arithmetic, files
from support.exact import Head as ExactHead
from support.recipes import COUNT, PATCHES, all_recipes, draw_head, draw_image

__all__ = ["Trial", "set_grid", "trials"]


@dataclass(frozen=True)
class Trial:
    """A head, latents, statements true of them, and the truth in rational ends."""

    data: bytes
    image: files.Matrix
    statements: list[tuple[int, int, Fraction | None, Fraction | None]]
    observables: list[list[tuple[Fraction, Fraction]]]
    activations: list[tuple[Fraction, Fraction]]
    logits: list[list[tuple[Fraction, Fraction]]]
    pooled: list[tuple[int, Fraction | None, Fraction | None]]


@cache
def trials() -> list[Trial]:
    """Heads of every part; one observable in three is stated, by intervals narrow and wide. Of recipes of open ends
    most have one end."""
    result = []
    with flint.ctx.workprec(arithmetic.PRECISION):
        for number, recipe in enumerate(all_recipes()):
            generator = random.Random(f"trial {recipe.name}")
            for trial in range(12 if recipe.paradigm == "assignment" else 4):
                head = draw_head(recipe, generator)
                if recipe.similarity == "threshold":
                    head.parts["similarity"] = {"kind": "threshold", "threshold": generator.choice((0.3, 0.17)).hex()}
                image = _drawn(head, generator, trial)
                values = head.at(image)
                activations, logits = values.activations, values.logits
                observables = [list(map(arithmetic.ends, row)) for row in values.observables]
                opened = random.Random(f"open {recipe.name} {trial}") if "open" in recipe.options else None
                stated = []
                for patch, j in generator.sample(list(product(range(PATCHES), range(COUNT))), (number + 3 * trial) % 8):
                    low, high = _around(observables[patch][j], generator, trial == 2)
                    stated.append((patch, j, *_opened(low, high, opened)))
                pooled = [
                    (j, *_opened(*_around(arithmetic.ends(activations[j]), generator), opened))
                    for j in range(0, COUNT, 2)
                ]
                differences = [[arithmetic.ends(arithmetic.ball(one - other)) for other in logits] for one in logits]
                result.append(
                    Trial(
                        head.data,
                        image,
                        stated,
                        observables,
                        list(map(arithmetic.ends, activations)),
                        differences,
                        pooled,
                    )
                )
    return result


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


def _around(ends: tuple[Fraction, Fraction], generator: random.Random, wide: bool = False) -> tuple[Fraction, Fraction]:
    widths = [generator.choice((Fraction(0), Fraction(1, 2**50), Fraction(1, 9))) for _ in range(2)]
    if wide:
        widths = generator.choice(([Fraction(0), Fraction(1, 9)], [Fraction(1, 9), Fraction(0)]))
    return Fraction(arithmetic.below(ends[0] - widths[0])), Fraction(arithmetic.above(ends[1] + widths[1]))


def _opened(low: Fraction, high: Fraction, generator: random.Random | None) -> tuple[Fraction | None, Fraction | None]:
    """The ends, most often without one of them."""
    side = 2 if generator is None else generator.choice((0, 0, 1, 1, 2))
    return None if side == 0 else low, None if side == 1 else high


def set_grid(module: Import, least: int, below: int, weights: int) -> None:
    module("reading.space")._LEAST_BITS, module("reading.space")._BITS_BELOW_GRAM = least, below
    module("reading.weights").Weights.places = weights
