"""The head over a box of latents: what it says holds at every point of the box that is tried, and is narrow for a box
that is narrow."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest
from support import arithmetic, files
from support.exact import Head
from support.recipes import COUNT, PATCHES, all_recipes, draw_head, draw_image

from verale.checker.certificate import FloorStatement, OrderStatement
from verale.checker.dyadic import ceil_at, exact, floor_at
from verale.checker.head import read_head
from verale.checker.network.enclosure import EnclosedLatents
from verale.checker.options import load_arithmetic
from verale.checker.reading.evaluation import Evaluation
from verale.checker.reading.space import Space

BITS = 80


def heads() -> dict[str, Any]:
    """One recipe for each head that they have."""
    found: dict[str, Any] = {}
    for recipe in all_recipes():
        own = replace(recipe, paradigm="top_k", width=0.0)
        if recipe.patches == PATCHES:
            found.setdefault(str((own.parts, "scaled" in own.options)), own)
    return {f"{recipe.name[len('accept/top_k-') :]}-{n}": recipe for n, recipe in enumerate(found.values())}


HEADS = heads()


def box_around(image: files.Matrix, width: Fraction, bits: int = BITS) -> EnclosedLatents:
    lower = [[floor_at(Fraction(x) - width, bits) for x in z] for z in image]
    return EnclosedLatents(lower, [[ceil_at(Fraction(x) + width, bits) for x in z] for z in image], bits)


def points(box: EnclosedLatents, generator: random.Random) -> list[list[list[Any]]]:
    """Corners and other points of a box, in balls that are points."""
    unit = flint.arb(2) ** box.bits

    def point(pick: Any) -> list[list[Any]]:
        rows = zip(box.lower, box.upper, strict=True)
        return [[flint.arb(pick(low, high)) / unit for low, high in zip(*row, strict=True)] for row in rows]

    corners = [point(min), point(max), *(point(lambda *ends: generator.choice(ends)) for _ in range(2))]
    return [*corners, *(point(generator.randint) for _ in range(2))]


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        *(pytest.param(name, "arb", marks=[pytest.mark.long] * (n % 2)) for n, name in enumerate(HEADS)),
        *(pytest.param(name, "mpmath", marks=[pytest.mark.long] * (n % 4 != 1)) for n, name in enumerate(HEADS)),
    ],
)
def test_holds_everywhere_in_a_box(name: str, kernel: str) -> None:
    generator = random.Random(name)
    with flint.ctx.workprec(arithmetic.PRECISION):
        head = draw_head(HEADS[name], generator)
        image = draw_image(head, generator)
        space = Space(read_head(head.data), load_arithmetic(kernel))
        for width in (Fraction(0), Fraction(1, 2**30), Fraction(1, 64), Fraction(1, 2)):
            box = box_around(image, width)
            evaluation = Evaluation(space, box)
            for point in points(box, generator):
                require_held(head, point, evaluation)


def require_held(head: Head, point: list[list[Any]], evaluation: Evaluation) -> None:
    if any(not any(x != 0 for x in z) for z in point):
        return  # a cosine may be undefined there
    activations = evaluation.activations(128)
    for patch, j in product(range(PATCHES), range(COUNT)):
        low, high = evaluation.observable(patch, j, 128)
        require_within(head.observable(point[patch], j), low, high)
    for j in range(COUNT):
        a = head.activation(point, j)
        require_within(a, Fraction(activations.lower[j], 2**128), Fraction(activations.upper[j], 2**128))
    others, unit = tuple(range(2, COUNT)), 2**128
    most = evaluation.bounded(OrderStatement(others, Fraction(0)), 128)
    assert most == (Fraction(max(activations.lower[:2]), unit), Fraction(max(activations.upper[:2]), unit))
    least = evaluation.bounded(FloorStatement(others, Fraction(0)), 128)
    assert least == (Fraction(min(activations.lower[:2]), unit), Fraction(min(activations.upper[:2]), unit))


def require_within(value: Any, low: Fraction, high: Fraction) -> None:
    least, greatest = arithmetic.ends(value)
    assert low <= greatest and least <= high


@pytest.mark.parametrize("name", HEADS)
def test_of_one_point_it_is_the_evaluation_at_it(name: str) -> None:
    generator = random.Random(name)
    with flint.ctx.workprec(arithmetic.PRECISION):
        head = draw_head(HEADS[name], generator)
        image = draw_image(head, generator)
    space = Space(read_head(head.data), load_arithmetic("arb"))
    over, at = (
        Evaluation(space, box_around(image, Fraction(0))),
        Evaluation(space, EnclosedLatents.exactly(exact(files.flat(image), len(image[0])))),
    )
    rounding = Fraction(1, 2**110)
    for patch, j in product(range(PATCHES), range(COUNT)):
        pairs = zip(over.observable(patch, j, 128), at.observable(patch, j, 128), strict=True)
        assert all(abs(one - other) <= rounding for one, other in pairs)
    boxes = over.activations(128), at.activations(128)
    for one, other in ((boxes[0].lower, boxes[1].lower), (boxes[0].upper, boxes[1].upper)):
        assert all(abs(x - y) <= 2**18 for x, y in zip(one, other, strict=True))


def test_a_cosine_near_zero_stays_within_one() -> None:
    """The quotient alone says nothing there."""
    head = read_head(files.head([[1.0], [0.0]], [[3.0, 4.0]], geometry=files.cosine(0.0), similarity=files.IDENTITY))
    space = Space(head, load_arithmetic("arb"))
    around = Evaluation(space, EnclosedLatents([[-1, -1]], [[1, 2]], 40))
    assert around.observable(0, 0, 128) == (-1, 1)
    tiny = Evaluation(space, EnclosedLatents([[1, 1]], [[1, 1]], 4000))
    low, high = tiny.observable(0, 0, 128)
    assert low <= Fraction(7, 5) / Fraction(141421356, 10**8) + Fraction(1, 10**8) and high <= 1
