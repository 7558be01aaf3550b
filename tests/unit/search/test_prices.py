"""Prices: which patches matter, and what rounding them up costs."""

from __future__ import annotations

import numpy as np
import pytest
from support.heaviest import heaviest_left
from support.problems import small_problem

from verale.search.prices import PricedTrials, best_prices, rounded_up


@pytest.mark.parametrize("seed", range(4))
def test_only_the_patches_that_can_give_most_matter(seed):
    """The best prices of a rival leave no excess at any patch but these, and sum to the heaviest matching of all."""
    problem = small_problem("softmax", seed, images=1, patches=40)
    generator = np.random.default_rng(seed)
    pairs = [(int(patch), int(k)) for patch, k in np.argwhere(generator.random((40, problem.head.size)) < 0.2)]
    trials, margins = PricedTrials(problem, pairs), heaviest_left(problem, pairs)
    for row, margin in enumerate(margins):
        assert len(trials._rows(trials._of(row)[0])) < 40
        assert trials._known()[row] - trials._solve(row) == pytest.approx(margin, abs=1e-12)


@pytest.mark.parametrize(("rows", "columns"), [(7, 4), (4, 7), (12, 12), (3, 0), (1, 1)])
def test_the_best_prices_prove_that_no_matching_is_heavier(rows, columns):
    generator = np.random.default_rng(rows)
    for drawn in (0.2, 0.6, 1.0):
        weights = generator.random((rows, columns)) * (generator.random((rows, columns)) < drawn)
        prices, matching = best_prices(weights)
        excess = (weights - prices).max(1, initial=0.0).clip(0)
        assert (prices >= 0).all() and len(set(matching[0].tolist())) == len(matching[0])
        assert prices.sum() + excess.sum() == pytest.approx(weights[matching].sum(), abs=1e-12)


def test_rounded_prices_are_no_less_and_leave_most_of_the_margin():
    generator = np.random.default_rng(1)
    for margin in (1e-6, 0.01, 3.0):
        prices = generator.random(20) * (generator.random(20) < 0.6)
        rounded = rounded_up(prices, margin)
        assert (rounded >= prices).all() and (rounded[prices == 0] == 0).all()
        assert 0 < (rounded - prices).sum() <= margin / 8
    assert (rounded_up(prices, 0.0) == prices).all()
