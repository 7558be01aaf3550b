"""Rationals and balls of the independent reading."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

import flint
import pytest
from support.rationals import cosine_ends, root

from verale.soundness.independent.arithmetic import (
    PRECISION,
    above,
    ball,
    balls,
    below,
    certainly_within,
    ends,
    greatest,
    largest,
    mean,
    possibly_within,
    product,
    squared_distance,
)

TENTH = 0.1


def test_of_floats_vectors_give_exact_rationals() -> None:
    assert squared_distance([TENTH, 2.0], [0.5, 1.0]) == (Fraction(TENTH) - Fraction(1, 2)) ** 2 + 1
    assert product([TENTH, 2.0], [3.0, -1.0]) == 3 * Fraction(TENTH) - 2


def test_of_balls_the_same_values_are_enclosed() -> None:
    z, p = [TENTH, 2.0], [0.5, 1.0]
    with flint.ctx.workprec(PRECISION):
        (real,) = balls([z])
        for value in (squared_distance, product):
            low, high = ends(value(real, p))
            assert low <= value(z, p) <= high
            assert high - low < Fraction(1, 2**250)


def test_the_largest_of_overlapping_balls_enclose_the_largest_numbers() -> None:
    first, second = largest([flint.arb(0), flint.arb(1, 0.5), flint.arb(1.25)], 2)
    assert first.contains(1.25) and first.contains(1.5)  # the wide ball's number may be 1/2 or 3/2
    assert second.contains(0.5) and second.contains(1.25)
    assert [float(x) for x in largest([flint.arb(x) for x in (2, 5, 3, 5)], 3)] == [5, 5, 3]
    assert [float(x) for x in largest([flint.arb(1)], 3)] == [1]
    assert float(greatest([flint.arb(x) for x in (2, 5, 3)])) == 5
    assert mean([Fraction(1), Fraction(2)]) == Fraction(3, 2)


def test_a_ball_lies_in_an_interval_certainly_or_possibly_or_not_at_all() -> None:
    wide = flint.arb(0.5, 0.25)
    assert certainly_within(wide, 0.125, 0.875)
    assert not certainly_within(wide, 0.5, 1.0)
    assert possibly_within(wide, 0.5, 1.0)
    assert not possibly_within(wide, 0.875, 1.0)
    assert certainly_within(Fraction(1, 2), 0.5, 0.5)
    assert not certainly_within(Fraction(1, 2), nextafter(0.5, 1.0), inf)
    assert certainly_within(Fraction(10), -inf, inf)


def test_only_of_what_is_at_most_one_in_size_an_end_of_one_needs_no_ball() -> None:
    about_one = flint.arb(1, 0.25)
    assert certainly_within(about_one, 0.5, 1.0)
    assert not certainly_within(about_one, 0.5, 1.0, at_most_one=False)


def test_a_root_and_a_cosine_are_enclosed() -> None:
    low, high = root(Fraction(2))
    assert low**2 < 2 < high**2
    assert high - low < Fraction(1, 2**590)
    low, high = cosine_ends([3.0, 4.0], [1.0, 0.0], 0.0)
    assert low <= Fraction(3, 5) <= high


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(-1, 3), Fraction(1, 2), Fraction(2**60 + 1)])
def test_below_and_above_are_the_next_floats(value: Fraction) -> None:
    low, high = below(value), above(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert high in (low, nextafter(low, inf))


def test_a_fraction_is_a_ball_of_itself() -> None:
    with flint.ctx.workprec(PRECISION):
        low, high = ends(ball(Fraction(1, 3)))
    assert low <= Fraction(1, 3) <= high
    assert ends(Fraction(1, 3)) == (Fraction(1, 3), Fraction(1, 3))
