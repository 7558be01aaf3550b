"""The domain's own ranges: every latent of the domain lies inside, corners attain the ends."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from verale.checker.head_file import read_head
from verale.checker.kernel import KERNELS, load_kernel
from verale.checker.rules.space import Space
from verale.soundness.independent import arithmetic, files

WEIGHT = [[1.0] * 4, [0.0] * 4]


def euclidean(prototypes: list[list[float]], lower: float | None, upper: float | None, kernel: str = "mpmath") -> Space:
    return Space(read_head(files.head(WEIGHT, prototypes, domain=files.domain(lower, upper))), load_kernel(kernel))


def points(scale: float, seed: int, depth: int = 3) -> list[list[float]]:
    generator = random.Random(seed)
    return [[generator.gauss(0, scale) for _ in range(depth)] for _ in range(4)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("lower", "upper"), [(-0.3, 0.7), (0.0, 1e-300), (-5e-324, 5e-324), (-1e200, 0.1), (2.0, 3.0)])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
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


@pytest.mark.parametrize("lower", [None, -1.0, 0.0, 0.5])
def test_cosine(lower: float | None) -> None:
    rows = [[3.0, -4.0], [3.0, 4.0], [-3.0, -4.0], [0.0, 12.0]]
    head = read_head(
        files.head(
            WEIGHT, rows, geometry=files.cosine(0.0), similarity=files.IDENTITY, domain=files.domain(lower, None)
        )
    )
    where = Space(head, load_kernel("mpmath"))
    orthant = lower is not None and lower >= 0
    expected = [(-4, 3), (0, 5), (-5, 0), (0, 12)] if orthant else [(-5, 5)] * 3 + [(-12, 12)]
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
    return Space(read_head(data), load_kernel(kernel))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("lower", "upper"), [(-0.3, 0.7), (0.0, 1e-300), (-5e-324, 5e-324), (-1e200, 0.1), (2.0, 3.0)])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
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
@pytest.mark.parametrize("share", [None, -1.0, 0.0, 0.5])
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


@pytest.mark.parametrize(("count", "least"), [(1, 1), (2, 0), (5, 0)])
def test_softmax(count: int, least: int) -> None:
    head = read_head(files.head([[1.0] * count, [0.0] * count], geometry=files.SOFTMAX, similarity=files.IDENTITY))
    where = Space(head, load_kernel("mpmath"))
    assert where.domain.lower == [least << where.bits] * count
    assert where.domain.upper == [1 << where.bits] * count


def test_the_grid_is_finer_than_the_prototypes() -> None:
    for scale in (1.0, 1e-30, 5e-324, 1e300):
        where = euclidean([[scale, 0.5 * scale]] * 4, None, None)
        assert where.bits >= 128
        assert where.lift >= 64
        # Inner products of prototypes lie on the grid, exactly.
        assert (
            Fraction(int(where.squares[0]) << where.lift, 1 << where.bits)
            == Fraction(scale) ** 2 + Fraction(0.5 * scale) ** 2
        )
