"""Triangle: the inequality itself, statement by statement, against exact numbers."""

from __future__ import annotations

from math import sqrt

import flint
import pytest
import torch
from support.small import metric_head

from verale.bounds import Triangle, observe
from verale.head import Cosine, Euclidean
from verale.rounding import Enclosure


def test_distances_lie_between_the_difference_and_the_sum():
    """p_0, p_1, p_2 on a line at 0, 3 and 7; the latent is 2 away from p_0, and 4 from p_2: it lies at 3 or 1 < 3."""
    head = metric_head(Euclidean(), torch.tensor([[0.0, 0.0], [3.0, 0.0], [7.0, 0.0]]))
    paradigm = Triangle(head)

    observed = Enclosure.exact(torch.tensor([[4.0, 0.0, 36.0]], dtype=torch.float64))
    once = paradigm.ranges([[0]], observed)
    assert once.lower[0].tolist() == pytest.approx([4, 1, 25], rel=1e-7)
    assert once.upper[0].tolist() == pytest.approx([4, 25, 81], rel=1e-7)
    assert once.lower[0, 1] <= 1 and once.upper[0, 1] >= 25 and once.lower[0, 2] <= 25 and once.upper[0, 2] >= 81
    twice = paradigm.ranges([[0, 2]], observed)
    assert twice.lower[0].tolist() == pytest.approx([4, 4, 36], rel=1e-7)
    assert twice.upper[0].tolist() == pytest.approx([4, 25, 36], rel=1e-7)


def test_cosines_lie_between_those_of_the_sum_and_the_difference_of_angles():
    head = metric_head(Cosine(0.0), torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    paradigm = Triangle(head)
    rows = paradigm.ranges([[0]], Enclosure.exact(torch.tensor([[0.8, 0.0, 0.0]], dtype=torch.float64)))
    with flint.ctx.workprec(200):
        alpha = flint.arb(0.8).acos()
        for k, theta in ((1, flint.arb.pi() / 4), (2, flint.arb.pi() / 2)):
            least, most = (alpha + theta).cos(), (alpha - theta).cos()
            assert flint.arb(float(rows.lower[0, k])) <= least and most <= flint.arb(float(rows.upper[0, k]))
            assert float(rows.lower[0, k]) == pytest.approx(float(least), abs=1e-7)
            assert float(rows.upper[0, k]) == pytest.approx(float(most), abs=1e-7)
    # The latent may be shorter than 1: opposite to no prototype does the bound rest on |u| = 1.
    assert float(rows.upper[0, 1]) == pytest.approx(0.8 * sqrt(0.5) + 0.6 * sqrt(0.5), abs=1e-7)


def test_the_order_of_statements_does_not_matter():
    generator = torch.Generator().manual_seed(1)
    head = metric_head(Euclidean(), torch.rand(6, 4, generator=generator))
    observed = observe(head, torch.rand(3, 4, generator=generator, dtype=torch.float64))
    paradigm = Triangle(head)
    bounds = [paradigm.ranges([list(order)] * 3, observed) for order in ((0, 1, 2), (2, 0, 1))]
    assert torch.equal(bounds[0].lower, bounds[1].lower) and torch.equal(bounds[0].upper, bounds[1].upper)
