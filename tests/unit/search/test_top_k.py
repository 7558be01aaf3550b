"""Top-k explanations: the least k, an order clause that is true, and no statement too many."""

from __future__ import annotations

import pytest
import torch
from support.problems import SLACK, small_problem, tied_problem
from support.small import GEOMETRIES

from verale.bounds import TopK
from verale.search.problem import UnexplainedError
from verale.search.top_k import ORDER, explain_top_k


def least_margin(problem, kept, exempt, clause) -> float:
    """The least margin under some statements about one image."""
    observed = problem.stated_activations()[0]
    paradigm = TopK.of(problem.head, problem.patches, observed.lower.device)
    stated, left_out = (torch.zeros(1, problem.head.size, dtype=torch.bool) for _ in range(2))
    stated[0, [j for j in kept if j != ORDER]] = True
    left_out[0, exempt] = True
    order = torch.tensor([clause if ORDER in kept else torch.inf], dtype=torch.float64)
    return float(problem.margins.lower(paradigm.box(stated, left_out, order, observed)[None]).amin())


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_class_follows_and_every_statement_is_needed(geometry):
    problem = small_problem(geometry, 2)
    for image in range(len(problem)):
        one = problem.take([image])
        kept, exempt, clause, margins, minimal = explain_top_k(one)
        assert minimal and set(kept) - {ORDER} <= set(exempt) and exempt == sorted(exempt)
        assert (margins > 0).all()
        assert least_margin(one, kept, exempt, clause) == pytest.approx(float(margins.amin()), abs=SLACK)
        for dropped in kept:
            assert least_margin(one, [j for j in kept if j != dropped], exempt, clause) <= SLACK


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_k_is_the_least_and_the_clause_is_true(geometry):
    problem = small_problem(geometry, 2)
    for image in range(len(problem)):
        one = problem.take([image])
        _, exempt, clause, _, _ = explain_top_k(one)
        upper = one.stated_activations().upper[0]
        rest = [j for j in range(one.head.size) if j not in exempt]
        assert all(float(upper[j]) <= clause for j in rest)
        if exempt:
            assert min(float(upper[j]) for j in exempt) >= max((float(upper[j]) for j in rest), default=-torch.inf)
            fewer = upper.argsort(descending=True, stable=True)[: len(exempt) - 1].tolist()
            below = float(upper[fewer[-1] if fewer else int(upper.argmax())])
            assert least_margin(one, [*fewer, ORDER], fewer, below) <= SLACK


def test_a_tie_gives_a_reason():
    with pytest.raises(UnexplainedError, match="stays open though every activation is stated"):
        explain_top_k(tied_problem())
