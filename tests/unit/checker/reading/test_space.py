"""The domain's own ranges: every latent of the domain lies inside, corners attain the ends."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import mpmath
import pytest
from support import arithmetic, files
from support.cases import every

from verale.checker.certificate import PatchStatement
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading import space as space_module
from verale.checker.reading.facts import intervals
from verale.checker.reading.space import Space

WEIGHT = [[1.0] * 4, [0.0] * 4]


def euclidean(prototypes: list[list[float]], lower: float | None, upper: float | None, kernel: str = "mpmath") -> Space:
    return Space(read_head(files.head(WEIGHT, prototypes, domain=files.domain(lower, upper))), load_arithmetic(kernel))


def points(scale: float, seed: int, depth: int = 3) -> list[list[float]]:
    generator = random.Random(seed)
    return [[generator.gauss(0, scale) for _ in range(depth)] for _ in range(4)]


@every("kernel", KERNELS)
@every(("lower", "upper"), [(-0.3, 0.7), (0.0, 1e-300), (-5e-324, 5e-324), (-1e200, 0.1), (2.0, 3.0)])
@every("scale", [1.0, 1e-200, 1e200])
def test_euclidean_box(lower: float, upper: float, scale: float, kernel: str) -> None:
    rows = points(scale, 1)
    where = euclidean(rows, lower, upper, kernel)
    assert where.domain.upper is not None
    for row, low, high in zip(rows, where.domain.lower, where.domain.upper, strict=True):
        corners = [
            arithmetic.squared_distance(list(corner), row) for corner in itertools.product((lower, upper), repeat=3)
        ]
        nearest = arithmetic.squared_distance([min(max(x, lower), upper) for x in row], row)
        for truth, end, sign in ((nearest, low, 1), (max(corners), high, -1)):
            assert 0 <= sign * (truth * 2**where.bits - int(end)) < 1


def test_euclidean_half_boxes() -> None:
    rows = [[1.0, -2.0]] * 4
    assert euclidean(rows, None, None).domain.upper is None
    assert euclidean(rows, None, None).domain.lower == [0] * 4
    above = euclidean(rows, 2.0, None)
    assert above.domain.upper is None
    assert above.domain.lower == [(1 + 16) << above.bits] * 4
    below = euclidean(rows, None, -3.0)
    assert below.domain.upper is None
    assert below.domain.lower == [(16 + 1) << below.bits] * 4


ROWS = [[3.0, -4.0], [3.0, 4.0], [-3.0, -4.0], [0.0, 12.0]]


@every("epsilon", [0.0, 0.25])
@every("kind", ["cosine", "rooted_cosine"])
@every(("lower", "upper"), [(None, None), (-1.0, 2.0), (0.0, None), (0.5, 1.0), (None, 0.0), (-2.0, -1.0), (None, 0.5)])
def test_cosine(lower: float | None, upper: float | None, kind: str, epsilon: float) -> None:
    geometry = {"kind": kind, "epsilon": epsilon.hex()}
    domain = files.domain(lower, upper)
    where = Space(
        read_head(files.head(WEIGHT, ROWS, geometry=geometry, similarity=files.IDENTITY, domain=domain)),
        load_arithmetic("mpmath"),
    )
    least, most = (3, -3) if epsilon == 0 else (0, 0)
    expected = [(-5, 5)] * 3 + [(-12, 12)]
    if lower is not None and lower >= 0:
        expected = [(-4, 3), (least, 5), (-5, most), (0, 12)]
    elif upper is not None and upper <= 0:
        expected = [(-3, 4), (-5, most), (least, 5), (-12, 0)]
    assert where.domain.upper is not None
    assert [
        (Fraction(low, 1 << where.bits), Fraction(high, 1 << where.bits))
        for low, high in zip(where.domain.lower, where.domain.upper, strict=True)
    ] == expected


def inner(
    rows: list[list[float]], lower: float | None, upper: float | None, radius: float | None, kernel: str = "mpmath"
) -> Space:
    geometry = {"kind": "inner_product", "radius": None if radius is None else radius.hex()}
    data = files.head(
        [[1.0] * 4] * 2, rows, geometry=geometry, similarity=files.IDENTITY, domain=files.domain(lower, upper)
    )
    return Space(read_head(data), load_arithmetic(kernel))


@every("kernel", KERNELS)
@every(("lower", "upper"), [(-0.3, 0.7), (0.0, 1e-300), (-5e-324, 5e-324), (-1e200, 0.1), (2.0, 3.0)])
@every("scale", [1.0, 1e-200, 1e200])
def test_inner_products_of_a_box(lower: float, upper: float, scale: float, kernel: str) -> None:
    """The ends are the corners'; the ball about the centre reaches every corner, and its offsets are exact."""
    rows = points(scale, 1)
    rows[0] = [0.0] * 3
    where = inner(rows, lower, upper, None, kernel)
    assert where.domain.upper is not None
    corners = list(itertools.product((lower, upper), repeat=3))
    for row, low, high in zip(rows, where.domain.lower, where.domain.upper, strict=True):
        truths = [arithmetic.product(list(corner), row) for corner in corners]
        for truth, end, sign in ((min(truths), low, 1), (max(truths), high, -1)):
            assert 0 <= sign * (truth * 2**where.bits - int(end)) < 1
    middle = (Fraction(lower) + Fraction(upper)) / 2
    assert 0 <= where.reach - 3 * (Fraction(upper) - middle) ** 2 * 2**where.bits < 1
    assert where.offsets == [middle * sum(map(Fraction, row)) * 2**where.bits for row in rows]


