"""Statements for one image, chosen without rounding."""

from __future__ import annotations

import numpy as np
import pytest
from support.compiled import first_image
from support.problems import SPATIAL, margins_from_scratch, small_problem, tied_problem

from verale.bounds import Hypersphere, Projection
from verale.paradigms import ORDERS
from verale.search.compiled.image import image_arrays
from verale.search.compiled.statements import GUARDS, add_statements, choose_statements


def test_statements_entail_the_class():
    problem, paradigm, image = first_image("cosine", 1)
    chosen = choose_statements(problem, image, GUARDS[0], np.inf)
    assert not chosen.failure
    assert (margins_from_scratch(problem, paradigm, [chosen.pairs]) > 0).all()


def test_a_larger_guard_leaves_larger_margins():
    problem, paradigm, image = first_image("euclidean")
    chosen = choose_statements(problem, image, 0.05, np.inf)
    assert margins_from_scratch(problem, paradigm, [chosen.pairs]).min() > 0.05 - 1e-5


def test_what_is_too_large_is_given_up_and_what_is_tied_is_not_chosen():
    problem, _, image = first_image("euclidean")
    given_up = choose_statements(problem, image, GUARDS[0], 1.0)
    assert "given up at" in given_up.failure and not given_up.stays_open
    tied = tied_problem()
    arrays = image_arrays(tied, Projection(tied.head))
    for order, why in zip(ORDERS, ("every statement that could help is made", "every pair is stated"), strict=True):
        open_ = choose_statements(tied, arrays, GUARDS[0], np.inf, order=order)
        assert open_.stays_open and why in open_.failure


def test_what_goes_first_is_done_without():
    problem, paradigm, image = first_image("euclidean", 1)
    chosen = choose_statements(problem, image, GUARDS[0], np.inf)
    avoided = chosen.pairs[-1:]
    others = choose_statements(problem, image, GUARDS[0], np.inf, avoided)
    assert (margins_from_scratch(problem, paradigm, [others.pairs]) > 0).all()


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_the_published_order_states_the_nearest_of_every_patch(geometry, paradigm):
    problem = small_problem(geometry, 1).take([0])
    image = image_arrays(problem, paradigm(problem.head))
    pairs = add_statements(problem, image, GUARDS[0], order=ORDERS[1]).pairs
    sweeps, rest = divmod(len(pairs), problem.patches)
    assert sweeps and not rest
    nearest = problem.dissimilarities()[0].argsort(dim=1, stable=True)
    for patch in range(problem.patches):
        assert [j for where, j in pairs if where == patch] == nearest[patch, :sweeps].tolist()


def test_on_spheres_dropping_is_repeated_until_nothing_can_be_dropped():
    problem = small_problem("cosine", 1).take([0])
    paradigm = Hypersphere(problem.head)
    pairs = choose_statements(problem, image_arrays(problem, paradigm), GUARDS[0], np.inf).pairs
    for pair in pairs:
        rest = [other for other in pairs if other != pair]
        assert margins_from_scratch(problem, paradigm, [rest]).min() < 1e-5
