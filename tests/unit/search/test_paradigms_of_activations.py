"""Paradigms of activations: short numbers at once, no avoided patches, and a reason where there is no explanation."""

from __future__ import annotations

import pytest
from support.activations import least_margin
from support.digits import digits_of
from support.problems import SLACK, small_problem, tied_problem
from support.small import small_head

from verale.certificate import ActivationStatement
from verale.errors import UsageError
from verale.search import Avoid, SearchOptions
from verale.search.activations import Activations
from verale.search.digits import EXACT_DIGITS, FEW_DIGITS, FEWEST_DIGITS
from verale.search.paradigms.of_activations import explain_sparse
from verale.search.problem import GivenUpError, UnexplainedError
from verale.search.searches import SEARCHES

NAMES = [("euclidean", "top_k"), ("softmax", "sparse"), ("euclidean", "mixed")]


@pytest.mark.parametrize(("geometry", "name"), NAMES)
def test_numbers_are_short_unless_exact_ones_are_asked_for(geometry, name):
    problem = small_problem(geometry, 1).take([0])
    for digits in (FEWEST_DIGITS, EXACT_DIGITS):
        search = SEARCHES[name](problem.head, problem.patches, SearchOptions(name, digits=digits))
        (solution,) = search.solve(problem, [float("inf")])
        assert (digits_of(solution[0]) <= FEW_DIGITS) == (digits == FEWEST_DIGITS)


@pytest.mark.parametrize(("geometry", "name"), NAMES)
def test_patches_cannot_be_avoided(geometry, name):
    with pytest.raises(UsageError, match="activations, which speak of all patches: none can be avoided"):
        SEARCHES[name](small_head(geometry), 5, SearchOptions(name, avoid=Avoid(patches=(1,))))


def test_a_search_without_an_explanation_says_why(monkeypatch):
    def fails(self, problem, most):
        raise UnexplainedError("no statement helps")

    problem = small_problem("euclidean", 1).take([0])
    search = SEARCHES["top_k"](problem.head, problem.patches, SearchOptions("top_k"))
    monkeypatch.setattr(type(search), "explain", fails)
    assert search.solve(problem, [float("inf")]) == ["no statement helps"]


def test_what_is_given_up_is_not_tried_again_in_exact_numbers(monkeypatch):
    tried = []

    def gives_up(self, problem, most):
        tried.append(most)
        raise GivenUpError("too many")

    problem = small_problem("euclidean", 1).take([0])
    search = SEARCHES["mixed"](problem.head, problem.patches, SearchOptions("mixed"))
    monkeypatch.setattr(type(search), "explain", gives_up)
    assert search.solve(problem, [7]) == ["too many"] and tried == [7]


@pytest.mark.parametrize("seed", range(4))
def test_without_clauses_the_class_follows_and_every_activation_is_needed(seed):
    problem = small_problem("softmax", seed)
    for image in range(len(problem)):
        one = problem.take([image])
        explanation = explain_sparse(one)
        statements = explanation.statements
        prototypes = [each.prototype for each in statements if isinstance(each, ActivationStatement)]
        assert prototypes == sorted(set(prototypes)) and len(prototypes) == len(statements)
        assert explanation.minimal and (explanation.margins > 0).all()
        assert least_margin(one, statements) == pytest.approx(float(explanation.margins.amin()), abs=SLACK)
        for dropped in statements:
            assert least_margin(one, [each for each in statements if each is not dropped]) <= SLACK


@pytest.mark.parametrize("seed", range(4))
def test_it_is_no_larger_than_what_is_left_of_all(seed):
    problem = small_problem("softmax", seed)
    for image in range(len(problem)):
        activations = Activations(problem.take([image]))
        order = activations.highest_first
        left = activations.shrunk(activations.state(order), order)[0].size
        assert len(explain_sparse(activations.problem).statements) <= left


def test_a_tie_without_clauses_gives_a_reason():
    with pytest.raises(UnexplainedError, match=r"stays open .* though every activation that could help is stated"):
        explain_sparse(tied_problem(softmax=True))
