"""The rule of the geometric paradigms: true observables lie inside, whatever the weights; and the ends are attained."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from operator import le
from typing import Any

import mpmath
import pytest
from support import arithmetic, files
from support.cases import case, every, named
from support.rationals import cosine_ends, root
from support.trials import holds

from verale.checker.certificate import PatchStatement
from verale.checker.dyadic import dot
from verale.checker.errors import UnprovedError
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.facts import Facts, Frame, Target, enclosures
from verale.checker.reading.points import Point, Points, exact_inverse
from verale.checker.reading.pooling import Pooling
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Ranges, Space
from verale.checker.reading.weights import Weights, _Ascent

Matrix = list[list[float]]
Truths = list[tuple[Fraction, Fraction]]
GEOMETRIES = ("euclidean", "cosine", "inner_product")
WIDTHS = (0.0, 1e-12, 1e-9, 1e-3, 0.1, 0.5, 2.0)
SCALES = (1.0, 1.0, 2.0**490, 2.0**-90, 2.0**-1070)
"""The last one is that of numbers of a few bits."""


def space(
    rows: Matrix,
    geometry: str = "euclidean",
    lower: float | None = None,
    upper: float | None = None,
    radius: float | None = None,
    kernel: str = "arb",
    epsilon: float = 0.0,
) -> Space:
    changes = {"domain": files.domain(lower, upper)}
    if geometry == "inner_product":
        ball = {"kind": geometry, "radius": None if radius is None else radius.hex()}
        changes |= {"geometry": ball, "similarity": files.IDENTITY}
    if geometry == "cosine":
        changes |= {"geometry": files.cosine(epsilon), "similarity": files.IDENTITY}
    weight = [[1.0] * len(rows), [0.0] * len(rows)]
    return Space(read_head(files.head(weight, rows, **changes)), load_arithmetic(kernel))


def true_ends(geometry: str, z: list[float], row: list[float]) -> arithmetic.Interval:
    """An enclosure of an observable of one patch."""
    if geometry == "cosine":
        return cosine_ends(z, row, 0.0)
    value = (arithmetic.product if geometry == "inner_product" else arithmetic.squared_distance)(z, row)
    return value, value


def gauss(generator: random.Random, rows: int, depth: int, scale: float = 1.0) -> Matrix:
    return [[generator.gauss(0, scale) for _ in range(depth)] for _ in range(rows)]


def frame(rows: list[mpmath.matrix]) -> list[mpmath.matrix]:
    """An orthonormal basis of the span of the rows (50 digits)."""
    basis: list[mpmath.matrix] = []
    for row in rows:
        _, rest = split(row, basis)
        if mpmath.norm(rest) > mpmath.mpf(10) ** -30:
            basis.append(rest / mpmath.norm(rest))
    return basis


def split(vector: mpmath.matrix, basis: list[mpmath.matrix]) -> tuple[mpmath.matrix, mpmath.matrix]:
    along = mpmath.zeros(len(vector), 1)
    for direction in basis:
        along += direction * (direction.T * vector)[0]
    return along, vector - along


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("anchors", [1, 2, 4])
@pytest.mark.parametrize(
    ("geometry", "domain"),
    [
        ("euclidean", (None, None, None)),
        ("cosine", (None, None, None)),
        ("inner_product", (None, None, 3.0)),
        ("inner_product", (-1.0, 3.0, None)),
    ],
    ids=["euclidean", "cosine", "ball", "box"],
)
def test_ends_are_attained(
    geometry: str, domain: tuple[float | None, float | None, float | None], anchors: int, kernel: str
) -> None:
    """Latents built for the purpose satisfy exact statements and reach each end within 1e-9, but where the domain's own
    end is nearer."""
    generator, depth = random.Random(anchors), anchors + 2
    with mpmath.workdps(60):
        for _ in range(2):
            rows = gauss(generator, 9, depth)
            rows[anchors] = rows[0] if geometry == "euclidean" else [2 * x for x in rows[0]]
            z = [generator.uniform(-0.9, 1.2) for _ in range(depth)]
            where, truths = space(rows, geometry, *domain, kernel), [true_ends(geometry, z, row) for row in rows]
            result = QuadraticRule(where).ranges([PatchStatement(0, j, *truths[j]) for j in range(anchors)])
            assert result.upper is not None
            targets, y = [mpmath.matrix(row) for row in rows], mpmath.matrix(z)
            middle = mpmath.matrix([1.0 if domain[0] else 0.0] * depth)
            if geometry == "euclidean":
                middle = targets[0]
            elif geometry == "cosine":
                y = y / mpmath.norm(y)
            basis = frame([row - middle if geometry == "euclidean" else row for row in targets[:anchors]])
            foot, free = split(y - middle, basis)
            reach = mpmath.norm(free)
            if geometry == "inner_product":
                radius = domain[2] or 2 * mpmath.sqrt(depth)
                reach = mpmath.sqrt(radius**2 - mpmath.norm(foot) ** 2)
            for k, row in enumerate(targets):
                _, height = split(row - middle if geometry == "euclidean" else row, basis)
                height = height if mpmath.norm(height) > mpmath.mpf(10) ** -30 else free
                moves = [middle + foot + sign * reach * height / mpmath.norm(height) for sign in (-1, 1)]
                if geometry == "euclidean":
                    low, high = sorted(mpmath.norm(each - row) ** 2 for each in moves)
                else:
                    low, high = sorted((each.T * row)[0] for each in moves)
                unit, size = mpmath.mpf(2) ** where.bits, mpmath.mpf(1)
                if geometry == "cosine":  # the working observable is that of the prototype as integers
                    unit, size = unit * 2**where.head.prototypes.bits, mpmath.norm(row)
                low = max(low, where.domain.lower[k] / unit)
                high = high if where.domain.upper is None else min(high, where.domain.upper[k] / unit)
                assert abs(low - result.lower[k] / unit) < 1e-9 * size
                assert abs(high - result.upper[k] / unit) < 1e-9 * size


def drawn(
    generator: random.Random, geometry: str, widths: tuple[float, ...], scale: float = 1.0, kernel: str = "arb"
) -> tuple[Space, list[PatchStatement], Truths]:
    """A head, often of one dimension or with prototypes that are nearly alike; true statements about some of its
    prototypes; and the observables."""
    depth, count = generator.choice((1, 1, 2, 3, 8)), generator.choice((3, 7, 12))
    rows = [[scale * generator.uniform(-1, 1) or scale for _ in range(depth)] for _ in range(count)]
    if generator.random() < 0.3:
        rows[1], rows[2] = rows[0], [2 * x for x in rows[0]]
    if generator.random() < 0.3:
        rows[-1] = [x * (1 + generator.choice((2.0**-52, 2.0**-40))) for x in rows[0]]
    z = [scale * generator.uniform(-2, 2) or scale for _ in range(depth)]
    truths, statements = [true_ends(geometry, z, row) for row in rows], []
    for j in generator.sample(range(count), count - 1):
        low, high = truths[j]
        below, above = (Fraction(generator.choice(widths) * generator.random()) * (abs(low) + 1) for _ in "lh")
        statements.append(PatchStatement(0, j, low - below, high + above))
    domain = (None, None) if geometry == "unbounded" else (-2.0 * scale, 2.0 * scale)
    geometry = "euclidean" if geometry == "unbounded" else geometry
    return space(rows, geometry, *domain, kernel=kernel), statements, truths


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_any_weights_are_sound(geometry: str, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With bad ones the range is wide, and still holds the truth."""
    generator, good = random.Random(15), Weights.best

    def poor(self: Weights, target: Target) -> list[int]:
        size = generator.choice((0.0, 1e-9, 0.3, 5.0))
        return [int(w * (1 + Fraction(generator.gauss(0, size)))) for w in good(self, target)]

    monkeypatch.setattr(Weights, "best", poor)
    for _ in range(9):
        where, statements, truths = drawn(generator, geometry, WIDTHS, kernel=kernel)
        assert holds(where, QuadraticRule(where).ranges(statements), truths)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_combinations_hold_the_truth_and_are_tighter_than_sums(geometry: str, kernel: str) -> None:
    generator, tighter = random.Random(21), 0
    for _ in range(12):
        where, statements, truths = drawn(generator, geometry, WIDTHS, kernel=kernel)
        shares = {k: generator.randrange(-9, 10) for k in range(3)}
        quadratic = QuadraticRule(where)
        least, ranges = partial(quadratic.combination, statements[:2]), quadratic.ranges(statements[:2])
        low, high = least(shares), -least({k: -share for k, share in shares.items()})
        assert ranges.upper is not None
        sums = [Fraction(0)] * 4
        for k, share in shares.items():
            sides = [Fraction(end, 1 << where.bits) * share for end in (ranges.lower[k], ranges.upper[k])]
            lengths = root(Fraction(where.squares[k])) if geometry == "cosine" else (1, 1)
            ends = [end * length * share for end in truths[k] for length in lengths]
            sums = [a + b for a, b in zip(sums, (min(ends), max(ends), min(sides), max(sides)), strict=True)]
        assert low <= sums[1] and sums[0] <= high
        tighter += high - low < sums[3] - sums[2]
    assert tighter > 3


