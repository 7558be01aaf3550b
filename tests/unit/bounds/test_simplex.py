"""Simplex: what stated masses leave, rounded outward."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from verale.bounds import Simplex, observe
from verale.bounds.rows import stated_pairs
from verale.head import Head, Identity, Softmax
from verale.rounding import Enclosure


def test_the_remainder_is_above_the_exact_one_and_never_negative():
    head = Head(torch.ones(2, 4), Softmax(), Identity())
    paradigm = Simplex(head)
    masses = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.7, 0.3 + 2**-40, 0.0, 0.0]], dtype=torch.float64)
    left = [Fraction(1), Fraction(1)]
    for j in range(3):
        patch, prototype = stated_pairs([list(range(j + 1))] * 2)
        rows = paradigm.from_statements(2, patch, prototype, Enclosure.exact(masses[patch, prototype]))
        left = [rest - Fraction(mass) for rest, mass in zip(left, masses[:, j].tolist(), strict=True)]
        for row, rest in enumerate(left):
            assert Fraction(float(rows.remainder[row])) >= max(rest, Fraction(0))
            assert Fraction(float(rows.shortfall[row])) <= rest
            assert float(rows.remainder[row]) == pytest.approx(max(0.0, float(rest)), abs=1e-15)
        assert (rows.upper[0, j + 1 :] == rows.remainder[0]).all()
    assert (rows.lower[1] >= 0).all()  # one mass is left, and the statements leave less than nothing for it


def test_the_last_mass_is_what_the_others_leave():
    head = Head(torch.ones(2, 3), Softmax(), Identity())
    z = torch.tensor([[1.0, 0.0, 2.0]], dtype=torch.float64)
    observed = observe(head, z)
    paradigm = Simplex(head)
    rows = paradigm.ranges([[0, 1]], observed)
    assert float(rows.lower[0, 2]) == pytest.approx(float(observed.lower[0, 2]), rel=1e-12)
    assert float(rows.upper[0, 2]) == pytest.approx(float(observed.upper[0, 2]), rel=1e-12)


@pytest.mark.parametrize("size", [2, 5, 40])
def test_remainders_of_many_statements_are_outside_the_exact_ones(size):
    """No patch stated, some, all masses but one, all; remainders are outside the exact ones."""
    head = Head(torch.ones(2, size), Softmax(), Identity())
    z = 6 * torch.rand(4, size, generator=torch.Generator().manual_seed(size), dtype=torch.float64)
    observed, paradigm = observe(head, z), Simplex(head)
    counts = [0, size // 2, size - 1, size]
    pairs = [(patch, j) for patch, count in enumerate(counts) for j in range(count)]
    patch, prototype = torch.tensor(pairs).T
    rows = paradigm.from_statements(4, patch, prototype, observed[patch, prototype])
    for row, count in enumerate(counts):
        one = paradigm.ranges([list(range(count))], observed[[row]])
        assert torch.allclose(rows.lower[row], one.lower[0], rtol=0, atol=1e-13)
        assert torch.allclose(rows.upper[row], one.upper[0], rtol=0, atol=1e-13)
        low, high = (1 - sum(map(Fraction, end[row, :count].tolist())) for end in (observed.lower, observed.upper))
        assert Fraction(float(rows.remainder[row])) >= max(low, Fraction(0))
        assert Fraction(float(rows.shortfall[row])) <= high
