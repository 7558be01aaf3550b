"""Sweeping: every patch states its nearest prototypes, one a sweep, until the class follows."""

from __future__ import annotations

import pytest
from support.problems import SPATIAL, margins_from_scratch, small_problem, tied_problem

from verale.bounds import Projection
from verale.search.shrink import proved_margins
from verale.search.sweep import sweep


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_sweeps_are_whole_nearest_first_and_as_few_as_possible(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    growths, rows = sweep(problem, paradigm)
    assert (proved_margins(problem, rows) > 0).all()
    order = problem.dissimilarities().argsort(dim=2, stable=True)
    for image, growth in enumerate(growths):
        assert growth.failure == ""
        sweeps, rest = divmod(len(growth.pairs), problem.patches)
        assert rest == 0
        for patch in range(problem.patches):
            stated = [prototype for where, prototype in growth.pairs if where == patch]
            assert stated == order[image, patch, :sweeps].tolist()
        if sweeps:
            fewer = growth.pairs[: -problem.patches]
            assert not (margins_from_scratch(problem.take([image]), paradigm, [fewer]) > 0).all()


def test_a_tie_ends_with_the_reason():
    problem = tied_problem()
    (growth,), _ = sweep(problem, Projection(problem.head))
    assert growth.failure == "the class stays open though every pair is stated"
    assert len(growth.pairs) == problem.patches * problem.head.size
