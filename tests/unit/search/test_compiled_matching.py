"""The best prices: they sum to the heaviest matching, begin anywhere, and leave no patch more than they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from support.problems import small_problem

from verale.search.compiled.matching import pay_alone, priced_masses, rivals_of, solve, workspace_of


@pytest.mark.parametrize("seed", range(3))
def test_they_sum_to_the_heaviest_matching_and_bound_what_each_patch_gives(seed):
    rivals = rivals_of(small_problem("softmax", seed, images=1, patches=30))
    stated = np.random.default_rng(seed).random(rivals.low.shape) < 0.2
    patches, prototypes = np.nonzero(stated)
    priced, room = priced_masses(rivals, patches, prototypes), workspace_of(rivals, len(stated))
    left, top = np.maximum(1 - np.where(stated, rivals.low, 0).sum(1), 0), np.where(stated, rivals.low, 0).max(0)
    priced.top[:] = top
    for rival, weights in enumerate(rivals.weights):
        gain = np.where(stated, 0, left[:, None] - top).clip(0) * -weights.clip(max=0)
        heaviest = gain[linear_sum_assignment(gain, maximize=True)].sum()
        pay_alone(rivals, priced, rival)
        assert priced.sums[rival].sum() >= heaviest - 1e-12
        assert solve(rivals, priced, room, rival) == pytest.approx(heaviest, abs=1e-12)
        assert priced.sums[rival].sum() == pytest.approx(heaviest, abs=1e-12)
        prices = np.zeros(len(weights))
        count = rivals.needed[rival]
        prices[rivals.paying[rival, :count]] = priced.price[rival, :count]
        assert (gain <= priced.excess[rival][:, None] + prices + 1e-12).all()
