"""The relaxation of a covering problem: its cost is the least, and its prices bound every cost from below."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import torch

from verale.search import covers
from verale.search.covers import relaxed

SHAPES = [(1, 4), (6, 20), (30, 90), (40, 30)]


def problem(shape, seed, few=0.6):
    """Gains, of which some are 0; needs that all columns together exceed, some of them hardly; and costs."""
    drawn = np.random.default_rng(seed)
    gains = drawn.exponential(size=shape) * (drawn.random(shape) < few) + 1e-6
    need = gains.sum(1) * drawn.choice([0.05, 0.4, 0.999], shape[0])
    return tuple(map(torch.from_numpy, (gains, need, drawn.choice([0.0, 0.5, 1.0, 4.0], shape[1]))))


def least(gains, need, costs) -> float:
    solved = scipy.optimize.linprog(costs.numpy(), -gains.numpy(), -need.numpy(), bounds=(0, 1), method="highs")
    return solved.fun


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shape", SHAPES)
def test_it_finds_the_least_cost(shape, seed):
    gains, need, costs = problem(shape, seed)
    found, expected = relaxed(gains, need, costs), least(gains, need, costs)
    assert expected * (1 - 1e-3) - 1e-3 <= found.bound <= expected + 1e-6
    assert ((found.share >= 0) & (found.share <= 1)).all()
    assert (gains @ found.share >= need * (1 - 1e-3)).all()
    assert float(costs @ found.share) == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_prices_bound_the_cost_from_below_whenever_it_is_stopped(steps, monkeypatch):
    monkeypatch.setattr(covers, "_STEPS", steps)
    gains, need, costs = problem((6, 20), steps)
    found = relaxed(gains, need, costs)
    assert (found.prices >= 0).all()
    assert torch.allclose(found.reduced, costs - found.prices @ gains)
    bound = float(found.prices @ need + found.reduced.clamp(max=0).sum())
    assert bound == pytest.approx(max(found.bound, bound)) and bound <= least(gains, need, costs) + 1e-6


def test_a_bound_that_is_enough_is_not_raised():
    gains, need, costs = problem((30, 90), 1)
    whole = relaxed(gains, need, costs).bound
    assert whole / 2 < relaxed(gains, need, costs, whole / 2).bound < whole


def test_rows_are_entered_where_they_are_missed_and_those_that_need_nothing_cost_nothing(monkeypatch):
    gains, need, costs = problem((30, 90), 1)
    need[2] = -1.0
    whole = relaxed(gains, need, costs)
    assert whole.prices[2] == 0.0
    monkeypatch.setattr(covers, "_ROWS", 3)
    assert relaxed(gains, need, costs).bound == pytest.approx(whole.bound, rel=1e-3)
    need[1] = gains[1].sum() * 1.01
    assert relaxed(gains, need, costs) is None
