"""Margins and similarities against exact rationals."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
import torch
from small import GEOMETRIES, small_head

from verale.bounds import LinearMargins, activation, domain_range
from verale.head import Euclidean, Head, LogRatio
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
    found = LinearMargins.of(head, torch.tensor([predicted]), 1).lower(Enclosure(box.lower[None], box.upper[None]))[0]
    weight, bias = head.weight.tolist(), head.bias.tolist()
    for b in range(40):
        for c in range(head.classes):
            if c == predicted:
                assert found[b, c] == torch.inf
                continue
            exact = Fraction(bias[predicted]) - Fraction(bias[c])
            for j in range(head.size):
                d = Fraction(weight[predicted][j]) - Fraction(weight[c][j])
                exact += min(d * Fraction(float(box.lower[b, j])), d * Fraction(float(box.upper[b, j])))
            assert Fraction(float(found[b, c])) <= exact
            assert float(found[b, c]) == pytest.approx(float(exact), abs=1e-10)


def test_log_ratio_encloses_and_is_sharp():
    head = Head(torch.ones(2, 1), Euclidean(), LogRatio(1e-4), prototypes=torch.ones(1, 1))
    distances = torch.cat(
        [torch.logspace(-12, 12, 400, dtype=torch.float64), torch.tensor([0.0, 5e-324, 1e300], dtype=torch.float64)]
    )
    found = activation(head, Enclosure.exact(distances))
    with flint.ctx.workprec(4000):
        for d, lower, upper in zip(distances.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True):
            truth = ((flint.arb(d) + 1) / (flint.arb(d) + flint.arb(1e-4))).log()
            assert flint.arb(lower) <= truth <= flint.arb(upper)
            assert upper - lower <= 1e-14 * max(upper, 1e-12)


def test_an_unbounded_distance_leaves_the_least_similarity():
    head = Head(torch.ones(2, 1), Euclidean(), LogRatio(1e-4), prototypes=torch.ones(1, 1))
    found = activation(head, Enclosure(torch.tensor([0.0]).double(), torch.tensor([torch.inf]).double()))
    assert found.lower.item() == 0.0
    assert found.upper.item() == pytest.approx(9.21034, abs=1e-4)
