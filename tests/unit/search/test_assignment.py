"""Assignment: from a simplex explanation to fewer statements, with prices where simplex leaves a rival open."""

from __future__ import annotations

import pytest
from support.problems import margins_from_scratch, small_problem, tied_problem

from verale.bounds import Assignment, Simplex
from verale.search.assignment import explain_assignment
from verale.search.spatial import explain_spatial


@pytest.mark.parametrize("seed", range(4))
def test_statements_are_some_of_simplex_and_prices_close_what_they_open(seed):
    problem = small_problem("softmax", seed)
    simplex = explain_spatial(problem, Simplex(problem.head), "rival")
    for image, explanation in enumerate(explain_assignment(problem, Assignment(problem.head), "rival")):
        assert set(explanation.pairs) <= set(simplex[image].pairs)
        assert (explanation.margins > 0).all()
        alone = margins_from_scratch(problem.take([image]), Simplex(problem.head), [explanation.pairs])[0]
        assert sorted(explanation.prices) == (~(alone > 0)).nonzero().flatten().tolist()
        assert all(price > 0 for prices in explanation.prices.values() for price in prices.values())


def test_some_statements_are_dropped_that_simplex_needs():
    dropped = 0
    for seed in range(4):
        problem = small_problem("softmax", seed, images=6, patches=7)
        simplex = explain_spatial(problem, Simplex(problem.head), "rival")
        assignment = explain_assignment(problem, Assignment(problem.head), "rival")
        dropped += sum(len(before.pairs) - len(after.pairs) for before, after in zip(simplex, assignment, strict=True))
    assert dropped > 0


def test_a_tie_gives_a_reason():
    problem = tied_problem(softmax=True)
    (reason,) = explain_assignment(problem, Assignment(problem.head), "rival")
    assert isinstance(reason, str) and "stays open" in reason
