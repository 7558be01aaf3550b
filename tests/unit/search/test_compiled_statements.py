"""Statements for one image, chosen without rounding."""

from __future__ import annotations

import numpy as np
from support.compiled import first_image
from support.problems import margins_from_scratch, tied_problem

from verale.bounds import Projection
from verale.search.compiled.image import image_arrays
from verale.search.compiled.statements import GUARDS, choose_statements


def test_statements_entail_the_class():
    problem, paradigm, image = first_image("cosine", 1)
    chosen = choose_statements(problem, image, GUARDS[0], np.inf)
    assert chosen is not None and not chosen.failure
    assert (margins_from_scratch(problem, paradigm, [chosen.pairs]) > 0).all()


def test_a_larger_guard_leaves_larger_margins():
    problem, paradigm, image = first_image("euclidean")
    chosen = choose_statements(problem, image, 0.05, np.inf)
    assert chosen is not None
    assert margins_from_scratch(problem, paradigm, [chosen.pairs]).min() > 0.05 - 1e-5


def test_what_is_too_large_is_given_up_and_what_is_tied_is_not_chosen():
    problem, _, image = first_image("euclidean")
    given_up = choose_statements(problem, image, GUARDS[0], 1.0)
    assert given_up is not None and "given up at" in given_up.failure
    tied = tied_problem()
    assert choose_statements(tied, image_arrays(tied, Projection(tied.head)), GUARDS[0], np.inf) is None


def test_what_goes_first_is_done_without():
    problem, paradigm, image = first_image("euclidean", 1)
    chosen = choose_statements(problem, image, GUARDS[0], np.inf)
    assert chosen is not None
    avoided = chosen.pairs[-1:]
    others = choose_statements(problem, image, GUARDS[0], np.inf, avoided)
    assert others is not None
    assert (margins_from_scratch(problem, paradigm, [others.pairs]) > 0).all()
