"""Assignment: statements that the best prices need, and those prices where simplex leaves a rival open."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from support.heaviest import heaviest_left
from support.problems import margins_from_scratch, problem_of, small_problem
from support.small import small_head

from verale.bounds import Simplex
from verale.head import Box
from verale.paradigms import ORDERS
from verale.search.costs import Avoid
from verale.search.options import SearchOptions
from verale.search.problem import NoExplanation
from verale.search.smallest import SEARCHES


def explained(problem, order="rival", most=math.inf):
    search = SEARCHES["assignment"](problem.head, problem.patches, SearchOptions("assignment"))
    return search.explain(problem, order, [most] * len(problem))


@pytest.mark.parametrize("seed", range(4))
def test_the_best_prices_close_every_rival_and_none_without_any_one_statement(seed):
    problem = small_problem("softmax", seed, images=6, patches=7)
    for image, explanation in enumerate(explained(problem)):
        one, pairs = problem.take([image]), explanation.pairs
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
