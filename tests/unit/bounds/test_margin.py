"""Margins of a linear readout against exact rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from support.small import GEOMETRIES, small_head

from verale.bounds import LinearMargins, activation, domain_range
from verale.rounding import Enclosure


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("predicted", [0, 2])
def test_a_margin_is_below_the_exact_least_difference(geometry, predicted):
    head = small_head(geometry, seed=5)
    whole = activation(head, domain_range(head))
    generator = torch.Generator().manual_seed(0)
    ends = torch.rand(2, 40, head.size, generator=generator, dtype=torch.float64)
    ends = whole.lower + ends * (whole.upper - whole.lower)
    box = Enclosure(ends.amin(0), ends.amax(0))
    bounds = LinearMargins.of(head, torch.tensor([predicted]), 1).lower(Enclosure(box.lower[None], box.upper[None]))[0]
    weight, bias = head.weight.tolist(), head.bias.tolist()
    for b in range(40):
        for c in range(head.classes):
            if c == predicted:
                assert bounds[b, c] == torch.inf
                continue
            exact = Fraction(bias[predicted]) - Fraction(bias[c])
            for j in range(head.size):
                d = Fraction(weight[predicted][j]) - Fraction(weight[c][j])
                exact += min(d * Fraction(float(box.lower[b, j])), d * Fraction(float(box.upper[b, j])))
            assert Fraction(float(bounds[b, c])) <= exact
            assert float(bounds[b, c]) == pytest.approx(float(exact), abs=1e-10)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_what_others_take_back_is_above_the_exact_most(geometry):
    head, predicted = small_head(geometry, seed=5), torch.tensor([1])
    whole, own = activation(head, domain_range(head)), torch.arange(head.size)[None] % 2 == 0
    generator = torch.Generator().manual_seed(0)
    weight = head.weight.tolist()
    for _ in range(20):
        ends = torch.rand(2, head.size, generator=generator, dtype=torch.float64)
        ends = whole.lower + ends * (whole.upper - whole.lower)
        box = Enclosure(ends.amin(0)[None], ends.amax(0)[None])
        bounds = LinearMargins.of(head, predicted, 1).taken_back(box, own)[0]
        for c in range(head.classes):
            if c == 1:
                assert bounds[c] == -torch.inf
                continue
            exact = Fraction(0)
            for j in range(1, head.size, 2):
                d = Fraction(weight[c][j]) - Fraction(weight[1][j])
                exact += max(d * Fraction(float(box.lower[0, j])), d * Fraction(float(box.upper[0, j])))
            assert Fraction(float(bounds[c])) >= exact
            assert float(bounds[c]) == pytest.approx(float(exact), abs=1e-10)
