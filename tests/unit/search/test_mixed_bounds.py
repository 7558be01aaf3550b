"""Mixed bounds: what statements of all kinds prove together is what the search and a reader of them both get."""

from __future__ import annotations

import pytest
import torch
from support.problems import small_problem

from verale.bounds import Projection
from verale.bounds.lipschitz import Lipschitz
from verale.search.clauses import Clauses
from verale.search.mixed_bounds import MixedBounds


def bounds_of(geometry: str) -> MixedBounds:
    problem = small_problem(geometry).take([0])
    return MixedBounds(problem, Projection(problem.head), Lipschitz(problem.head))


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_statements_prove_the_margins_that_their_box_gives(geometry):
    known = bounds_of(geometry)
    patches, stated = known.patches([(0, 3), (2, 1)]), known.none.clone()
    stated[[0, 5]] = True
    clauses = known.clauses_of.at((len(known.clauses_of.highest) - 3, 1))
    margins = known.margins(known.box(patches.box, stated, clauses))
    again = known.margins_of([*patches.statements, *known.statements(stated, clauses)])
    torch.testing.assert_close(margins, again, rtol=0, atol=1e-9)


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_more_statements_never_leave_more_open(geometry):
    known = bounds_of(geometry)
    base, every = known.patches([]).box, ~known.none
    nothing, all_ = (known.margins(known.box(base, stated, Clauses())) for stated in (known.none, every))
    assert (
        (all_ >= nothing).all()
        and known.proves(base, every, Clauses())
        and not known.proves(base, known.none, Clauses())
    )


def test_what_is_avoided_says_nothing():
    known = bounds_of("euclidean")
    known.left[4] = False
    assert torch.isinf(known.table.lower[4]).all() and torch.isinf(known.table.upper[4]).all()
    assert known.table.lower[3].isfinite().all()
