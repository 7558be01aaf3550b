"""Grown statements entail the class, state nothing that must be avoided, and are given up where they are too many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.compiled import ADMITTED, NOT_LINEAR, first_image
from support.problems import margins_from_scratch, tied_problem

from verale.bounds import Projection
from verale.search.avoid import Avoid
from verale.search.compiled.grow import GIVEN_UP, GROWN, STAYS_OPEN, grow_statements, sweep_statements
from verale.search.compiled.image import image_arrays
from verale.search.costs import Costs

PAIRS = np.array([(patch, k) for k in range(3) for patch in range(4)])
"""All of the image of `tied_problem`."""


@pytest.mark.parametrize("tolerance", [0.0, 0.002], ids=["equations", "intervals"])
@pytest.mark.parametrize("name", [*ADMITTED, *NOT_LINEAR])
def test_grown_statements_entail_the_class(name, tolerance):
    problem, paradigm, image = first_image(name, tolerance=tolerance)
    end, statements, *_ = grow_statements(image, 1e-6, np.inf)
    assert end == GROWN
    pairs = list(map(tuple, statements.tolist()))
    assert len(set(pairs)) == len(pairs) < image.low.size
    assert (margins_from_scratch(problem, paradigm, [pairs]) > 0).all()


def test_nothing_is_stated_that_must_be_avoided():
    problem, paradigm, _ = first_image("cosine", 1)
    avoiding = replace(problem, avoid=Avoid(prototypes=(0, 4), patches=(2,)))
    end, statements, *_ = grow_statements(image_arrays(avoiding, paradigm), 1e-6, np.inf)
    assert end == GROWN
    assert not np.isin(statements[:, 1], (0, 4)).any() and 2 not in statements[:, 0]
    assert (margins_from_scratch(problem, paradigm, [list(map(tuple, statements.tolist()))]) > 0).all()


def test_what_becomes_too_large_is_given_up():
    _, _, image = first_image("euclidean")
    _, statements, *_ = grow_statements(image, 1e-6, np.inf)
    assert len(statements) > 3
    assert grow_statements(image, 1e-6, 2.0)[0] == GIVEN_UP
    assert grow_statements(image, 1e-6, float(len(statements)))[0] == GROWN


def test_a_tie_stays_open():
    problem = tied_problem()
    image = image_arrays(problem, Projection(problem.head))
    for grown in (grow_statements(image, 1e-6, np.inf), sweep_statements(image, PAIRS, 4, 1e-6, np.inf)):
        assert (grown.end, grown.worst) == (STAYS_OPEN, 0) and grown.margin <= 0


def test_costly_statements_are_avoided_where_others_do():
    problem, paradigm, image = first_image("euclidean", 1)
    pairs = list(map(tuple, grow_statements(image, 1e-6, np.inf).statements.tolist()))
    costly = replace(problem, costs=Costs.of(statements=dict.fromkeys(pairs[:3], 100.0)))
    others = grow_statements(image_arrays(costly, paradigm), 1e-6, np.inf).statements.tolist()
    assert len(set(pairs[:3]) & set(map(tuple, others))) < 3


def test_a_sweep_states_the_next_pair_of_every_patch_until_the_class_follows():
    problem, paradigm, image = first_image("euclidean", 1)
    patches, size = image.low.shape
    order = np.array([(patch, k) for k in range(size) for patch in range(patches)])
    end, statements, *_ = sweep_statements(image, order, patches, 1e-6, np.inf)
    assert end == GROWN and len(statements) % patches == 0
    np.testing.assert_array_equal(statements, order[: len(statements)])
    pairs = list(map(tuple, statements.tolist()))
    assert (margins_from_scratch(problem, paradigm, [pairs]) > 0).all()
    assert not (margins_from_scratch(problem, paradigm, [pairs[:-patches]]) > 0).all()
    assert sweep_statements(image, order, patches, 1e-6, 2.0).end == GIVEN_UP
