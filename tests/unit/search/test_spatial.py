"""Spatial explanations: proved from their statements alone, in a readable order, and minimal where they say so."""

from __future__ import annotations

import pytest
import torch
from support.problems import SLACK, SPATIAL, margins_from_scratch, small_problem, tied_problem

from verale.bounds import ExactParadigm, Projection
from verale.paradigms import ORDERS
from verale.search.problem import Problem
from verale.search.spatial import SpatialExplanation, explain_spatial


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
@pytest.mark.parametrize("order", ORDERS)
def test_the_statements_alone_prove_the_class_and_each_is_needed(geometry, paradigm, order):
    problem = small_problem(geometry, 1)
    paradigm = paradigm(problem.head)
    explanations = explain_spatial(problem, paradigm, order)
    assert any(isinstance(explanation, SpatialExplanation) for explanation in explanations)
    for image, explanation in enumerate(explanations):
        if isinstance(explanation, str):
            continue
        one, pairs = problem.take([image]), explanation.pairs
        assert (explanation.margins > 0).all() and explanation.prices == {}
        torch.testing.assert_close(
            margins_from_scratch(one, paradigm, [pairs])[0], explanation.margins, rtol=SLACK, atol=SLACK
        )
        assert [patch for patch, _ in pairs] == sorted(patch for patch, _ in pairs)
        assert paradigm.ordered or pairs == sorted(pairs)
        assert explanation.minimal == isinstance(paradigm, ExactParadigm)
        for dropped in pairs:
            rest = [pair for pair in pairs if pair != dropped]
            assert not (margins_from_scratch(one, paradigm, [rest]) > 0).all()


def test_within_a_tolerance_minimality_is_not_claimed():
    problem = small_problem("euclidean", tolerance=0.01)
    explanations = explain_spatial(problem, Projection(problem.head), "rival")
    assert not any(explanation.minimal for explanation in explanations if not isinstance(explanation, str))


def test_a_tie_gives_a_reason():
    problem = tied_problem()
    (reason,) = explain_spatial(problem, Projection(problem.head), "rival")
    assert isinstance(reason, str) and "stays open" in reason


def test_no_images_give_no_explanations():
    problem: Problem = small_problem("euclidean").take([])
    assert explain_spatial(problem, Projection(problem.head), "rival") == []
