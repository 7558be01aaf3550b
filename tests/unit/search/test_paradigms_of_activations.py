"""Paradigms of activations: true, entailing, no statement too many, and no larger than the k highest or what is left
of all; short numbers at once, and a reason where there is no explanation."""

from __future__ import annotations

import math

import pytest
import torch
from support.activations import ends_of, least_margin
from support.digits import digits_of
from support.problems import SLACK, problem_of, small_problem, tied_problem
from support.small import GEOMETRIES, VARIED, varied_head

from verale.adapters.cabrnet import load_head
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement
from verale.demo.network import RUN, load_images, load_network
from verale.errors import UsageError
from verale.head import as_patches
from verale.paradigms import HIGHEST
from verale.search import Avoid, SearchOptions
from verale.search.activations import Activations
from verale.search.digits import EXACT_DIGITS, FEW_DIGITS, FEWEST_DIGITS
from verale.search.least import least_document
from verale.search.paradigms.of_activations import highest
from verale.search.problem import GivenUpError, NoExplanation, Problem, UnexplainedError
from verale.search.smallest import SEARCHES

NAMES = [("euclidean", "top_k"), ("softmax", "sparse"), ("euclidean", "mixed")]


def images(problem: Problem) -> list[Problem]:
    return [problem.take([image]) for image in range(len(problem))]


def search_of(name: str, problem: Problem, **options):
    return SEARCHES[name](problem.head, problem.patches, SearchOptions(name, **options))


def explained(name: str, problem: Problem):
    return search_of(name, problem).explain(problem, math.inf)


@pytest.mark.parametrize(("geometry", "name"), NAMES)
def test_numbers_are_short_unless_exact_ones_are_asked_for_and_no_patch_can_be_avoided(geometry, name):
    problem = small_problem(geometry, 1).take([0])
    for digits in (FEWEST_DIGITS, EXACT_DIGITS):
        (solution,) = search_of(name, problem, digits=digits).solve(problem, [math.inf])
        assert (digits_of(solution.statements) <= FEW_DIGITS) == (digits == FEWEST_DIGITS)
    with pytest.raises(UsageError, match="activations, which speak of all patches: none can be avoided"):
        search_of(name, problem, avoid=Avoid(patches=(1,)))


@pytest.mark.parametrize(("error", "tries"), [(UnexplainedError, 2), (GivenUpError, 1)])
def test_a_search_without_an_explanation_says_why(error, tries, monkeypatch):
    """In exact numbers too, unless it was given up."""
    tried = []

    def fails(self, problem, most):
        tried.append(most)
        raise error("no statement helps")

    problem = small_problem("euclidean", 1).take([0])
    search = search_of("top_k", problem)
    monkeypatch.setattr(type(search), "explain", fails)
    assert search.solve(problem, [7]) == [NoExplanation("no statement helps")] and tried == [7] * tries


@pytest.mark.parametrize(
    ("paradigm", "geometry", "seed"),
    [*(("top_k", name, 2) for name in GEOMETRIES), *(("sparse", "softmax", seed) for seed in range(4))],
)
def test_the_class_follows_and_every_statement_is_needed(paradigm, geometry, seed):
    for one in images(small_problem(geometry, seed)):
        explanation = explained(paradigm, one)
        statements = explanation.statements
        assert explanation.minimal and (explanation.margins > 0).all()
        assert least_margin(one, statements) == pytest.approx(float(explanation.margins.amin()), abs=SLACK)
        for dropped in statements:
            assert least_margin(one, [each for each in statements if each is not dropped]) <= SLACK
        if paradigm == "sparse":
            prototypes = [each.prototype for each in statements if isinstance(each, ActivationStatement)]
            assert prototypes == sorted(set(prototypes)) and len(prototypes) == len(statements)
            order = (activations := Activations(one)).highest_first
            assert len(statements) <= activations.shrunk(activations.state(order), order)[0].size


@pytest.mark.parametrize("name", VARIED)
def test_statements_are_true_and_no_more_than_the_highest_need(name):
    """Under every readout and pooling."""
    for one in images(problem_of(varied_head(name), images=2)):
        statements = explained("top_k", one).statements
        ends = ends_of(statements, one.head.size)
        assert (ends.lower <= one.activations.lower[0]).all() and (ends.upper >= one.activations.upper[0]).all()
        assert [type(each) for each in statements].count(OrderStatement) <= 1
        assert [type(each) for each in statements].count(FloorStatement) <= 1
        activations = Activations(one)
        first, stated = highest(activations)
        assert len(statements) <= activations.shrunk(stated, first)[0].size


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_k_is_the_least_and_the_clause_is_true(geometry):
    for one in images(small_problem(geometry, 2)):
        activations = Activations(one)
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
    for one in images(small_problem("euclidean", 2, tolerance=0.01)):
        explanation = explained("top_k", one)
        ends = ends_of(explanation.statements, one.head.size)
        finite = torch.cat([ends.lower[ends.lower.isfinite()], ends.upper[ends.upper.isfinite()]])
        assert (explanation.margins > 0).all()
        torch.testing.assert_close((finite / 0.01).round() * 0.01, finite, rtol=0, atol=1e-12)


def test_a_tie_gives_a_reason():
    with pytest.raises(UnexplainedError, match="stays open though every activation is stated"):
        explained("top_k", tied_problem())
    with pytest.raises(UnexplainedError, match=r"stays open .* though every activation that could help is stated"):
        explained("sparse", tied_problem(softmax=True))


def test_where_far_fewer_statements_are_wanted_it_is_given_up() -> None:
    """But of the highest activations all are stated: for them no programme is solved, and there are never fewer."""
    one, sizes = small_problem("euclidean", 3).take([0]), {}
    for order, is_given_up in ((None, True), (HIGHEST, False)):
        search = search_of("top_k", one, digits="exact", order=order)
        (found,) = search.solve(one, [math.inf])
        size = sizes[order] = len(found.statements)
        assert size > 2 and found.minimal and [len(each.statements) for each in search.solve(one, [size])] == [size]
        (given,) = search.solve(one, [0.25])
        assert isinstance(given, NoExplanation) == is_given_up
        assert not is_given_up or "a smaller explanation is known" in given.reason
    assert sizes[None] <= sizes[HIGHEST]


def test_digits_reach_the_bound_of_all_explanations():
    """Their covers need just the right ceiling and floor: none of these are left out."""
    head, digits = load_head(RUN), as_patches(load_network().latents(load_images().images[:2]))
    for image in digits:
        least, _ = least_document(head, image)
        assert len(explained("top_k", Problem.of(head, image[None])).statements) == least
