"""Spatial explanations: proved from their statements alone, in a readable order, and minimal where they say so."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.named import ADMITTED, NOT_LINEAR, head_named, problem_named
from support.problems import SLACK, SPATIAL, margins_from_scratch, problem_of, small_problem
from support.small import focal_head, small_latents

from verale.bounds import ExactParadigm, Projection
from verale.head import Box, Softmax, as_patches
from verale.head.similarity import SIMILARITIES, NamedSteps
from verale.paradigms import ORDERS
from verale.search.problem import NoExplanation, Problem
from verale.search.prove import UNSETTLED, SpatialExplanation
from verale.search.rounds.explain import GUARD, explain_spatial
from verale.search.rounds.stepwise import Stepwise


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
@pytest.mark.parametrize("order", ORDERS)
def test_the_statements_alone_prove_the_class_and_each_is_needed(geometry, paradigm, order):
    problem = small_problem(geometry, 1, images=1)
    paradigm = paradigm(problem.head)
    explanations = explain_spatial(problem, paradigm, order)
    assert any(isinstance(explanation, SpatialExplanation) for explanation in explanations)
    for image, explanation in enumerate(explanations):
        if isinstance(explanation, NoExplanation):
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
    assert not any(explanation.minimal for explanation in explanations if not isinstance(explanation, NoExplanation))


@pytest.mark.parametrize("name", [*ADMITTED, *NOT_LINEAR])
@pytest.mark.parametrize("tolerance", [0.0, pytest.param(0.002, marks=pytest.mark.long)])
def test_every_head_has_explanations(name, tolerance):
    problem = problem_named(name, 0, tolerance)
    paradigm = Projection(problem.head)
    for image, explanation in enumerate(explain_spatial(problem, paradigm, "rival")):
        assert isinstance(explanation, SpatialExplanation)
        assert explanation.minimal == (tolerance == 0)
        again = margins_from_scratch(problem.take([image]), paradigm, [explanation.pairs])
        assert (explanation.margins > 0).all() and (again > 0).all()


@pytest.mark.parametrize("kind", ["max_minus_mean", "max_minus_mean_distance"])
def test_distances_without_an_end_are_searched(kind):
    """Of such a mean no activation is known before all patches have a statement."""
    endless = replace(focal_head("euclidean", kind), domain=Box())
    problem = problem_of(endless)
    for explanation in explain_spatial(problem, Projection(endless), "rival"):
        assert isinstance(explanation, SpatialExplanation) and explanation.minimal


def test_these_heads_have_every_similarity_of_metric_heads():
    parts = {each.part for each in SIMILARITIES.values() if not issubclass(each.part, NamedSteps)}
    similarities = {part for part in parts if set(part.geometries) != {Softmax}}
    assert {type(head_named(name).similarity) for name in ADMITTED} == similarities


def test_a_choice_that_proves_nothing_is_refused(monkeypatch):
    """The choice is a lie: nothing is stated. No certificate may come of it."""
    problem, asked = small_problem("euclidean").take([0]), []

    def nothing(self, images, guard, *_):
        asked.append(guard)
        return [[] for _ in images]

    monkeypatch.setattr(Stepwise, "choose", nothing)
    (explanation,) = explain_spatial(problem, Projection(problem.head), "nearest")
    assert explanation == UNSETTLED and len(set(asked)) > 1


def test_a_margin_below_the_guard_is_searched_with_smaller_ones():
    """All statements together leave a margin that the first guard does not pass."""
    problem = small_problem("euclidean").take([0])
    bias = problem.head.bias.to(torch.float64).clone()
    bias[problem.margins.predicted[0]] -= float(problem.settled[0]) - 0.6 * GUARD
    near = replace(problem.head, bias=bias)
    tight = Problem.of(near, as_patches(small_latents(near)))
    (image,) = [at for at, margin in enumerate(tight.settled.tolist()) if 0 < margin < GUARD]
    (explanation,) = explain_spatial(tight.take([image]), Projection(near), "rival")
    assert isinstance(explanation, SpatialExplanation) and 0 < explanation.margins.min() < GUARD


def test_a_needless_statement_that_was_chosen_is_dropped_by_rounded_bounds(monkeypatch):
    problem = small_problem("euclidean").take([0])
    paradigm = Projection(problem.head)
    (right,) = explain_spatial(problem, paradigm, "nearest")
    extra = next((0, j) for j in range(problem.head.size) if (0, j) not in right.pairs)
    monkeypatch.setattr(Stepwise, "choose", lambda *_: [[*right.pairs, extra]])
    (repaired,) = explain_spatial(problem, paradigm, "nearest")
    assert repaired.minimal and len(repaired.pairs) <= len(right.pairs)
