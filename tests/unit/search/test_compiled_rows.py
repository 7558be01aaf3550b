"""Rows forget what they knew, and have no more room than their bounds need."""

from __future__ import annotations

import numpy as np
import pytest
from support.compiled import first_image
from support.problems import SPATIAL, small_problem

from verale.search.compiled.image import PROJECTION, image_arrays
from verale.search.compiled.patch import commit, try_statement
from verale.search.compiled.rows import add_rows, candidate, hulls_of, reset


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_a_row_that_was_reset_is_as_new(geometry, paradigm):
    problem = small_problem(geometry, 1).take([0])
    image = image_arrays(problem, paradigm(problem.head))
    hulls, new = hulls_of(image, 1, 5), hulls_of(image, 1, 5)
    trial = candidate(problem.head.size, 5)
    for prototype in (2, 0):
        try_statement(image, hulls, 0, 0, prototype, trial)
        commit(image, hulls, 0, 0, prototype, trial)
    assert (hulls.lower[0] > new.lower[0]).any()
    reset(image, hulls, 0)
    for name in ("directions", "base", "dropped", "whole", "least", "reach", "along", "across", "lower", "upper"):
        np.testing.assert_array_equal(getattr(hulls, name), getattr(new, name))


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_coefficients_have_room_under_projection_alone(geometry, paradigm):
    problem = small_problem(geometry).take([0])
    image = image_arrays(problem, paradigm(problem.head))
    assert hulls_of(image, 3, 7).coefficients.shape == ((3, 7, 7) if image.bounds == PROJECTION else (3, 1, 1))


@pytest.mark.parametrize("count", range(7))
def test_rows_are_added_with_their_weights(count):
    _, _, image = first_image("euclidean")
    chosen, weights = np.arange(count)[::-1].copy(), np.linspace(-1, 2, 7)
    total = np.ones(len(image.gram))
    add_rows(image.gram, chosen, weights, total)
    np.testing.assert_allclose(total, 1 + weights[:count] @ image.gram[chosen], atol=1e-12)
