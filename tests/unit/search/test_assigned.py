"""Dropping masses: what is left is needed, and has prices that prove it; no image depends on the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support.heaviest import heaviest_left, known_and_given
from support.problems import problem_of, small_problem
from support.small import small_head

from verale.head import Box, Head, Identity, Softmax
from verale.paradigms import ORDERS
from verale.search.assigned import assign_masses, rounded_up
from verale.search.costs import Costs
from verale.search.masses import Masses, grow_masses

KINDS = ("exact", "wide", "bounded", "costs")


def problems(kind="exact"):
    """Images of heads with weights of both signs, with few weights and none negative; few patches and many."""
    tolerance = 0.01 if kind == "wide" else 0.0
    for seed in range(4):
        head = small_head("softmax", seed)
        few = small_head("softmax", seed, prototypes=30, classes=6)
        few = Head(few.weight.clamp(min=0), Softmax(), Identity())
        for each, sizes in ((head, {"images": 6, "patches": 7}), (few, {"images": 4, "patches": 25})):
            bounded = replace(each, domain=Box(-9, 9)) if kind == "bounded" else each
            problem = problem_of(bounded, tolerance, seed=seed, **sizes)
            costs = Costs.of(prototypes=dict.fromkeys(range(0, each.size, 2), 3.0)) if kind == "costs" else Costs()
            yield replace(problem, costs=costs)


def pairs_of(stated):
    return [tuple(pair) for pair in stated.nonzero().tolist()]


def dropped(problem, masses=None):
    """Image by image what the published order states, most of which is not needed, and what is left of that."""
    masses = masses or Masses.of(problem)
    grown = grow_masses(masses, ORDERS[1], [np.inf] * len(problem))
    stated = [each.stated for each in grown]
    assigned = assign_masses(masses, stated, once=not problem.tolerance)
    for image, (pairs, left) in enumerate(zip(stated, assigned, strict=True)):
        yield problem.take([image]), pairs_of(pairs), left


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.long] * (kind == "bounded")) for kind in KINDS])
def test_no_statement_can_be_dropped_that_is_kept(kind):
    fewer = 0
    for problem in problems(kind):
        for one, pairs, assigned in dropped(problem):
            assert heaviest_left(one, assigned.pairs).min() > 0
            assert assigned.minimal and set(assigned.pairs) <= set(pairs)
            for at in range(len(assigned.pairs)):
                assert heaviest_left(one, assigned.pairs[:at] + assigned.pairs[at + 1 :]).min() < 0
            fewer += len(pairs) - len(assigned.pairs)
    assert fewer > 100


@pytest.mark.parametrize("kind", KINDS)
def test_prices_prove_margins_and_the_least_one_is_that_of_the_best(kind):
    priced = 0
    for problem in problems(kind):
        for one, _, assigned in dropped(problem):
            known, weights = known_and_given(one, assigned.pairs)
            best = heaviest_left(one, assigned.pairs)
            for row, margin in enumerate(assigned.margins):
                prices = np.zeros(one.head.size)
                for prototype, price in assigned.prices.get(row, {}).items():
                    prices[prototype] = price
                if row in assigned.prices:
                    paid = known[row] - prices.sum() - (weights[row] - prices).max(1).clip(0).sum()
                    # Rounding prices up costs an eighth at most.
                    assert 0 < margin * 7 / 8 - 1e-11 <= paid <= best[row] + 1e-11
                    priced += 1
                else:  # simplex closes the rival
                    assert known[row] > weights[row].max(0).sum()
            open_ = [row for row, given in enumerate(weights) if known[row] <= given.max(0).sum()]
            if open_:
                least = min(open_, key=lambda row: best[row])
                assert assigned.margins[least] == pytest.approx(best[least], abs=1e-11)
    assert priced > 10


def test_the_costliest_goes_first():
    """Of statements about prototypes that cost three times as much, fewer are left."""
    left = {kind: [0, 0] for kind in ("exact", "costs")}
    for kind, counted in left.items():
        for problem in problems(kind):
            for _, _, assigned in dropped(problem):
                for _, k in assigned.pairs:
                    counted[k % 2] += 1
    assert left["costs"][0] < left["exact"][0] and left["costs"][1] > left["exact"][1]


def test_what_rounding_may_decide_is_kept_and_not_called_needed():
    """With noise as large as a margin, nothing is sure."""
    one = small_problem("softmax", 0).take([0])
    masses = Masses.of(one)
    noisy = replace(masses, noise=torch.full_like(masses.noise, 10.0))
    (grown,) = grow_masses(masses, ORDERS[1], [np.inf])
    (assigned,) = assign_masses(noisy, [grown.stated], once=True)
    assert assigned.pairs == pairs_of(grown.stated) and not assigned.minimal


@pytest.mark.parametrize("missing", [0, 1])
def test_the_others_say_what_the_last_mass_of_a_patch_is(missing):
    """With a single patch, all masses but one say as much as all."""
    one = small_problem("softmax", 0, images=1, patches=1)
    stated = torch.arange(one.head.size)[None] < one.head.size - missing
    (assigned,) = assign_masses(Masses.of(one), [stated], once=True)
    assert len(assigned.pairs) < int(stated.sum()) and heaviest_left(one, assigned.pairs).min() > 0
    for at in range(len(assigned.pairs)):
        assert heaviest_left(one, assigned.pairs[:at] + assigned.pairs[at + 1 :]).min() < 0


def test_a_margin_of_0_without_remainders_is_surely_open_where_these_count():
    """Two masses and no bias: with nothing stated nothing is gained, and the remainders decide."""
    head = Head(torch.tensor([[0.75, -0.5], [-0.25, 1.75]]), Softmax(), Identity())
    problem = problem_of(head, 0.0, seed=0, images=6, patches=2)
    left = [assigned for _, _, assigned in dropped(problem)]
    assert all(assigned.minimal for assigned in left) and any(assigned.pairs for assigned in left)


def test_a_head_without_rivals_weights_needs_no_statement():
    masses = Masses.of(small_problem("softmax", 0).take([0]))
    nothing = torch.zeros_like(masses.positive)
    bias = torch.ones_like(masses.bias).where(masses.bias.isfinite(), torch.inf)
    stated = torch.zeros(masses.low.shape[1:], dtype=torch.bool)
    stated[0, 1] = stated[2, 3] = True
    free = replace(masses, positive=nothing, negative=nothing, bias=bias)
    (assigned,) = assign_masses(free, [stated], once=True)
    assert assigned.pairs == [] and assigned.minimal and assigned.prices == {}
    assert sorted(assigned.margins.tolist())[:-1] == [1.0] * (masses.bias.shape[1] - 1)


@pytest.mark.parametrize("kind", KINDS)
def test_no_image_depends_on_the_others_of_its_batch(kind):
    for problem in problems(kind):
        together = [assigned for _, _, assigned in dropped(problem)]
        alone = [assigned for image in range(len(problem)) for _, _, assigned in dropped(problem.take([image]))]
        assert [each.pairs for each in together] == [each.pairs for each in alone]
        assert [each.minimal for each in together] == [each.minimal for each in alone]


def test_rounded_prices_are_no_less_and_leave_most_of_the_margin():
    generator = np.random.default_rng(1)
    for margin in (1e-6, 0.01, 3.0):
        prices = generator.random(20) + 1e-3
        rounded = rounded_up(prices, margin)
        assert (rounded >= prices).all() and (rounded - prices).sum() <= margin / 8
    assert rounded_up(prices, 0.0) is prices and len(rounded_up(prices[:0], 1.0)) == 0
