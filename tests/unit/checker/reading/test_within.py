"""Ranges within the exact ones: exact where they are rational, never beyond the enclosures, none of an empty range."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from support import files
from support.cases import every

from verale.checker.certificate import PatchStatement
from verale.checker.dyadic import dot
from verale.checker.errors import UnprovedError
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.facts import Target
from verale.checker.reading.masses import Simplex
from verale.checker.reading.points import Point, Points, exact_inverse
from verale.checker.reading.pooling import Pooling
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Ranges, Space

NEGATED: files.Part = {"similarity": {"kind": "negated"}, "domain": files.domain(-16.0, 16.0)}
PRODUCT: files.Part = {
    "geometry": {"kind": "inner_product", "radius": (2.0).hex()},
    "similarity": files.IDENTITY,
    "domain": files.domain(None, None),
}
COSINE: files.Part = {"geometry": files.cosine(0.0), "similarity": files.IDENTITY, "domain": files.domain(None, None)}
MASSES: files.Part = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}


def space(prototypes: files.Matrix, kernel: str = "arb", **parts: Any) -> Space:
    head = files.head([[1.0] * len(prototypes), [0.0] * len(prototypes)], prototypes, **parts)
    return Space(read_head(head), load_arithmetic(kernel))


def stated(prototype: int, low: float, high: float | None = None) -> PatchStatement:
    return PatchStatement(0, prototype, Fraction(low), Fraction(low if high is None else high))


def ends(where: Space, ranges: Ranges | None) -> list[tuple[Fraction | int, Fraction | int]]:
    assert ranges is not None and ranges.upper is not None
    unit = 1 << where.bits
    return [(Fraction(int(a), unit), Fraction(int(b), unit)) for a, b in zip(ranges.lower, ranges.upper, strict=True)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_rational_ends_of_equalities_are_exact(kernel: str) -> None:
    """A circle of radius 2 about (0, 0), seen from (3, 4): from 5 - 2 to 5 + 2 away; and a chord of the ball."""
    where = space([[0.0, 0.0], [3.0, 4.0]], kernel, **NEGATED)
    assert ends(where, QuadraticRule(where).within([stated(0, 4.0)])) == [(4, 4), (9, 49)]
    where = space([[2.0, 0.0], [3.0, 4.0], [6.0, 8.0]], kernel, **PRODUCT)
    half = [(0, 0), (-8, 8), (-16, 16)]
    assert ends(where, QuadraticRule(where).within([stated(0, 0.0)])) == half
    assert ends(where, QuadraticRule(where).within([stated(1, 0.0), stated(0, 0.0), stated(2, 0.0)])) == [(0, 0)] * 3


def test_irrational_ends_are_rounded_inward() -> None:
    where = space([[0.0, 0.0], [1.0, 1.0]], **NEGATED)
    (_, (low, high)) = ends(where, QuadraticRule(where).within([stated(0, 1.0)]))
    tiny = Fraction(1, 2 ** (where.bits - 1))
    for end, sign in ((low, -1), (high, 1)):  # (sqrt(2) +- 1)^2 = 3 +- 2 sqrt(2)
        half = (end - 3) / 2 * sign
        assert half**2 < 2 < (half + tiny) ** 2


CONTRADICTING = [
    ([[0.0, 0.0], [4.0, 0.0]], NEGATED, [stated(0, 1.0), stated(1, 1.0)]),
    ([[0.0, 0.0], [2.0, 0.0]], NEGATED, [stated(0, 0.0, 0.96875), stated(1, 0.0, 0.96875)]),
    ([[0.0, 0.0], [2.0, 0.0]], NEGATED, [stated(0, 4000.0)]),  # the domain ends before
    ([[1.0, 0.0], [0.0, 1.0]], COSINE, [stated(0, 0.75, 1.0), stated(1, 0.75, 1.0)]),
    ([[1.0, 0.0]], COSINE, [stated(0, 1.5, 2.0)]),
    ([[1.0, 0.0], [2.0, 0.0]], PRODUCT, [stated(0, 0.5), stated(1, 0.5)]),
    ([[1.0, 0.0], [0.0, 1.0]], PRODUCT, [stated(0, 1.5), stated(1, 1.5)]),
]


@every("kernel", KERNELS)
@every(("prototypes", "parts", "statements"), CONTRADICTING)
def test_nothing_is_found_where_statements_contradict(
    prototypes: files.Matrix, parts: files.Part, statements: list[PatchStatement], kernel: str
) -> None:
    where = space(prototypes, kernel, **parts)
    assert QuadraticRule(where).within(statements) is None
    if len(statements) > 1:
        assert all(QuadraticRule(where).within([each]) is not None for each in statements)


def test_masses_that_do_not_sum_to_one() -> None:
    where = Space(read_head(files.head([[1.0] * 3, [0.0] * 3], **MASSES)), load_arithmetic("arb"))
    within = Simplex(where).within
    for statements in (
        [stated(0, 0.75, 1.0), stated(1, 0.5, 1.0)],
        [stated(0, 0.0, 0.25), stated(1, 0.0, 0.25), stated(2, 0.0, 0.25)],
        [stated(0, -1.0, -0.5)],
        [stated(0, 1.5, 2.0)],
    ):
        assert within(statements) is None
    assert ends(where, within([stated(0, 0.5, 1.0)])) == [(Fraction(1, 2), 1), (0, Fraction(1, 2)), (0, Fraction(1, 2))]
    fine = Fraction(1, 2**200)
    unit = Fraction(1, 2**128)
    (low, high), _, _ = ends(where, within([PatchStatement(0, 0, fine, Fraction(1, 2) - fine)]))
    assert (low, high) == (unit, Fraction(1, 2) - unit)


def latents_and_statements(seed: int, geometry: str) -> tuple[Space, list[PatchStatement]]:
    generator = random.Random(seed)
    depth, count = generator.choice((1, 2, 3, 6)), 8
    rows = [[generator.uniform(-1, 1) for _ in range(depth)] for _ in range(count)]
    parts = {"euclidean": {"domain": files.domain(-1.0, 1.0)}, "cosine": COSINE, "product": PRODUCT}[geometry]
    where = space(rows, **parts)
    z = [generator.uniform(-1, 1) / depth for _ in range(depth)]
    statements = []
    for j in generator.sample(range(count), generator.randrange(1, 5)):
        product = sum(Fraction(a) * Fraction(b) for a, b in zip(z, rows[j], strict=True))
        if geometry == "euclidean":
            value = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(z, rows[j], strict=True))
        else:
            norms = [sum(Fraction(x) ** 2 for x in each) for each in (z, rows[j])]
            value = product if geometry == "product" else Fraction(float(product) / float(norms[0] * norms[1]) ** 0.5)
        width = Fraction(generator.choice((1e-15, 1e-9, 0.1)))
        statements.append(PatchStatement(0, j, Fraction(float(value - width)), Fraction(float(value + width))))
    return where, statements


@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "product"])
def test_whatever_points_are_told_ranges_lie_within_the_enclosures(
    geometry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also points that are somewhat elsewhere, in or out of what is stated: each is checked."""
    found, generator, least = 0, random.Random(geometry), Points.least

    def moved(self: Points, target: Target, held: Mapping[int, int]) -> Point | None:
        point = least(self, target, held)
        if point is None or generator.random() < 0.8:
            return point
        size = max(map(abs, point.vector)) >> generator.choice((2, 30, 60))
        vector = [entry + generator.randrange(-size, size + 1) for entry in point.vector]
        return Point(
            point.unit, point.square + generator.choice((0, point.square >> 40, -(point.square >> 40))), vector
        )

    for seed in range(60):
        where, statements = latents_and_statements(seed, geometry)
        rule = QuadraticRule(where)
        observed = Pooling(where).observed(rule.ranges(statements))
        lower, upper = observed.lower, observed.upper
        if seed == 30:
            monkeypatch.setattr(Points, "least", moved)
        ranges = rule.within(statements)
        if ranges is None:
            continue
        found += 1
        assert ranges.upper is not None and upper is not None
        for low, a, b, high in zip(lower, ranges.lower, ranges.upper, upper, strict=True):
            assert low <= a and b <= high
    assert found > 40


