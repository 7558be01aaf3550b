"""Assignment: statements that the best prices need, and those prices where simplex leaves a rival open."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from support.problems import margins_from_scratch, small_problem, tied_problem

from verale.bounds import Assignment, Simplex
from verale.paradigms import ORDERS
from verale.search.assignment import _Rivals, _Trials, explain_assignment
from verale.search.spatial import explain_spatial


def heaviest_left(problem, pairs):
    """(K,) the margins that the best prices prove, from scratch: all patches, an exact matching."""
    image = _Rivals.of(problem)
    stated = np.zeros(image.mass.shape, bool)
    stated[tuple(np.array(pairs).reshape(-1, 2).T)] = True
    left = 1 - np.where(stated, image.mass, 0).sum(1)
    top = np.where(stated, image.mass, 0).max(0)
    given = (np.where(stated, 0, left[:, None] - top).clip(0) * -weights.clip(max=0) for weights in image.weights)
    heaviest = [each[linear_sum_assignment(each, maximize=True)].sum() for each in given]
    return image.bias + image.weights @ top - heaviest


@pytest.mark.parametrize("seed", range(4))
def test_the_best_prices_close_every_rival_and_none_without_any_one_statement(seed):
    problem = small_problem("softmax", seed, images=6, patches=7)
    for image, explanation in enumerate(explain_assignment(problem, Assignment(problem.head), "rival")):
        one, pairs = problem.take([image]), explanation.pairs
        margins = heaviest_left(one, pairs)
        assert margins.min() > 0
        proved = explanation.margins[_Rivals.of(one).rivals].numpy()
        assert ((proved > 0) & (proved <= margins + 1e-9)).all()
        assert explanation.minimal
        assert all(heaviest_left(one, [*pairs[:at], *pairs[at + 1 :]]).min() < 0 for at in range(len(pairs)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(4))
def test_prices_are_stated_for_the_rivals_that_simplex_leaves_open(seed, order):
    problem = small_problem("softmax", seed)
    for image, explanation in enumerate(explain_assignment(problem, Assignment(problem.head), order)):
        alone = margins_from_scratch(problem.take([image]), Simplex(problem.head), [explanation.pairs])[0]
        assert sorted(explanation.prices) == (~(alone > 0)).nonzero().flatten().tolist()
        assert all(price > 0 for prices in explanation.prices.values() for price in prices.values())


def test_fewer_statements_than_under_simplex():
    sizes = {Simplex: 0, Assignment: 0}
    for seed in range(4):
        problem = small_problem("softmax", seed, images=6, patches=7)
        for paradigm, search in ((Simplex, explain_spatial), (Assignment, explain_assignment)):
            sizes[paradigm] += sum(len(each.pairs) for each in search(problem, paradigm(problem.head), "rival"))
    assert sizes[Assignment] < sizes[Simplex]


@pytest.mark.parametrize("seed", range(4))
def test_only_the_patches_that_can_give_most_matter(seed):
    """The best prices of a rival leave no excess at any patch but these, and sum to the heaviest matching of all."""
    problem = small_problem("softmax", seed, images=1, patches=40)
    generator = np.random.default_rng(seed)
    pairs = [(int(patch), int(k)) for patch, k in np.argwhere(generator.random((40, problem.head.size)) < 0.2)]
    trials, margins = _Trials(problem, pairs), heaviest_left(problem, pairs)
    for row, margin in enumerate(margins):
        assert len(trials._rows(trials._of(row)[0])) < 40
        assert trials._known()[row] - trials._solve(row) == pytest.approx(margin, abs=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_an_image_with_too_many_statements_is_given_up(order):
    problem = small_problem("softmax", 0, images=1)
    (explanation,) = explain_assignment(problem, Assignment(problem.head), order)
    (given_up,) = explain_assignment(problem, Assignment(problem.head), order, [0.0])
    assert "given up" in given_up
    assert explain_assignment(problem, Assignment(problem.head), order, [math.inf])[0].pairs == explanation.pairs


def test_a_tie_gives_a_reason():
    problem = tied_problem(softmax=True)
    (reason,) = explain_assignment(problem, Assignment(problem.head), "rival")
    assert isinstance(reason, str) and "stays open" in reason