def of_ball(facts: Facts, frame: Frame) -> Ranges:
    ends = enclosures(facts, frame)
    return Ranges([low for low, _ in ends], [high for _, high in ends])


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_ball_holds_what_is_true_whatever_the_frame(geometry: str) -> None:
    generator = random.Random(geometry)
    for trial in range(30):
        with case(trial):
            scale, widths = generator.choice((1.0, 1.0, 2.0**90, 2.0**-90)), generator.choice(((0.0,), WIDTHS))
            where, statements, truths = drawn(generator, geometry, widths, scale)
            facts = Facts(where, statements[: generator.randrange(1, len(statements) + 1)])
            frame = Weights(facts, quick=True).frame()
            for times in (1, 2, 3):  # the basis is orthonormal, and is not
                basis = [[times * w for w in row] for row in frame.basis]
                assert holds(where, of_ball(facts, Frame(frame.foot, frame.foot_places, basis, frame.places)), truths)
            foot, *basis = [
                [w * generator.choice((-1, 0, 1, 2, 3)) >> 1 for w in row] for row in (frame.foot, *frame.basis)
            ]
            assert holds(where, of_ball(facts, Frame(foot, frame.foot_places, basis, frame.places)), truths)
            assert holds(where, of_ball(facts, Frame([0] * len(facts.ends), 0, [], 0)), truths)


