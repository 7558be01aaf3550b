"""The domain's own ranges: every latent of the domain lies inside, corners attain the ends."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import handmade as hm
import pytest

from verale.checker.head_file import read_head
from verale.checker.kernel import KERNELS, load_kernel
from verale.checker.rules.space import Space

WEIGHT = [[1.0] * 4, [0.0] * 4]


def euclidean(prototypes: list[list[float]], lower: float | None, upper: float | None, kernel: str = "mpmath") -> Space:
    return Space(read_head(hm.head(WEIGHT, prototypes, domain=hm.domain(lower, upper))), load_kernel(kernel))


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
        corners = [hm.squared_distance(list(corner), row) for corner in itertools.product((lower, upper), repeat=3)]
        nearest = hm.squared_distance([min(max(x, lower), upper) for x in row], row)
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
        hm.head(WEIGHT, rows, geometry=hm.cosine(0.0), similarity=hm.IDENTITY, domain=hm.domain(lower, None))
    )
    where = Space(head, load_kernel("mpmath"))
    orthant = lower is not None and lower >= 0
    expected = [(-4, 3), (0, 5), (-5, 0), (0, 12)] if orthant else [(-5, 5)] * 3 + [(-12, 12)]
    assert where.domain.upper is not None
    assert [
        (Fraction(low, 1 << where.bits), Fraction(high, 1 << where.bits))
        for low, high in zip(where.domain.lower, where.domain.upper, strict=True)
    ] == expected


@pytest.mark.parametrize(("count", "least"), [(1, 1), (2, 0), (5, 0)])
def test_softmax(count: int, least: int) -> None:
    head = read_head(hm.head([[1.0] * count, [0.0] * count], geometry=hm.SOFTMAX, similarity=hm.IDENTITY))
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
