"""The projection without rounding agrees with the rounded one."""

from __future__ import annotations

import numpy as np
import pytest
from support.compiled import ADMITTED, first_image, random_statements
from support.problems import ranges_one_by_one

from verale.search.compiled.patch import commit, try_statement
from verale.search.compiled.rows import candidate, hulls_of, reset

SLACK = 5e-5
"""Some bounds are as steep as a root."""


@pytest.mark.parametrize("tolerance", [0.0, 0.02], ids=["equations", "intervals"])
@pytest.mark.parametrize("name", [name for name in ADMITTED if "banks" not in name])
def test_ranges_are_those_of_the_rounded_projection(name, tolerance):
    problem, paradigm, image = first_image(name, tolerance=tolerance)
    statements = random_statements(image, 20)
    hulls = hulls_of(image, problem.patches, 7)
    trial = candidate(problem.head.size, 7)
    for patch, prototype in statements:
        try_statement(image, hulls, patch, patch, prototype, trial)
        commit(image, hulls, patch, patch, prototype, trial)
    ranges = ranges_one_by_one(problem, paradigm, statements.tolist())
    np.testing.assert_allclose(hulls.lower, ranges.lower.numpy(), atol=SLACK)
    np.testing.assert_allclose(hulls.upper, ranges.upper.numpy(), atol=SLACK)
    assert (hulls.lower > image.lower).any()
    reset(image, hulls, 0)
    np.testing.assert_array_equal(hulls.lower[0], image.lower)
    assert hulls.directions[0] == 0


def test_a_prototype_that_others_determine_is_no_direction():
    problem, _, image = first_image("euclidean")
    hulls, trial = hulls_of(image, problem.patches, 7), candidate(problem.head.size, 7)
    last = problem.head.size - 1  # the same point as the first
    for prototype in (0, 1, last):
        try_statement(image, hulls, 0, 0, prototype, trial)
        commit(image, hulls, 0, 0, prototype, trial)
    assert (hulls.directions[0], hulls.dropped[0]) == (1, 1)


def test_a_patch_without_room_takes_no_further_direction():
    """Rounding may leave something of a prototype that others determine; memory beyond the room is not the patch's."""
    problem, _, image = first_image("euclidean")
    hulls, trial = hulls_of(image, problem.patches, 2), candidate(problem.head.size, 2)
    for prototype in range(5):
        try_statement(image, hulls, 0, 0, prototype, trial)
        commit(image, hulls, 0, 0, prototype, trial)
    assert (hulls.directions[0], hulls.dropped[0]) == (2, 2)
