"""Growth of statements about masses: they entail the class by the ranges of `simplex`, or it says why not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from support.problems import margins_from_scratch, problem_of, small_problem, tied_problem
from support.small import small_head

from verale.bounds import Simplex
from verale.head import Box, Head, Identity, Softmax
from verale.paradigms import ORDERS
from verale.search import masses
from verale.search.assigned import assign_masses, rounded_up
from verale.search.costs import Avoid, Costs
from verale.search.masses import Masses, Payers, grow_masses, heaviest_matching, least_prices
from verale.search.options import SearchOptions
from verale.search.problem import NoExplanation
from verale.search.smallest import SEARCHES


def grown(problem, order="rival", most=math.inf):
    return grow_masses(Masses.of(problem), order, [most] * len(problem))


def pairs_of(stated):
    return [tuple(pair) for pair in stated.nonzero().tolist()]


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Whether images count as having too many pairs for rounds: then growth goes by levels."""
    if request.param == "large":
        monkeypatch.setattr(masses, "_MOST_PAIRS", 0)
    return request.param


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("tolerance", [0.0, 0.001])
@pytest.mark.parametrize("domain", [Box(), Box(-9, 9)])
@pytest.mark.parametrize("seed", range(3))
def test_statements_entail_the_class(seed, domain, tolerance, order, size):
    head = replace(small_head("softmax", seed), domain=domain)
    problem = problem_of(head, tolerance, seed=seed, images=5, patches=7)
    some = 0
    for image, each in enumerate(grown(problem, order)):
        if each.failure:
            continue
        some += 1
        one = problem.take([image])
        assert (margins_from_scratch(one, Simplex(head), [pairs_of(each.stated)]) > 0).all()
    assert some


@pytest.mark.parametrize("order", ORDERS)
def test_too_many_statements_are_given_up_and_a_tie_stays_open(order, size):
    assert all("given up" in each.failure.reason for each in grown(small_problem("softmax", 0), order, 0.0))
    (tied,) = grown(tied_problem(softmax=True), order)
    assert tied.failure.stays_open and "stays open" in tied.failure.reason


def test_a_level_is_the_same_for_all_patches_and_the_next_higher_one_leaves_a_rival_open(monkeypatch):
    monkeypatch.setattr(masses, "_MOST_PAIRS", 0)
    problem = small_problem("softmax", 4, images=6, patches=9)
    for image, growth in enumerate(grown(problem)):
        low = Masses.of(problem).low[image]
        left = 1 - (low * growth.stated).sum(1)
        last = low.masked_fill(~growth.stated, torch.inf).amin(1)  # without it, each patch had at least the level
        before = (left + last.where(last.isfinite(), 0.0))[growth.stated.any(1)]
        assert float(left.max()) <= float(before.min()) + 1e-12
        fewer = growth.stated & ~((low == last[:, None]) & (left + last <= 1.0)[:, None])
        one = problem.take([image])
        assert not (margins_from_scratch(one, Simplex(problem.head), [pairs_of(fewer)]) > 0).all()


# Matchings and prices: bounds of all rivals hold for the heaviest matching, and prices sum to what they say.


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


# Dropping masses: what is left is needed, and has prices that prove it; no image depends on the others.


KINDS = ("exact", "wide", "bounded", "costs")


def problems(kind="exact"):
    """Images of heads with weights of both signs, with few weights and none negative; few patches and many."""
    tolerance = 0.01 if kind == "wide" else 0.0
    for seed in range(2):
        head = small_head("softmax", seed)
        few = small_head("softmax", seed, prototypes=30, classes=6)
        few = Head(few.weight.clamp(min=0), Softmax(), Identity())
        for each, sizes in ((head, {"images": 6, "patches": 7}), (few, {"images": 4, "patches": 25})):
            bounded = replace(each, domain=Box(-9, 9)) if kind == "bounded" else each
            problem = problem_of(bounded, tolerance, seed=seed, **sizes)
            costs = Costs.of(prototypes=dict.fromkeys(range(0, each.size, 2), 3.0)) if kind == "costs" else Costs()
            yield replace(problem, costs=costs)


def pairs_stated(stated):
    return [tuple(pair) for pair in stated.nonzero().tolist()]


def dropped(problem, masses=None):
    """Image by image what the published order states, most of which is not needed, and what is left of that."""
    masses = masses or Masses.of(problem)
    grown = grow_masses(masses, ORDERS[1], [np.inf] * len(problem))
    stated = [each.stated for each in grown]
    assigned = assign_masses(masses, stated, once=not problem.tolerance)
    for image, (pairs, left) in enumerate(zip(stated, assigned, strict=True)):
        yield Masses.of(problem.take([image])), pairs_stated(pairs), left


