"""Top-k explanations: true of the image, entailing, no statement too many, and no larger than the k highest."""

from __future__ import annotations

import math

import pytest
import torch
from support.activations import ends_of, least_margin
from support.problems import SLACK, problem_of, small_problem, tied_problem
from support.small import GEOMETRIES, VARIED, varied_head

from verale.adapters.cabrnet import load_head
from verale.certificate import FloorStatement, OrderStatement
from verale.demo.network import RUN, load_images, load_network
from verale.head import as_patches
from verale.paradigms import HIGHEST
from verale.search import SearchOptions
from verale.search.activations import Activations
from verale.search.least import least_document
from verale.search.paradigms.of_activations import TopKSearch, explain_top_k, highest
from verale.search.problem import Problem, UnexplainedError


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_class_follows_and_every_statement_is_needed(geometry):
    problem = small_problem(geometry, 2)
    for image in range(len(problem)):
        one = problem.take([image])
        explanation = explain_top_k(one)
        statements = explanation.statements
        assert explanation.minimal and (explanation.margins > 0).all()
        assert least_margin(one, statements) == pytest.approx(float(explanation.margins.amin()), abs=SLACK)
        for dropped in statements:
            assert least_margin(one, [each for each in statements if each is not dropped]) <= SLACK


@pytest.mark.parametrize("name", VARIED)
def test_statements_are_true_and_no_more_than_the_highest_need(name):
    """Under every readout and pooling."""
    problem = problem_of(varied_head(name), images=2)
    for image in range(len(problem)):
        one = problem.take([image])
        statements = explain_top_k(one).statements
        ends = ends_of(statements, one.head.size)
        assert (ends.lower <= one.activations.lower[0]).all() and (ends.upper >= one.activations.upper[0]).all()
        assert [type(each) for each in statements].count(OrderStatement) <= 1
        assert [type(each) for each in statements].count(FloorStatement) <= 1
        activations = Activations(one)
        first, stated = highest(activations)
        assert len(statements) <= activations.shrunk(stated, first)[0].size


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_k_is_the_least_and_the_clause_is_true(geometry):
    problem = small_problem(geometry, 2)
    for image in range(len(problem)):
        activations = Activations(problem.take([image]))
        upper = activations.observed.upper
        prototypes, stated = highest(activations)
        assert (upper <= stated.clauses[1]).all()
        assert (~stated.below).nonzero()[:, 0].tolist() == sorted(prototypes)
        assert activations.least(stated) > 0
        if prototypes:
            fewer = prototypes[:-1]
            below = torch.ones_like(stated.below)
            below[fewer] = False
            ceiling = float(upper[fewer[-1]] if fewer else upper.max())
            assert activations.least(activations.state(fewer).under(ceiling, below)) <= SLACK


def test_with_a_tolerance_statements_are_wider_and_still_entail():
    problem = small_problem("euclidean", 2, tolerance=0.01)
    for image in range(len(problem)):
        one = problem.take([image])
        explanation = explain_top_k(one)
        ends = ends_of(explanation.statements, one.head.size)
        finite = torch.cat([ends.lower[ends.lower.isfinite()], ends.upper[ends.upper.isfinite()]])
        assert (explanation.margins > 0).all()
        torch.testing.assert_close((finite / 0.01).round() * 0.01, finite, rtol=0, atol=1e-12)


def test_a_tie_gives_a_reason():
    with pytest.raises(UnexplainedError, match="stays open though every activation is stated"):
        explain_top_k(tied_problem())


def test_where_far_fewer_statements_are_wanted_it_is_given_up() -> None:
    one = small_problem("euclidean", 3).take([0])
    for order, is_given_up in ((None, True), (HIGHEST, False)):
        search = TopKSearch(one.head, one.patches, SearchOptions("top_k", digits="exact", order=order))
        (found,) = search.solve(one, [math.inf])
        size = len(found[0])
        assert size > 2 and [len(each[0]) for each in search.solve(one, [size])] == [size]
        (given,) = search.solve(one, [0.25])
        assert isinstance(given, str) == is_given_up
        assert not is_given_up or "a smaller explanation is known" in given


def test_digits_reach_the_bound_of_all_explanations():
    """Their covers need just the right ceiling and floor: none of these are left out."""
    head, images = load_head(RUN), as_patches(load_network().latents(load_images().images[:2]))
    for image in images:
        least, _ = least_document(head, image)
        assert len(explain_top_k(Problem.of(head, image[None])).statements) == least


def test_the_published_order_solves_no_programme_and_is_never_smaller(monkeypatch):
    problem = small_problem("euclidean", 2).take([0])
    search = TopKSearch(problem.head, problem.patches, SearchOptions("top_k", order="highest"))
    fewest = explain_top_k(problem)
    monkeypatch.setattr(Activations, "covers", property(lambda self: pytest.fail("a programme")))
    found = search.explain(problem, float("inf"))
    first, stated = highest(activations := Activations(problem))
    assert found.minimal and (found.margins > 0).all()
    assert len(found.statements) == activations.shrunk(stated, first)[0].size
    assert len(found.statements) >= len(fewest.statements)
