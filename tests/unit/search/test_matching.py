"""The search's matching against all permutations; its prices prove that there is none heavier."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from support.cases import every

from verale.search.matching import Matching, ranked


def heaviest(weights):
    rows, columns = weights.shape
    return max(
        sum(weights[row, column] for row, column in enumerate(order) if column >= 0)
        for order in permutations([*range(columns), *[-1] * rows], rows)
    )


def check(weights, matching, u, v):
    assert (u >= 0).all() and (v >= 0).all() and (u[:, None] + v >= weights - 1e-12).all()
    assert u.sum() + v.sum() == pytest.approx(heaviest(weights), abs=1e-12)
    assert matching.weight(weights) == pytest.approx(heaviest(weights), abs=1e-12)
    for row, column in enumerate(matching.of_row.tolist()):
        assert column < 0 or matching.of_column[column] == row


@every("seed", range(60))
def test_from_any_start(seed):
    generator = np.random.default_rng(seed)
    rows, columns = generator.integers(1, 5, 2)
    weights = np.round(generator.random((rows, columns)) * 8) / generator.choice([8, 7]) * generator.integers(0, 2)
    weights *= generator.random((rows, columns)) < 0.8
    v = weights.max(0) * generator.choice([0.5, 1.0, 1.5])
    u = (weights - v).max(1).clip(0)
    matching = Matching(np.full(rows, -1), np.full(columns, -1))
    matching.improve(weights, u, v)
    check(weights, matching, u, v)


@every("seed", range(60))
def test_ranked_prices_are_best_where_nothing_is_stated(seed):
    """With tops they still are a start from which the best are found."""
    generator = np.random.default_rng(seed)
    gain, left = np.sort(generator.random(generator.integers(1, 5)))[::-1], generator.random(generator.integers(1, 5))
    for top in (np.zeros(len(gain)), generator.random(len(gain))):
        weights = gain * (left[:, None] - top).clip(min=0)
        v, matching = ranked(gain, left, top)
        u = (weights - v).max(1).clip(0)
        if not top.any():
            check(weights, matching, u.copy(), v.copy())
        matching.improve(weights, u, v)
        check(weights, matching, u, v)
