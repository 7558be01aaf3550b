"""Dropping masses in machine code: what is left is needed, and has the best prices of all patches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from support.heaviest import heaviest_left, known_and_given
from support.problems import problem_of, small_problem
from support.small import small_head

from verale.bounds import Assignment
from verale.head import Box, Head, Identity, Softmax
from verale.paradigms import ORDERS
from verale.search.compiled.assigned import drop_masses
from verale.search.compiled.image import image_arrays
from verale.search.compiled.matching import rivals_of
from verale.search.compiled.statements import add_statements
from verale.search.costs import Costs

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
            yield from (replace(problem.take([image]), costs=costs) for image in range(len(problem)))


def swept(problem):
    """What the published order states, most of which is not needed."""
    image = image_arrays(problem, Assignment(problem.head))
    return add_statements(problem, image, 0.0, order=ORDERS[1]).pairs


def dropped(problem, image=None):
    """What is left of that."""
    pairs, image = swept(problem), image or rivals_of(problem)
    return pairs, drop_masses(image, pairs, [problem.costs.of_pair(pair) for pair in pairs], not problem.tolerance)


@pytest.mark.parametrize("kind", KINDS)
def test_no_statement_can_be_dropped_that_is_kept(kind):
    fewer = 0
    for problem in problems(kind):
        pairs, assigned = dropped(problem)
        assert heaviest_left(problem, assigned.pairs).min() > 0
        assert assigned.minimal and set(assigned.pairs) <= set(pairs)
        for at in range(len(assigned.pairs)):
            assert heaviest_left(problem, assigned.pairs[:at] + assigned.pairs[at + 1 :]).min() < 0
        fewer += len(pairs) - len(assigned.pairs)
    assert fewer > 100


@pytest.mark.parametrize("kind", KINDS)
def test_prices_prove_the_margins_and_are_the_best_where_simplex_does_not_do(kind):
    priced = 0
    for problem in problems(kind):
        _, assigned = dropped(problem)
        known, weights = known_and_given(rivals_of(problem), assigned.pairs)
        for row, (given, prices) in enumerate(zip(weights, assigned.prices, strict=True)):
            margin = assigned.margins[row]
            paid = known[row] - prices.sum() - (given - prices).max(1).clip(0).sum()
            assert margin * 7 / 8 - 1e-11 <= paid <= margin + 1e-11  # rounding prices up costs an eighth at most
            assert margin > 0 and (prices >= 0).all()
            heaviest = given[linear_sum_assignment(given, maximize=True)].sum()
            if known[row] <= given.max(0).sum():  # simplex leaves the rival open
                assert margin == pytest.approx(known[row] - heaviest, abs=1e-11)
                priced += 1
    assert priced > 10


def test_the_costliest_goes_first():
    """Of statements about prototypes that cost three times as much, fewer are left."""
    left = {kind: [0, 0] for kind in ("exact", "costs")}
    for kind, counted in left.items():
        for problem in problems(kind):
            for _, k in dropped(problem)[1].pairs:
                counted[k % 2] += 1
    assert left["costs"][0] < left["exact"][0] and left["costs"][1] > left["exact"][1]


def test_what_rounding_may_decide_is_kept_and_not_called_needed():
    """With noise as large as a margin, nothing is sure."""
    one = small_problem("softmax", 0).take([0])
    image = rivals_of(one)
    pairs, assigned = dropped(one, image._replace(noise=np.full(len(image.bias), 10.0)))
    assert assigned.pairs == sorted(pairs) and not assigned.minimal
