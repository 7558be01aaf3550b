"""Dropping masses in machine code: the same statements as without, and the best prices of all patches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from support.problems import problem_of, small_problem
from support.small import small_head

from verale.bounds import Assignment
from verale.head import Head, Identity, Softmax
from verale.paradigms import ORDERS
from verale.search.compiled.assigned import drop_masses
from verale.search.compiled.image import image_arrays
from verale.search.compiled.statements import add_statements
from verale.search.prices import PricedTrials, Rivals


def problems():
    """Heads with weights of both signs, with few weights and none negative; few patches and many."""
    for seed in range(4):
        yield small_problem("softmax", seed, images=6, patches=7)
        head = small_head("softmax", seed, prototypes=30, classes=6)
        yield problem_of(Head(head.weight.clamp(min=0), Softmax(), Identity()), images=4, patches=25, seed=seed)


def swept(problem):
    """What the published order states, most of which is not needed."""
    image = image_arrays(problem, Assignment(problem.head))
    return add_statements(problem, image, 0.0, order=ORDERS[1]).pairs


def weights_of(image, pairs):
    """For each rival (L, P) what a patch can give a prototype, and the margin if nothing is given."""
    stated = np.zeros(image.mass.shape, bool)
    stated[tuple(np.array(pairs).reshape(-1, 2).T)] = True
    masses = np.where(stated, image.mass, 0)
    gap = np.where(stated, 0, 1 - masses.sum(1, keepdims=True) - masses.max(0)).clip(0)
    return [gap * -row.clip(max=0) for row in image.weights], image.bias + image.weights @ masses.max(0)


def test_the_statements_are_those_of_the_search_without_machine_code():
    dropped = 0
    for problem in problems():
        for index in range(len(problem)):
            one = problem.take([index])
            pairs = swept(one)
            image, trials = Rivals.of(one), PricedTrials(one, sorted(pairs))
            assigned = drop_masses(image.mass, image.weights, image.bias, image.noise, pairs)
            if assigned is not None:
                trials.drop_all()
                assert assigned.pairs == trials.pairs and assigned.minimal == trials.minimal
                dropped += len(pairs) - len(assigned.pairs)
    assert dropped > 100


def test_prices_prove_the_margins_and_are_the_best_where_simplex_does_not_do():
    priced = 0
    for problem in problems():
        for index in range(len(problem)):
            one = problem.take([index])
            image = Rivals.of(one)
            assigned = drop_masses(image.mass, image.weights, image.bias, image.noise, swept(one))
            if assigned is None:
                continue
            weights, known = weights_of(image, assigned.pairs)
            for row, (given, prices) in enumerate(zip(weights, assigned.prices, strict=True)):
                excess = (given - prices).max(1).clip(0).sum()
                assert assigned.margins[row] == pytest.approx(known[row] - prices.sum() - excess, abs=1e-11)
                assert assigned.margins[row] > 0 and (prices >= 0).all()
                heaviest = given[linear_sum_assignment(given, maximize=True)].sum()
                if known[row] <= given.max(0).sum():  # simplex leaves the rival open
                    assert assigned.margins[row] == pytest.approx(known[row] - heaviest, abs=1e-11)
                    priced += 1
    assert priced > 20


def test_no_statement_can_be_dropped_that_is_kept():
    for problem in problems():
        one = problem.take([0])
        image = Rivals.of(one)
        assigned = drop_masses(image.mass, image.weights, image.bias, image.noise, swept(one))
        if assigned is None:
            continue
        assert assigned.minimal
        for at in range(len(assigned.pairs)):
            weights, known = weights_of(image, assigned.pairs[:at] + assigned.pairs[at + 1 :])
            heaviest = [each[linear_sum_assignment(each, maximize=True)].sum() for each in weights]
            assert (known - heaviest).min() < 0


def test_what_rounding_may_decide_is_kept_and_not_called_needed():
    """With noise as large as a margin, nothing is sure."""
    one = small_problem("softmax", 0).take([0])
    image = replace(Rivals.of(one), noise=np.full(len(Rivals.of(one).rivals), 10.0))
    assigned = drop_masses(image.mass, image.weights, image.bias, image.noise, swept(one))
    assert assigned is not None and assigned.pairs == sorted(swept(one)) and not assigned.minimal
