"""Statements step by step: in the papers' order, every patch in turn states what is nearest to it."""

from __future__ import annotations

import math

import pytest
from support.problems import SPATIAL, margins_from_scratch, small_problem

from verale.search.rounds.stepwise import GUARDS, _Stating


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_the_published_order_states_the_nearest_of_every_patch(geometry, paradigm):
    problem = small_problem(geometry, 1).take([0])
    stating = _Stating(problem, paradigm(problem.head), GUARDS[0])
    assert stating.sweep(math.inf) is None
    sweeps, rest = divmod(len(stating.added), problem.patches)
    assert sweeps and not rest
    nearest = problem.dissimilarities()[0].argsort(dim=1, stable=True)
    for patch in range(problem.patches):
        assert [j for where, j in stating.added if where == patch] == nearest[patch, :sweeps].tolist()
    assert (margins_from_scratch(problem, paradigm(problem.head), [stating.added]) > 0).all()
