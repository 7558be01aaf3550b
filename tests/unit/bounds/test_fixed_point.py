"""Fixed-point numbers: every operation against exact rationals."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import torch
from torch import Tensor

from verale.bounds.fixed_point import MOST_PAIRS, FixedPoint, width_for

SEEDS = range(12)
WIDTH = width_for(9)


def value(fixed: FixedPoint) -> list[Fraction]:
    """The numbers, exactly."""
    places = range(fixed.low + len(fixed.digits) - 1, fixed.low - 1, -1)
    scales = [Fraction(2) ** (fixed.width * place) for place in places]
    columns = fixed.digits.flatten(1).T.tolist()
    return [sum(Fraction(digit) * scale for digit, scale in zip(column, scales, strict=True)) for column in columns]


def unit(low: int) -> Fraction:
    return Fraction(2) ** (WIDTH * low)


def drawn(seed: int, count: int = 9, low: int = -6) -> tuple[FixedPoint, list[Fraction]]:
    generator = random.Random(seed)
    numbers = [generator.choice((1, -1)) * generator.getrandbits(WIDTH * 7) * unit(low) for _ in range(count - 2)]
    numbers += [Fraction(0), numbers[0] + unit(low)]
    return FixedPoint.of_fractions(numbers, low, WIDTH), numbers


@pytest.mark.parametrize("seed", SEEDS)
def test_digits_are_the_numbers_and_lie_where_they_have_to(seed: int) -> None:
    fixed, numbers = drawn(seed)
    assert value(fixed) == numbers
    half = 2.0 ** (WIDTH - 1)
    assert bool(((fixed.digits >= -half) & (fixed.digits < half)).all())
    assert fixed.sign().tolist() == [(x > 0) - (x < 0) for x in numbers]
    approximate, off = fixed.to_float()
    for near, by, exact in zip(approximate.tolist(), off.tolist(), numbers, strict=True):
        assert abs(Fraction(near) - exact) <= Fraction(by) <= abs(exact) * Fraction(1, 2**44)


@pytest.mark.parametrize("seed", SEEDS)
def test_maxima_are_exact_among_neighbours_too(seed: int) -> None:
    one, numbers = drawn(seed)
    others = [x + random.Random(-seed - 1).choice((-1, 0, 1)) * unit(-6) for x in numbers]
    other = FixedPoint.of_fractions([*others[:-1], others[-1]], -6, WIDTH)
    count = max(len(one.digits), len(other.digits))
    wide = [
        FixedPoint(torch.cat([torch.zeros(count - len(x.digits), 9, dtype=torch.float64), x.digits]), x.low, WIDTH)
        for x in (one, other)
    ]
    assert value(wide[0].maximum(wide[1])) == [max(pair) for pair in zip(numbers, others, strict=True)]


@pytest.mark.parametrize("low", [-6, -4, -1])
@pytest.mark.parametrize("seed", SEEDS)
def test_sums_and_products_are_off_by_less_than_a_unit(seed: int, low: int) -> None:
    fixed, numbers = drawn(seed)
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(4, 9, dtype=torch.float64, generator=generator) * 2.0 ** torch.randint(
        -30, 9, (4, 9), generator=generator
    )
    places, exact = FixedPoint.of_floats(weight, -20, WIDTH)
    assert exact and value(places) == [Fraction(x) for x in weight.flatten().tolist()]

    def product(digits: Tensor, part: Tensor) -> Tensor:
        return digits @ part.T

    found = value(fixed.times(places, product, low))
    for row, near in zip(weight.tolist(), found, strict=True):
        assert abs(sum(Fraction(w) * x for w, x in zip(row, numbers, strict=True)) - near) < unit(low)
    more, others = drawn(seed + 100)
    total = value(FixedPoint.total([fixed, more, fixed], low))
    for near, x, y in zip(total, numbers, others, strict=True):
        assert abs(2 * x + y - near) < unit(low)


def test_floats_are_cut_off_below_the_last_place() -> None:
    given = torch.tensor([1.5, -(2.0**-70) / 3, 2.0**40 / 3, 0.0], dtype=torch.float64)
    fixed, exact = FixedPoint.of_floats(given, -3, WIDTH)
    assert not exact
    for near, each in zip(value(fixed), given.tolist(), strict=True):
        assert abs(near - Fraction(each)) <= unit(-3)


def test_the_largest_digits_are_multiplied_exactly() -> None:
    terms = 4608
    width = width_for(terms)
    most = 2.0 ** (width - 1)
    assert MOST_PAIRS * terms * most**2 <= 2.0**51 < MOST_PAIRS * terms * (2 * most) ** 2 * 2
    digits = FixedPoint(torch.full((MOST_PAIRS, terms), -most, dtype=torch.float64), 0, width)
    found = digits.times(FixedPoint(digits.digits[:, None], 0, width), lambda x, w: x @ w.T, 0)
    number = -sum(Fraction(most) * Fraction(2) ** (width * place) for place in range(MOST_PAIRS))
    assert value(found) == [terms * number**2]


@pytest.mark.parametrize("low", [-70, -3, 0])
@pytest.mark.parametrize("count", [MOST_PAIRS + 1, 2 * MOST_PAIRS, 2 * MOST_PAIRS + 5])
def test_numbers_of_more_digits_than_one_sum_takes_are_multiplied_exactly(count: int, low: int) -> None:
    terms = 1152
    width = width_for(terms)
    most = 2.0 ** (width - 1)
    digits = FixedPoint(torch.full((count, terms), -most, dtype=torch.float64), -35, width)
    (found,) = value(digits.times(FixedPoint(digits.digits[:, None], -35, width), lambda x, w: x @ w.T, low))
    number = -sum(Fraction(most) * Fraction(2) ** (width * (place - 35)) for place in range(count))
    assert abs(found - terms * number**2) < Fraction(2) ** (width * low)
    assert low > -70 or found == terms * number**2


@pytest.mark.parametrize("terms", [4608, 25088, 2**20])
@pytest.mark.parametrize("low", [-4, -3, -1, 0])
def test_sums_of_many_products_of_the_greatest_digits_are_off_by_less_than_a_unit(terms: int, low: int) -> None:
    width = width_for(terms)
    assert width >= 14
    digits = torch.full((4, 1), 2.0 ** (width - 1) - 1, dtype=torch.float64)
    one = FixedPoint(digits, -3, width)
    # So many equal products are one, times their number: no tensor of 2^20 entries.
    product = one.times(one, lambda own, its: own * its * terms, low)
    (found,), (own,) = value(product), value(one)
    assert abs(found - terms * own * own) < Fraction(2) ** (width * low)