def test_statements_that_nothing_satisfies_do_no_harm() -> None:
    far, near = (Fraction(9), Fraction(10)), (Fraction(0), Fraction(1))
    statements = [PatchStatement(0, 0, *near), PatchStatement(0, 1, *far), PatchStatement(0, 2, *far)]
    for geometry in GEOMETRIES:
        where = space([[0.5, 0.25], [0.5, 0.25], [1.0, -1.0]], geometry, -9.0, 9.0)
        assert len(QuadraticRule(where).ranges(statements).lower) == 3


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_quick_weights_are_sound_and_prove_no_more_than_the_best(geometry: str) -> None:
    """And nearly as much where intervals are narrow."""
    generator, near = random.Random(f"quick {geometry}"), 0
    for trial in range(16):
        with case(trial):
            where, statements, truths = drawn(generator, geometry, (0.0, 1e-9) if trial % 2 else WIDTHS)
            quick, best = (QuadraticRule(where).ranges(statements, quick) for quick in (True, False))
            assert holds(where, quick, truths)
            assert quick.upper is not None and best.upper is not None
            slack = 1 + (max(map(abs, (*best.lower, *best.upper))) >> 100)
            assert all(a <= b + slack for a, b in zip(quick.lower, best.lower, strict=True))
            assert all(a >= b - slack for a, b in zip(quick.upper, best.upper, strict=True))
            ends = zip(quick.lower, quick.upper, best.lower, best.upper, strict=True)
            near += all(least - low + high - most <= (most - least) >> 8 for low, high, least, most in ends)
    assert near > 2