def known_and_given(masses, pairs):
    """Of the only image (C,) the margins if no prototype got a remainder, infinite at its class; for each class (L, P)
    what a patch can give a prototype."""
    stated = np.zeros(masses.low[0].shape, bool)
    stated[tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)] = True
    low, high = (np.where(stated, end[0].numpy(), 0) for end in (masses.low, masses.high))
    left = (1 - low.sum(1, keepdims=True)).clip(0)
    alone = 1 - (high.sum(1, keepdims=True) - high)
    determined = stated.sum(1, keepdims=True) - stated == stated.shape[1] - 1
    floor = np.maximum(np.where(determined, np.maximum(low, alone), low), masses.floor.numpy()).max(0)
    top = np.where(stated, np.minimum(high, low + left), 0).max(0)
    positive, negative, bias = (each[0].numpy() for each in (masses.positive, masses.negative, masses.bias))
    known = bias + floor @ positive + top @ negative
    return known, [np.where(stated, 0, left - top).clip(0) * -weights for weights in negative.T]


def heaviest_left(masses, pairs):
    """(C,) the margins that the best prices prove, from scratch: all patches, an exact matching."""
    known, given = known_and_given(masses, pairs)
    return known - [each[linear_sum_assignment(each, maximize=True)].sum() for each in given]


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
    assert fewer > 50


@pytest.mark.parametrize("kind", KINDS)
def test_prices_prove_margins_and_the_least_one_is_that_of_the_best(kind):
    priced = 0
    for problem in problems(kind):
        for one, _, assigned in dropped(problem):
            known, weights = known_and_given(one, assigned.pairs)
            best = heaviest_left(one, assigned.pairs)
            for row, margin in enumerate(assigned.margins):
                prices = np.zeros(one.low.shape[2])
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
    assert priced > 5


def test_what_rounding_may_decide_is_kept_and_not_called_needed():
    """With noise as large as a margin, nothing is sure."""
    one = small_problem("softmax", 0).take([0])
    masses = Masses.of(one)
    noisy = replace(masses, noise=torch.full_like(masses.noise, 10.0))
    (grown,) = grow_masses(masses, ORDERS[1], [np.inf])
    (assigned,) = assign_masses(noisy, [grown.stated], once=True)
    assert assigned.pairs == pairs_stated(grown.stated) and not assigned.minimal


@pytest.mark.parametrize("missing", [0, 1])
def test_the_others_say_what_the_last_mass_of_a_patch_is(missing):
    """With a single patch, all masses but one say as much as all."""
    one = small_problem("softmax", 0, images=1, patches=1)
    stated = torch.arange(one.head.size)[None] < one.head.size - missing
    masses = Masses.of(one)
    (assigned,) = assign_masses(masses, [stated], once=True)
    assert len(assigned.pairs) < int(stated.sum()) and heaviest_left(masses, assigned.pairs).min() > 0
    for at in range(len(assigned.pairs)):
        assert heaviest_left(masses, assigned.pairs[:at] + assigned.pairs[at + 1 :]).min() < 0


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


# Assignment: statements that the best prices need, and those prices where simplex leaves a rival open.


def explained(problem, order="rival", most=math.inf):
    search = SEARCHES["assignment"](problem.head, problem.patches, SearchOptions("assignment"))
    return search.explain(problem, order, [most] * len(problem))


@pytest.mark.parametrize("seed", range(4))
def test_the_best_prices_close_every_rival_and_none_without_any_one_statement(seed):
    problem = small_problem("softmax", seed, images=6, patches=7)
    for image, explanation in enumerate(explained(problem)):
        one, pairs = Masses.of(problem.take([image])), explanation.pairs
        margins = heaviest_left(one, pairs)
        assert margins.min() > 0
        proved = explanation.margins.numpy()
        assert ((proved > 0) & (proved <= margins + 1e-9)).all()
        assert explanation.minimal
        assert all(heaviest_left(one, [*pairs[:at], *pairs[at + 1 :]]).min() < 0 for at in range(len(pairs)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(4))
def test_prices_are_stated_for_the_rivals_that_simplex_leaves_open(seed, order):
    problem = small_problem("softmax", seed)
    for image, explanation in enumerate(explained(problem, order)):
        alone = margins_from_scratch(problem.take([image]), Simplex(problem.head), [explanation.pairs])[0]
        assert sorted(explanation.prices) == (~(alone > 0)).nonzero().flatten().tolist()
        assert all(price > 0 for prices in explanation.prices.values() for price in prices.values())


@pytest.mark.parametrize("what", ["tolerance", "domain", "avoid"])
def test_what_quick_growth_does_not_know_is_grown_as_under_simplex(what):
    """Intervals, masses with ranges of their own, and growth around what must not be stated."""
    head = small_head("softmax", 1)
    if what == "domain":
        head = replace(head, domain=Box(-9, 9))
    problem = problem_of(head, 0.001 if what == "tolerance" else 0.0, seed=1)
    if what == "avoid":
        problem = replace(problem, avoid=Avoid(prototypes=(3,)))
    found = [each for each in explained(problem) if not isinstance(each, NoExplanation)]
    assert found
    for each in found:
        assert (each.margins > 0).all()
        assert what != "avoid" or all(k != 3 for _, k in each.pairs)