def test_the_exact_inverse_is_one() -> None:
    generator = random.Random(1)
    for size in range(1, 7):
        rows = [[generator.randrange(-9, 10) for _ in range(7)] for _ in range(size)]
        curves = [1] + [generator.choice((0, 1)) for _ in rows[1:]]
        matrix = [[0, *curves]]
        matrix += [[a, *(dot(one, other) for other in rows)] for a, one in zip(curves, rows, strict=True)]
        found = exact_inverse(matrix)
        assert found is not None and found[1] > 0
        for i, row in enumerate(found[0]):
            assert [dot(row, column) for column in zip(*matrix, strict=True)] == [
                found[1] * (i == j) for j in range(size + 1)
            ]
    assert exact_inverse([[0, 1, 1], [1, 2, 2], [1, 2, 2]]) is None


def test_an_exact_inverse_looks_at_the_clock() -> None:
    where = space([[float(i == j) for j in range(8)] for i in range(8)], **PRODUCT)
    statements = [stated(j, 0.25) for j in range(8)]
    assert QuadraticRule(where).within(statements) is not None
    where.arithmetic.clock.start(1e-9)
    with pytest.raises(UnprovedError, match="more than"):
        exact_inverse([[0, 1, 1], [1, 2, 1], [1, 1, 2]], where.arithmetic.clock.look)
