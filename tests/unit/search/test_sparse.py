"""Sparse explanations: activations alone, each of them needed."""

from __future__ import annotations

import pytest
import torch
from support.problems import SLACK, small_problem, tied_problem

from verale.bounds import TopK
from verale.search.problem import UnexplainedError
from verale.search.sparse import explain_sparse


def least_margin(problem, prototypes) -> float:
    """The least margin when nothing but these activations of one image is stated."""
    observed = problem.stated_activations()[0]
    paradigm = TopK.of(problem.head, problem.patches, observed.lower.device)
    stated = torch.zeros(1, problem.head.size, dtype=torch.bool)
    stated[0, prototypes] = True
    box = paradigm.box(stated, torch.ones_like(stated), torch.full((1,), torch.inf, dtype=torch.float64), observed)
    return float(problem.margins.lower(box[None]).amin())


@pytest.mark.parametrize("seed", range(4))
def test_the_class_follows_and_every_activation_is_needed(seed):
    problem = small_problem("softmax", seed)
    for image in range(len(problem)):
        one = problem.take([image])
        stated, margins, minimal = explain_sparse(one)
        assert stated == sorted(set(stated)) and minimal
        assert (margins > 0).all() and least_margin(one, stated) == pytest.approx(float(margins.amin()), abs=SLACK)
        for dropped in stated:
            assert least_margin(one, [j for j in stated if j != dropped]) <= SLACK


def test_a_tie_gives_a_reason():
    with pytest.raises(UnexplainedError, match=r"stays open .* though every activation that could help is stated"):
        explain_sparse(tied_problem(softmax=True))
