"""Inner products: near the exact ones, and the same whatever the order in which coordinates are added."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import pytest
import torch

from verale.bounds import projection as products
from verale.bounds.projection import gram
from verale.rounding import gamma


def vectors(count: int, depth: int, spread: float, seed: int) -> torch.Tensor:
    """Rows whose coordinates differ by powers of two, some of them 0."""
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(count, depth, dtype=torch.float64, generator=generator)
    powers = (spread * torch.randn(count, depth, generator=generator)).round().double().exp2()
    return normal * powers * (torch.rand(count, depth, generator=generator) > 0.1)


def inner(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum(map(mul, a, b), Fraction(0))


@pytest.mark.parametrize("depth", [1, 2, 3, 64, 200])
@pytest.mark.parametrize("spread", [0.0, 4.0, 30.0])
def test_the_error_is_that_of_any_sum(depth, spread):
    """|error| <= gamma_(D + 1) |a| |b|, squared, in exact numbers."""
    rows = vectors(8, depth, spread, 0)
    found, exact = gram(rows).tolist(), [list(map(Fraction, row)) for row in rows.tolist()]
    squares = [inner(row, row) for row in exact]
    for i, a in enumerate(exact):
        for j, b in enumerate(exact):
            error = Fraction(found[i][j]) - inner(a, b)
            assert error**2 <= Fraction(gamma(depth + 1)) ** 2 * squares[i] * squares[j]


@pytest.mark.parametrize("depth", [2, 64, 500])
def test_the_order_of_coordinates_does_not_matter(depth):
    rows = vectors(50, depth, 3.0, 2)
    for seed in range(5):
        order = torch.randperm(depth, generator=torch.Generator().manual_seed(seed))
        assert torch.equal(gram(rows[:, order]), gram(rows))
    if depth == 500:  # of the library's product it does
        assert any(
            not torch.equal(rows[:, order] @ rows[:, order].T, rows @ rows.T)
            for order in (torch.arange(depth).flip(0), torch.randperm(depth))
        )


@pytest.mark.parametrize("bytes_", [1, 8 * 30 * 7])
def test_some_rows_at_once_have_the_same_bits(monkeypatch, bytes_):
    rows = vectors(30, 40, 4.0, 3)
    found = gram(rows)
    monkeypatch.setattr(products, "_AT_ONCE", bytes_)
    assert torch.equal(gram(rows), found)


def test_it_is_symmetric():
    found = gram(vectors(30, 40, 4.0, 3))
    assert torch.equal(found, found.T)


def test_zeros_the_largest_and_the_smallest_floats():
    least, greatest = 2.0**-1074, 2.0**500
    rows = [[0.0, 0.0], [least, 0.0], [greatest, -greatest]]
    exact = [list(map(Fraction, row)) for row in rows]
    assert gram(torch.tensor(rows, dtype=torch.float64)).tolist() == [
        [float(inner(a, b)) for b in exact] for a in exact
    ]


def test_more_coordinates_than_the_slices_have_room_for_are_left_to_the_library():
    rows = vectors(1, 2**16 + 1, 1.0, 4)
    assert torch.equal(gram(rows), rows @ rows.T)
