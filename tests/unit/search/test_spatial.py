"""Spatial explanations: proved from their statements alone, in a readable order, and minimal where they say so."""

from __future__ import annotations

import sys
from statistics import mean

import pytest
import torch
from support.compiled import ADMITTED, problem_named
from support.problems import SLACK, SPATIAL, margins_from_scratch, small_problem, tied_problem

from verale.bounds import ExactParadigm, Projection
from verale.paradigms import ORDERS
from verale.search import compiled
from verale.search import machine_code as engine
from verale.search.problem import Problem
from verale.search.prove import SpatialExplanation
from verale.search.spatial import explain_spatial, is_searched_alone


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
@pytest.mark.parametrize("order", ORDERS)
def test_the_statements_alone_prove_the_class_and_each_is_needed(geometry, paradigm, order):
    problem = small_problem(geometry, 1, images=1)
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


@pytest.fixture
def on_tensors(monkeypatch):
    """Call it, and numba cannot be imported any more."""

    def without_numba():
        compiled.is_available.cache_clear()
        monkeypatch.setitem(sys.modules, "numba", None)

    yield without_numba
    compiled.is_available.cache_clear()


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        *((name, 0.0) for name in ADMITTED),
        *(pytest.param(name, 0.002, marks=pytest.mark.long if at % 3 else ()) for at, name in enumerate(ADMITTED)),
    ],
)
def test_machine_code_and_tensors_give_explanations_alike(name, tolerance, on_tensors):
    sizes: list[list[int]] = []
    for _ in range(2):
        sizes.append([])
        problem = problem_named(name, 0, tolerance)
        for explanation in explain_spatial(problem, Projection(problem.head), "rival"):
            assert isinstance(explanation, SpatialExplanation)
            assert (explanation.margins > 0).all() and explanation.minimal == (tolerance == 0)
            sizes[-1].append(len(explanation.pairs))
        on_tensors()
    ours, theirs = map(mean, sizes)
    assert ours <= 1.3 * theirs


@pytest.mark.long  # sizes of many; those of each geometry are compared above
def test_on_the_whole_explanations_are_as_small(on_tensors):
    sizes: list[list[int]] = []
    for _ in range(2):
        found = [
            explanation
            for name in ADMITTED
            for problem in [problem_named(name, 5, prototypes=20, depth=8, classes=6)]
            for explanation in explain_spatial(problem, Projection(problem.head), "rival")
        ]
        sizes.append([len(each.pairs) for each in found if isinstance(each, SpatialExplanation)])
        on_tensors()
    assert len(sizes[0]) == len(sizes[1]) > 40
    assert mean(sizes[0]) <= 1.01 * mean(sizes[1])


def test_without_numba_tensors_are_searched(on_tensors, monkeypatch):
    problem = small_problem("euclidean")
    paradigm = Projection(problem.head)
    assert is_searched_alone(problem.head, paradigm, "rival")
    on_tensors()
    assert not is_searched_alone(problem.head, paradigm, "rival")
    monkeypatch.setattr(engine, "choose_statements", None)
    assert isinstance(explain_spatial(problem, paradigm, "rival")[0], SpatialExplanation)


def test_an_image_that_became_too_large_is_given_up():
    problem = small_problem("euclidean").take([0])
    for is_alone in (True, False):
        order = ORDERS[not is_alone]
        assert is_searched_alone(problem.head, Projection(problem.head), order) == is_alone
        (reason,) = explain_spatial(problem, Projection(problem.head), order, [0.0])
        assert isinstance(reason, str) and "given up" in reason
