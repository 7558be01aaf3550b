"""Growing: what it states entails the class, or it says why not."""

from __future__ import annotations

import pytest
from support.problems import SPATIAL, margins_from_scratch, small_problem, tied_problem

from verale.bounds import Projection
from verale.search.grow import grow
from verale.search.shrink import proved_margins


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
@pytest.mark.parametrize("seed", range(2))
def test_the_class_is_proved_from_the_statements(geometry, paradigm, seed):
    problem = small_problem(geometry, seed)
    paradigm = paradigm(problem.head)
    growths, rows = grow(problem, paradigm)
    proved = [not growth.failure for growth in growths]
    assert any(proved)
    for margins in (
        proved_margins(problem, rows),
        margins_from_scratch(problem, paradigm, [growth.pairs for growth in growths]),
    ):
        assert (margins > 0).all(1).tolist() == proved


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_no_pair_is_stated_twice(geometry, paradigm):
    problem = small_problem(geometry)
    for growth in grow(problem, paradigm(problem.head))[0]:
        assert len(set(growth.pairs)) == len(growth.pairs)
        assert all(patch < problem.patches and prototype < problem.head.size for patch, prototype in growth.pairs)


def test_a_tie_ends_with_the_reason():
    problem = tied_problem()
    (growth,), rows = grow(problem, Projection(problem.head))
    assert "stays open" in growth.failure
    assert not (proved_margins(problem, rows) > 0).all()
