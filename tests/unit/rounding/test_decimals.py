"""Decimals: intervals widen outward to multiples of powers of ten, exactly where floats allow it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from verale.rounding import Enclosure
from verale.rounding.decimals import decades, to_multiples, to_powers

ENDS = st.floats(-1e6, 1e6)


def interval(lower: float, upper: float) -> Enclosure:
    return Enclosure(torch.tensor([lower], dtype=torch.float64), torch.tensor([upper], dtype=torch.float64))


def assert_widened(end: float, moved: float, unit: Fraction, outward: int) -> None:
    """The float next to the next multiple outside, on its outer side; or the end itself, next to a multiple already."""
    multiple = outward * math.ceil(outward * Fraction(end) / unit) * unit
    if moved == end:
        multiple = round(Fraction(end) / unit) * unit
    inward = math.nextafter(moved, -outward * math.inf)
    assert (Fraction(moved) - Fraction(end)) * outward >= 0
    assert (Fraction(moved) - multiple) * outward >= 0 and (Fraction(inward) - multiple) * outward < 0


@pytest.mark.parametrize("exponent", range(-30, 31))
def test_decades_are_exact_next_to_powers_of_ten(exponent):
    power = 10.0**exponent
    sizes = [math.nextafter(power, 0.0), power, math.nextafter(power, math.inf)]
    found = decades(torch.tensor(sizes, dtype=torch.float64)).tolist()
    assert found == [Decimal(size).adjusted() for size in sizes]


def test_decades_beyond_the_table():
    assert decades(torch.tensor([0.0, 1e-300, 1e300, math.inf], dtype=torch.float64)).tolist() == [-32, -32, 31, 31]


@given(ENDS, st.floats(0, 1), st.integers(-8, 4))
def test_ends_move_outward_to_the_next_multiples_and_stay_there(lower, width, exponent):
    upper, unit = lower + width, Fraction(10) ** exponent
    wide = to_powers(interval(lower, upper), torch.tensor([exponent]))
    assert_widened(lower, wide.lower.item(), unit, -1)
    assert_widened(upper, wide.upper.item(), unit, 1)
    again = to_powers(wide, torch.tensor([exponent]))
    assert torch.equal(again.lower, wide.lower) and torch.equal(again.upper, wide.upper)


@pytest.mark.parametrize("exponent", [-400, -22, 22, 400])
def test_no_end_moves_inward_however_large(exponent):
    ends = torch.tensor([1e300, 1.1e40, 123456789e20, -3e38, -1e-300, 5e-324, 0.0], dtype=torch.float64)
    wide = to_powers(Enclosure(ends, ends), torch.full(ends.shape, exponent))
    assert (wide.lower <= ends).all() and (wide.upper >= ends).all()


def test_infinite_ends_stay_and_no_zero_is_negative():
    wide = to_powers(interval(-math.inf, math.inf), torch.tensor([-4]))
    assert (wide.lower.item(), wide.upper.item()) == (-math.inf, math.inf)
    assert [math.copysign(1, to_powers(interval(0.0, 0.0), torch.tensor([-4])).upper.item())] == [1.0]


@pytest.mark.parametrize("step", [0.25, 0.03, 1e-7, 3.0])
def test_multiples_of_a_step(step):
    exact = Fraction(repr(step))
    for value in (0.1, -0.1, 12.345, -987.6):
        wide = to_multiples(interval(value, value), step)
        assert_widened(value, wide.lower.item(), exact, -1)
        assert_widened(value, wide.upper.item(), exact, 1)


def test_a_step_of_many_digits_moves_no_end_inward():
    ends = torch.linspace(-1e3, 1e3, 999, dtype=torch.float64)
    wide = to_multiples(Enclosure(ends, ends), math.pi)
    assert (wide.lower <= ends).all() and (wide.upper >= ends).all()
