"""Grown statements entail the class, state nothing that must be avoided, and are given up where they are too many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.compiled import ADMITTED, first_image
from support.problems import margins_from_scratch, tied_problem

from verale.bounds import Projection
from verale.search.avoid import Avoid
from verale.search.compiled.grow import GIVEN_UP, GROWN, STAYS_OPEN, grow_statements
from verale.search.compiled.image import image_arrays


@pytest.mark.parametrize("tolerance", [0.0, 0.002], ids=["equations", "intervals"])
@pytest.mark.parametrize("name", ADMITTED)
def test_grown_statements_entail_the_class(name, tolerance):
    problem, paradigm, image = first_image(name, tolerance=tolerance)
    end, statements = grow_statements(image, 7, 1e-6, np.inf)
    assert end == GROWN
    pairs = list(map(tuple, statements.tolist()))
    assert len(set(pairs)) == len(pairs) < image.low.size
    assert (margins_from_scratch(problem, paradigm, [pairs]) > 0).all()


def test_nothing_is_stated_that_must_be_avoided():
    problem, paradigm, _ = first_image("cosine", 1)
    avoiding = replace(problem, avoid=Avoid(prototypes=(0, 4), patches=(2,)))
    end, statements = grow_statements(image_arrays(avoiding, paradigm), 7, 1e-6, np.inf)
    assert end == GROWN
    assert not np.isin(statements[:, 1], (0, 4)).any() and 2 not in statements[:, 0]
    assert (margins_from_scratch(problem, paradigm, [list(map(tuple, statements.tolist()))]) > 0).all()


def test_what_becomes_too_large_is_given_up():
    _, _, image = first_image("euclidean")
    _, statements = grow_statements(image, 7, 1e-6, np.inf)
    assert len(statements) > 3
    assert grow_statements(image, 7, 1e-6, 2.0)[0] == GIVEN_UP
    assert grow_statements(image, 7, 1e-6, float(len(statements)))[0] == GROWN


def test_a_tie_stays_open():
    problem = tied_problem()
    image = image_arrays(problem, Projection(problem.head))
    assert grow_statements(image, 3, 1e-6, np.inf)[0] == STAYS_OPEN