@pytest.mark.parametrize("radius", [1.0, 0.3, 1e200, 5e-324])
@pytest.mark.parametrize("share", [None, -1.0, 0.0])
def test_inner_products_of_a_ball(share: float | None, radius: float) -> None:
    lower = None if share is None else share * radius
    rows = [[3.0, -4.0], [0.375, 0.5], [-3.0, -4.0], [0.0, 0.0]]
    where = inner(rows, lower, None, radius)
    orthant = lower is not None and lower >= 0
    expected = (
        [(-4, 3), (0, Fraction(5, 8)), (-5, 0), (0, 0)] if orthant else [(-5, 5), (Fraction(-5, 8), Fraction(5, 8))]
    )
    assert where.domain.upper is not None
    for (least, most), low, high in zip(expected, where.domain.lower, where.domain.upper, strict=False):
        assert 0 <= Fraction(radius) * least * 2**where.bits - int(low) < 1
        assert 0 <= int(high) - Fraction(radius) * most * 2**where.bits < 1
    assert 0 <= where.reach - Fraction(radius) ** 2 * 2**where.bits < 1
    assert where.offsets == [0] * 4


def test_of_a_box_and_a_ball_both_hold_and_the_smaller_one_is_the_ball_of_projection() -> None:
    rows = [[1.0, 1.0], [1.0, 0.0], [-1.0, -1.0], [0.5, 0.0]]
    box, ball = inner(rows, -1.0, 3.0, None), inner(rows, None, None, 2.5)
    both = inner(rows, -1.0, 3.0, 2.5)
    assert (both.reach, both.offsets) == (ball.reach, ball.offsets)  # 6.25 < 8
    assert both.domain == box.domain.met(ball.domain)
    wide = inner(rows, -1.0, 3.0, 3.0)
    assert (wide.reach, wide.offsets) == (box.reach, box.offsets)  # 9 > 8
    assert both.domain != wide.domain
    rows = [[1.0] * 4] * 4
    alike = inner(rows, 0.0, 2.0, 2.0)  # both have 4
    assert (alike.reach, alike.offsets) == (4 << alike.bits, [0] * 4)


@pytest.mark.parametrize(
    ("lower", "upper"), [(0.5, None), (None, 0.25), (-3.0, 0.25), (None, -0.5), (0.0, 0.125), (-9.0, 9.0), (0.5, 0.75)]
)
def test_inner_products_of_a_box_and_a_ball_hold_every_latent(lower: float | None, upper: float | None) -> None:
    """The table of certificates/v1.md, in rational numbers, and latents in both."""
    rows, radius = [*points(1.0, 4, 2), [0.375, 0.5], [-3.0, -4.0]], Fraction(1)
    weight = [[1.0] * 6] * 2
    parts = {"similarity": files.IDENTITY, "domain": files.domain(lower, upper)}
    head = read_head(files.head(weight, rows, geometry={"kind": "inner_product", "radius": "0x1p+0"}, **parts))
    where = Space(head, load_arithmetic("mpmath"))
    assert where.domain.upper is not None
    least = max(-radius, Fraction(-9 if lower is None else lower))
    most = min(radius, Fraction(9 if upper is None else upper))
    generator, unit = random.Random(1), Fraction(1, 1 << where.bits)
    for row, low, high in zip(rows, where.domain.lower, where.domain.upper, strict=True):
        exact = list(map(Fraction, row))
        box = [sum(pick(least * x, most * x) for x in exact) for pick in (min, max)]
        assert low * unit >= box[0] - unit and high * unit <= box[1] + unit
        orthant = [sum(min(x, 0) ** 2 for x in exact), sum(max(x, 0) ** 2 for x in exact)]
        if upper is not None and upper <= 0:
            orthant.reverse()
        elif lower is None or lower < 0:
            orthant = [sum(orthant)] * 2
        for square, end in zip(orthant, (-low, high), strict=True):
            assert end <= 0 or (end * unit - 2 * unit) ** 2 <= square
        for _ in range(60):
            z = [least + (most - least) * Fraction(generator.randrange(9), 8) for _ in exact]
            if sum(x * x for x in z) <= radius * radius:
                assert low * unit <= sum(x * y for x, y in zip(z, exact, strict=True)) <= high * unit


