"""The ball of a patch: it holds what is true, whatever the frame, and is nearly the best where intervals are narrow."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from checker_mutants.attacks.extremes import holds, true_ends
from support import files
from support.cases import case

from verale.checker.certificate import PatchStatement
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.ball import Frame, enclosures
from verale.checker.reading.facts import Facts
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Ranges, Space
from verale.checker.reading.weights import Weights

GEOMETRIES = ("euclidean", "cosine", "inner_product")
Truths = list[tuple[Fraction, Fraction]]


def drawn(
    generator: random.Random, geometry: str, widths: tuple[float, ...], scale: float = 1.0
) -> tuple[Space, list[PatchStatement], Truths]:
    """A head, true statements about some of its prototypes, and the observables."""
    depth = generator.choice((1, 2, 5))
    rows = [[scale * generator.uniform(-1, 1) for _ in range(depth)] for _ in range(7)]
    if generator.random() < 0.3:
        rows[1] = [x * (1 + 2.0**-40) for x in rows[0]]
    kind = files.cosine(0.0) if geometry == "cosine" else {"kind": geometry, "radius": None}
    changes = {} if geometry == "euclidean" else {"geometry": kind, "similarity": files.IDENTITY}
    data = files.head([[1.0] * 7, [0.0] * 7], rows, domain=files.domain(-2.0 * scale, 2.0 * scale), **changes)
    z = [scale * generator.uniform(-2, 2) for _ in range(depth)]
    truths = [true_ends(geometry, z, row) for row in rows]
    stated = []
    for j in generator.sample(range(7), generator.randrange(1, 7)):
        low, high = truths[j]
        below, above = (Fraction(generator.choice(widths)) * (abs(low) + 1) for _ in "lh")
        stated.append(PatchStatement(0, j, low - below, high + above))
    return Space(read_head(data), load_arithmetic("arb")), stated, truths


def ranges(facts: Facts, frame: Frame) -> Ranges:
    ends = enclosures(facts, frame)
    return Ranges([low for low, _ in ends], [high for _, high in ends])


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_it_holds_what_is_true_whatever_the_frame(geometry: str) -> None:
    generator = random.Random(geometry)
    for trial in range(60):
        with case(trial):
            scale = generator.choice((1.0, 1.0, 2.0**90, 2.0**-90))
            space, stated, truths = drawn(generator, geometry, (0.0, 1e-9, 0.1, 3.0), scale)
            facts = Facts(space, stated)
            frame = Weights(facts).frame()
            assert holds(space, ranges(facts, frame), truths)
            off = [[w * generator.choice((-1, 0, 1, 2, 3)) >> 1 for w in row] for row in (frame.foot, *frame.basis)]
            assert holds(space, ranges(facts, replace(frame, foot=off[0], basis=off[1:])), truths)
            assert holds(space, ranges(facts, Frame([0] * len(facts.ends), 0, [], 0)), truths)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_it_is_nearly_the_best_where_intervals_are_narrow(geometry: str) -> None:
    generator, narrow = random.Random(geometry), 0
    for trial in range(30):
        with case(trial):
            space, stated, _ = drawn(generator, geometry, (0.0, 1e-9))
            facts = Facts(space, stated)
            of_ball, best = ranges(facts, Weights(facts).frame()), QuadraticRule(space).ranges(stated)
            assert of_ball.upper is not None and best.upper is not None
            unit = max(map(max, zip(map(abs, best.lower), map(abs, best.upper), strict=True))) >> 8
            for k in range(7):
                if (best.lower[k], best.upper[k]) != (space.domain.lower[k], (space.domain.upper or [])[k]):
                    narrow += of_ball.lower[k] + unit >= best.lower[k] and of_ball.upper[k] - unit <= best.upper[k]
    assert narrow > 100
