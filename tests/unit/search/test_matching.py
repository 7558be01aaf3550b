"""Matchings and prices: bounds of all rivals hold for the heaviest matching, and prices sum to what they say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from support.problems import small_problem

from verale.search.masses import Masses, Payers, heaviest_matching, least_prices

STATED = 0.2


def states(seed, images=3, patches=30):
    """Images some of whose masses are stated: what is stated (N, L, P), remainders and tops."""
    masses = Masses.of(small_problem("softmax", seed, images=images, patches=patches))
    stated = torch.from_numpy(np.random.default_rng(seed).random(masses.low.shape) < STATED)
    low = masses.low * stated
    return masses, stated, (1 - low.sum(2)).clamp(min=0), low.amax(1)


def given(masses, stated, left, top, image, rival):
    """(L, P) what each patch can give each prototype."""
    gap = (left[image, :, None] - top[image]).clamp(min=0).masked_fill(stated[image], 0.0)
    return (gap * -masses.negative[image, :, rival]).numpy()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("patches", [2, 30])
def test_the_bound_of_all_rivals_is_no_less_than_the_heaviest_matching(seed, patches):
    masses, stated, left, top = states(seed, patches=patches)
    payers = Payers.of(masses, int(stated.sum((1, 2)).max()))
    known = masses.bias
    for above in (-torch.inf, 0.0, torch.inf):
        bound = payers.bounded(left, top, known, torch.full_like(known, above))
        for image in range(len(masses)):
            for rival in range(known.shape[1]):
                gives = given(masses, stated, left, top, image, rival)
                heaviest = gives[linear_sum_assignment(gives, maximize=True)].sum()
                assert bound[image, rival] <= known[image, rival] - heaviest + 1e-12


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("patches", [2, 30])
def test_prices_prove_what_bounds_all_rivals(seed, patches):
    masses, stated, left, top = states(seed, patches=patches)
    payers = Payers.of(masses, int(stated.sum((1, 2)).max()))
    images, rivals = (each.flatten() for each in torch.meshgrid(torch.arange(3), torch.arange(3), indexing="ij"))
    bound = payers.bounded(left, top, torch.zeros_like(masses.bias), torch.full_like(masses.bias, torch.inf))
    prices = payers.prices(images, rivals, left, top)
    for image, rival, values, prototypes in zip(
        images.tolist(), rivals.tolist(), prices, payers.prototype[images, rivals], strict=True
    ):
        paid = np.zeros(masses.low.shape[2])
        paid[prototypes.numpy()] = values.numpy()
        assert (paid >= 0).all()
        excess = (given(masses, stated, left, top, image, rival) - paid).max(1).clip(0).sum()
        assert paid.sum() + excess <= -float(bound[image, rival]) + 1e-12


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("patches", [2, 7, 30])
def test_least_prices_sum_to_the_heaviest_matching(seed, patches):
    masses, stated, left, top = states(seed, patches=patches)
    for image in range(len(masses)):
        for rival in range(masses.bias.shape[1]):
            weight = -masses.negative[image, :, rival].numpy()
            matching = heaviest_matching(weight, left[image].numpy(), top[image].numpy(), stated[image].numpy())
            gives = given(masses, stated, left, top, image, rival)
            heaviest = gives[linear_sum_assignment(gives, maximize=True)].sum()
            assert matching.gained.sum() == pytest.approx(heaviest, abs=1e-12)
            paid = np.zeros(gives.shape[1])
            paid[matching.prototypes] = least_prices(matching)
            assert (paid >= 0).all()
            assert paid.sum() + (gives - paid).max(1).clip(0).sum() == pytest.approx(heaviest, abs=1e-11)
