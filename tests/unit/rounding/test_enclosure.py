"""Rounded outward: every operation holds the real result; exact rationals and 200-bit values are the truth."""

from __future__ import annotations

import math
from fractions import Fraction
from math import inf, nextafter

import flint
import pytest
import torch

from verale.errors import VeraleError
from verale.rounding import UNIT, Enclosure, UndecidedError, gamma, root

AWKWARD = [
    0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 1 / 3, 1 + 2**-52, 1 - 2**-53, 2.0**-1074, -(2.0**-1074), 2.0**-1022, 1e-300,
    1e300, -1e300, 3.0, 1e16, 1e16 + 2,
]  # fmt: skip


def random_values(count: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    mantissa = torch.rand(count, generator=generator, dtype=torch.float64) * 2 - 1
    return mantissa * 2.0 ** torch.randint(-60, 60, (count,), generator=generator)


def pairs() -> tuple[torch.Tensor, torch.Tensor]:
    grid = torch.tensor(AWKWARD, dtype=torch.float64)
    first, second = torch.cartesian_prod(grid, grid).T
    return torch.cat([first, random_values(2000, 1)]), torch.cat([second, random_values(2000, 2)])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
def test_arithmetic_holds_the_exact_rational(name):
    first, second = pairs()
    operation = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "truediv": lambda a, b: a / b,
    }[name]
    result = operation(Enclosure.exact(first), Enclosure.exact(second))
    for a, b, lower, upper in zip(*(t.tolist() for t in (first, second, result.lower, result.upper)), strict=True):
        if name == "truediv" and b == 0:
            assert (lower, upper) == (-math.inf, math.inf)
            continue
        truth = operation(Fraction(a), Fraction(b))
        assert lower == -math.inf or Fraction(lower) <= truth
        assert upper == math.inf or truth <= Fraction(upper)


def test_intervals_multiply_and_divide_over_their_whole_range():
    generator = torch.Generator().manual_seed(3)
    ends = torch.randn(4, 500, generator=generator, dtype=torch.float64)
    first = Enclosure(torch.minimum(ends[0], ends[1]), torch.maximum(ends[0], ends[1]))
    second = Enclosure(torch.minimum(ends[2], ends[3]), torch.maximum(ends[2], ends[3]))
    for step in torch.linspace(0, 1, 7, dtype=torch.float64):
        x, y = torch.lerp(first.lower, first.upper, step), torch.lerp(second.lower, second.upper, 1 - step)
        product, quotient = first * second, first / second
        assert ((product.lower <= x * y) & (x * y <= product.upper)).all()
        assert ((quotient.lower <= x / y) & (x / y <= quotient.upper)).all()


@pytest.mark.parametrize("name", ["exp", "log1p", "sqrt"])
def test_functions_hold_the_200_bit_value(name):
    values = torch.cat([random_values(4000, 4), torch.tensor([0.0, 1e-300, 5e-324, 1.0, 700.0], dtype=torch.float64)])
    values = values.clamp(-700, 700) if name == "exp" else values.abs()
    result = getattr(Enclosure.exact(values), name)()
    worst = 0.0
    with flint.ctx.workprec(200):
        for x, lower, upper in zip(values.tolist(), result.lower.tolist(), result.upper.tolist(), strict=True):
            truth = getattr(flint.arb(x), name)()
            assert flint.arb(lower) <= truth <= flint.arb(upper)
            if truth > 1e-290:
                worst = max(worst, float((flint.arb(upper) - flint.arb(lower)) / truth))
    assert worst < 1e-14


@pytest.mark.parametrize("name", ["exp", "log1p"])
def test_the_stated_number_of_ulps_has_room_to_spare(name):
    """torch's own functions stay within a quarter of TRANSCENDENTAL_ULPS on these samples."""
    values = random_values(20000, 5).clamp(-700, 700)
    values = values if name == "exp" else values.abs()
    got = getattr(torch, name)(values)
    with flint.ctx.workprec(200):
        for x, y in zip(values.tolist(), got.tolist(), strict=True):
            if y > 1e-290:
                truth = getattr(flint.arb(x), name)()
                assert abs(flint.arb(y) - truth) <= 2 * flint.arb(math.ulp(y))


def test_intervals_have_no_order_and_no_truth():
    x, y = Enclosure.exact(torch.zeros(1)), Enclosure.exact(torch.ones(1))
    for compare in (
        lambda: x < y,
        lambda: x <= y,
        lambda: x > y,
        lambda: x >= y,
        lambda: x == y,
        lambda: x != y,
        lambda: bool(x),
    ):
        with pytest.raises(UndecidedError):
            compare()
    assert x.certainly_less(y).all() and not y.certainly_less(x).any()
    wide = Enclosure(torch.zeros(1).double(), torch.ones(1).double())
    assert not wide.certainly_less(wide).any()


def test_invalid_arithmetic_widens_to_everything():
    nothing = Enclosure(torch.tensor([math.nan]).double(), torch.tensor([math.nan]).double())
    assert (nothing.lower.item(), nothing.upper.item()) == (-math.inf, math.inf)
    infinite = Enclosure(torch.tensor([-math.inf]).double(), torch.tensor([math.inf]).double())
    product = infinite * Enclosure.exact(torch.zeros(1))
    assert (product.lower.item(), product.upper.item()) == (-math.inf, math.inf)


def test_ends_are_float64():
    with pytest.raises(VeraleError, match="float64"):
        Enclosure(torch.zeros(1), torch.zeros(1))


def test_roots_are_correctly_rounded():
    """Those of torch are not, where it takes them from Intel's library."""
    values = 10 ** (600 * torch.rand(3000, generator=torch.Generator().manual_seed(2), dtype=torch.float64) - 300)
    for value, found in zip(values.tolist(), root(values).tolist(), strict=True):
        below, above = (Fraction(nextafter(found, end)) for end in (-inf, inf))
        middles = ((Fraction(found) + each) / 2 for each in (below, above))
        least, most = (each**2 for each in middles)
        assert least < Fraction(value) < most


def test_roots_of_any_shape_and_of_any_float():
    values = torch.tensor([[0.0, -0.0, 4.0], [5e-324, 1.7976931348623157e308, inf]], dtype=torch.float64)
    expected = [[0.0, -0.0, 2.0], [2.0**-537, 1.3407807929942596e154, inf]]
    assert root(values).tolist() == expected and root(values.T).T.tolist() == expected
    assert torch.signbit(root(values)[0]).tolist() == [False, True, False]
    assert root(values[0, 2]).tolist() == 2.0 and root(values[:0]).shape == (0, 3)
    assert bool(root(torch.tensor([-1.0, torch.nan], dtype=torch.float64)).isnan().all())


@pytest.mark.parametrize("operations", [1, 2, 3, 7, 100, 12_345, 10**6, 2**30])
def test_gamma_is_barely_above_the_exact_number(operations: int):
    exact = operations * Fraction(UNIT) / (1 - operations * Fraction(UNIT))
    assert exact <= Fraction(gamma(operations)) <= exact * (1 + Fraction(1, 2**48))