@pytest.mark.parametrize("quick", [False, True])
def test_weights_that_are_no_numbers_are_0(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the first fact gives a bound."""
    nothing = math.nan if quick else Decimal("NaN")
    monkeypatch.setattr(_Ascent, "ascend", lambda self: self.weights.__setitem__(0, nothing))
    where, statements, truths = drawn(random.Random(3), "cosine", (0.0,))
    facts = Facts(where, statements)
    assert not any(Weights(facts, quick).best(facts.target({0: 1})))
    assert holds(where, QuadraticRule(where).ranges(statements, quick), truths)


# What certainly lies within the ranges: exact where it is rational, and nothing of an empty range.


BOX: dict[str, Any] = {"geometry": "euclidean", "lower": -16.0, "upper": 16.0}
BALL: dict[str, Any] = {"geometry": "inner_product", "radius": 2.0}


def of(prototype: int, low: float, high: float | None = None) -> PatchStatement:
    return PatchStatement(0, prototype, Fraction(low), Fraction(low if high is None else high))


def ends(where: Space, ranges: Ranges | None) -> list[tuple[Fraction, Fraction]]:
    assert ranges is not None and ranges.upper is not None
    unit = 1 << where.bits
    return [(Fraction(low, unit), Fraction(high, unit)) for low, high in zip(ranges.lower, ranges.upper, strict=True)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_rational_ends_of_equalities_are_exact(kernel: str) -> None:
    """A circle of radius 2 about (0, 0), seen from (3, 4): from 5 - 2 to 5 + 2 away; and a chord of the ball."""
    where = space([[0.0, 0.0], [3.0, 4.0]], **BOX, kernel=kernel)
    assert ends(where, QuadraticRule(where).within([of(0, 4.0)])) == [(4, 4), (9, 49)]
    where = space([[2.0, 0.0], [3.0, 4.0], [6.0, 8.0]], **BALL, kernel=kernel)
    half = [(0, 0), (-8, 8), (-16, 16)]
    assert ends(where, QuadraticRule(where).within([of(0, 0.0)])) == half
    assert ends(where, QuadraticRule(where).within([of(1, 0.0), of(0, 0.0), of(2, 0.0)])) == [(0, 0)] * 3


def test_irrational_ends_are_rounded_inward() -> None:
    where = space([[0.0, 0.0], [1.0, 1.0]], **BOX)
    (_, (low, high)) = ends(where, QuadraticRule(where).within([of(0, 1.0)]))
    tiny = Fraction(1, 2 ** (where.bits - 1))
    for end, sign in ((low, -1), (high, 1)):  # (sqrt(2) +- 1)^2 = 3 +- 2 sqrt(2)
        half = (end - 3) / 2 * sign
        assert half**2 < 2 < (half + tiny) ** 2


CONTRADICTING = [
    ([[0.0, 0.0], [4.0, 0.0]], BOX, [of(0, 1.0), of(1, 1.0)]),
    ([[0.0, 0.0], [2.0, 0.0]], BOX, [of(0, 0.0, 0.96875), of(1, 0.0, 0.96875)]),
    ([[0.0, 0.0], [2.0, 0.0]], BOX, [of(0, 4000.0)]),  # the domain ends before
    ([[1.0, 0.0], [0.0, 1.0]], {"geometry": "cosine"}, [of(0, 0.75, 1.0), of(1, 0.75, 1.0)]),
    ([[1.0, 0.0]], {"geometry": "cosine"}, [of(0, 1.5, 2.0)]),
    ([[1.0, 0.0], [2.0, 0.0]], BALL, [of(0, 0.5), of(1, 0.5)]),
    ([[1.0, 0.0], [0.0, 1.0]], BALL, [of(0, 1.5), of(1, 1.5)]),
]


@every("kernel", KERNELS)
@every(("prototypes", "parts", "statements"), CONTRADICTING)
def test_nothing_is_found_where_statements_contradict(
    prototypes: Matrix, parts: dict[str, Any], statements: list[PatchStatement], kernel: str
) -> None:
    where = space(prototypes, **parts, kernel=kernel)
    assert QuadraticRule(where).within(statements) is None
    if len(statements) > 1:
        assert all(QuadraticRule(where).within([each]) is not None for each in statements)


@named(*KERNELS)
@pytest.mark.parametrize("geometry", ["unbounded", *GEOMETRIES])
def test_ranges_hold_the_truth_and_what_lies_within(geometry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of statements that have one end or two. In the second half points are somewhat elsewhere, in or out of what is
    stated: each is checked."""
    found, generator, least = 0, random.Random(geometry), Points.least

    def moved(self: Points, target: Target, held: Mapping[int, int]) -> Point | None:
        point = least(self, target, held)
        if point is None or generator.random() < 0.8:
            return point
        size = max(map(abs, point.vector)) >> generator.choice((2, 30, 60))
        vector = [entry + generator.randrange(-size, size + 1) for entry in point.vector]
        off = generator.choice((0, point.square >> 40, -(point.square >> 40)))
        return Point(point.unit, point.square + off, vector)

    for trial in range(40):
        with case(trial):
            scale = generator.choice(SCALES)
            where, statements, truths = drawn(generator, geometry, WIDTHS[1:], scale, KERNELS[trial % 2])
            sides = generator.choice(("b", "lb", "hb", "l", "h", "lh"))
            group = []
            for s in statements[: generator.randrange(1, 5)]:
                side = generator.choice(sides)
                group.append(replace(s, **{"l": {"upper": None}, "h": {"lower": None}, "b": {}}[side]))
            if trial == 20:
                monkeypatch.setattr(Points, "least", moved)
            rule = QuadraticRule(where)
            ranges = rule.ranges(group)
            assert holds(where, ranges, truths)
            assert (ranges.upper is None) == (geometry == "unbounded" and all(s.upper is None for s in group))
            outer, inner = Pooling(where).observed(ranges), rule.within(group)
            if inner is not None:
                found += 1
                assert all(map(le, outer.lower, inner.lower))
                assert (inner.upper is None) == (outer.upper is None)
                assert all(map(le, inner.upper or [], outer.upper or []))
    assert found > 15


def test_the_exact_inverse_is_one_and_looks_at_the_clock() -> None:
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
    clock = load_arithmetic("arb").clock
    clock.start(1e-9)
    with pytest.raises(UnprovedError, match="more than"):
        exact_inverse([[0, 1, 1], [1, 2, 1], [1, 1, 2]], clock.look)


@pytest.mark.parametrize("kernel", KERNELS)
def test_ends_that_are_known(kernel: str) -> None:
    """On a line: at least 3 away from 0 is at least 2 away from 1; at most 1 away from it is at most 2 away from 1."""
    where = space([[0.0], [1.0]], kernel=kernel)
    rule, unit = QuadraticRule(where), 1 << where.bits
    ranges = rule.ranges([PatchStatement(0, 0, Fraction(9), None)])
    assert ranges.upper is None
    assert [round(end / unit, 6) for end in map(int, ranges.lower)] == [9, 4]
    both = [PatchStatement(0, 0, Fraction(9), None), PatchStatement(0, 1, Fraction(25, 4), None)]
    assert [round(int(end) / unit, 6) for end in rule.ranges(both).lower] == [9, 6.25]
    ranges = rule.ranges([PatchStatement(0, 0, None, Fraction(1))])
    assert ranges.upper is not None
    assert [round(int(end) / unit, 6) for end in (*ranges.lower, *ranges.upper)] == [0, 0, 1, 4]
    apart = [PatchStatement(0, 0, None, Fraction(1)), PatchStatement(0, 1, Fraction(9, 4), None)]
    ranges = rule.ranges(apart)
    assert ranges.upper is not None
    assert [round(int(end) / unit, 6) for end in (*ranges.lower, *ranges.upper)] == [0.25, 2.25, 1, 4]
    inner = QuadraticRule(space([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]], kernel=kernel)).within(apart)
    assert inner is not None and inner.upper is not None
    assert [round(int(end) / unit, 6) for end in (*inner.lower[:2], *inner.upper[:2])] == [0.25, 2.25, 1, 4]


def test_combinations_are_bounded_over_bounded_domains_alone() -> None:
    rule = QuadraticRule(space([[0.0], [1.0]]))
    with pytest.raises(ValueError, match="unbounded domain"):
        rule.combination([PatchStatement(0, 0, Fraction(1), None)], {0: 1})
    rule = QuadraticRule(space([[0.0], [1.0]], "euclidean", -1.0, 1.0))
    least = partial(rule.combination, [PatchStatement(0, 0, Fraction(1, 4), None)])
    low, high = least({0: 2}), -least({0: -2})
    assert Fraction(1, 2) - Fraction(1, 2**40) < low <= Fraction(1, 2) and 2 <= high < 2 + Fraction(1, 2**40)
