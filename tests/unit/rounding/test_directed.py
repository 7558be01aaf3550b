"""Directed rounding: one float further, and gamma above its exact value."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

import pytest
import torch

from verale.rounding import UNIT, down, gamma, root, up


def test_one_float_further():
    values = [0.0, -0.0, 1.0, -1.0, 5e-324, 1.7976931348623157e308, 2.0**-1022]
    tensor = torch.tensor(values, dtype=torch.float64)
    assert down(tensor).tolist() == [nextafter(x, -inf) for x in values]
    assert up(tensor).tolist() == [nextafter(x, inf) for x in values]
    assert down(torch.tensor([-inf], dtype=torch.float64)).item() == -inf


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


def test_sums_in_any_order_stay_within_gamma():
    generator = torch.Generator().manual_seed(6)
    for length in (1, 2, 17, 1000):
        x, y = torch.randn(2, length, generator=generator, dtype=torch.float64)
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True))
        size = sum(abs(Fraction(a) * Fraction(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True))
        for computed in (x @ y, (x * y).sum(), (x * y).flip(0).cumsum(0)[-1]):
            assert abs(Fraction(float(computed)) - exact) <= Fraction(gamma(length)) * size