@every("kernel", KERNELS)
@every("count", [1, 2, 5])
@every(
    ("lower", "upper"),
    [(None, None), (0.0, None), (None, 1.0), (0.0, 1.0), (-2.0, -1.5), (-50.0, 50.0), (-1e308, 1e308)],
)
def test_softmax(lower: float | None, upper: float | None, count: int, kernel: str) -> None:
    parts = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(lower, upper)}
    where = Space(read_head(files.head([[1.0] * count, [0.0] * count], **parts)), load_arithmetic(kernel))
    with mpmath.workprec(4000):
        ratio = mpmath.mpf(0) if lower is None or upper is None else mpmath.exp(mpmath.mpf(lower) - mpmath.mpf(upper))
        least = ratio / (ratio + count - 1) if count > 1 else mpmath.mpf(1)
        most = 1 / (1 + (count - 1) * ratio)
        assert where.domain.upper is not None
        for low, high in zip(where.domain.lower, where.domain.upper, strict=True):
            assert 0 <= least * 2**where.bits - int(low) < 2
            assert 0 <= int(high) - most * 2**where.bits < max(2, count)


@pytest.mark.parametrize("bits", [1, 3, 6])
@pytest.mark.parametrize("geometry", ["euclidean", "inner_product"])
def test_what_stands_for_a_missing_end_is_rounded_up(geometry: str, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On grids of a few bits, where roundings show; compared with the exact ends by their squares."""
    monkeypatch.setattr(space_module, "_LEAST_BITS", bits)
    monkeypatch.setattr(space_module, "_BITS_BELOW_GRAM", 0)
    generator = random.Random(bits)
    for _ in range(60):
        rows = [[generator.randrange(-16, 17) / 16 or 1.0 for _ in range(2)] for _ in range(4)]
        where = inner(rows, -1.0, 1.0, None) if geometry == "inner_product" else euclidean(rows, None, None)
        stated = Fraction(generator.randrange(1, 64), 16)
        apart = [[arithmetic.squared_distance(p, q) for q in rows] for p in rows]
        if geometry == "euclidean":
            near = [PatchStatement(0, 0, None, stated), *(PatchStatement(0, j, Fraction(1, 16), None) for j in (1, 2))]
            ends = [Fraction(high, 1 << where.bits) for _, high in intervals(where, near)]
            assert ends[0] >= stated
            assert all(at_least_the_sum_of_lengths(ends[j], stated, apart[0][j]) for j in (1, 2))
            far = [PatchStatement(0, j, stated / (1 + j), None) for j in range(3)]
            for j, (_, high) in enumerate(intervals(where, far)):
                end = Fraction(high, 1 << where.bits)
                assert all(at_least_the_sum_of_lengths(end, stated, square) for square in apart[j])
        else:
            for j, row in enumerate(rows):
                ((low, high),) = intervals(where, [PatchStatement(0, j, stated, None)])
                size = 2 * arithmetic.product(row, row)  # the box lies within 2^(1/2) of 0
                assert low <= stated * 2**where.bits and Fraction(high, 1 << where.bits) ** 2 >= size and high > 0
                ((low, _),) = intervals(where, [PatchStatement(0, j, None, stated)])
                assert Fraction(low, 1 << where.bits) ** 2 >= size and low < 0


def at_least_the_sum_of_lengths(end: Fraction, one: Fraction, other: Fraction) -> bool:
    """Whether end >= (one^(1/2) + other^(1/2))^2."""
    left = end - one - other
    return left >= 0 and left**2 >= 4 * one * other
