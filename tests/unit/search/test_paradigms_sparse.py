"""Sparse explanations: activations alone, each of them needed."""

from __future__ import annotations

import pytest
from support.activations import least_margin
from support.problems import SLACK, small_problem, tied_problem

from verale.certificate import ActivationStatement
from verale.search.activations import Activations
from verale.search.paradigms.sparse import explain_sparse, supporting
from verale.search.problem import UnexplainedError


@pytest.mark.parametrize("seed", range(4))
def test_the_class_follows_and_every_activation_is_needed(seed):
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
def test_it_is_no_larger_than_what_supports_the_class_needs(seed):
    problem = small_problem("softmax", seed)
    for image in range(len(problem)):
        activations = Activations(problem.take([image]))
        first = supporting(activations)
        greedy = activations.shrunk(activations.state(first), first)[0].size
        assert len(explain_sparse(activations.problem).statements) <= greedy


def test_a_tie_gives_a_reason():
    with pytest.raises(UnexplainedError, match=r"stays open .* though every activation that could help is stated"):
        explain_sparse(tied_problem(softmax=True))
