"""What statements about a patch say, whatever bounds its observables, is what rounded bounds say."""

from __future__ import annotations

import numpy as np
import pytest
from support.compiled import random_statements
from support.problems import SPATIAL, ranges_one_by_one, small_problem

from verale.bounds import Triangle
from verale.search.compiled.image import image_arrays
from verale.search.compiled.patch import commit, try_statement
from verale.search.compiled.rows import candidate, hulls_of

SLACK = 5e-5
"""Some bounds are as steep as a root."""


@pytest.mark.parametrize("tolerance", [0.0, 0.02], ids=["equations", "intervals"])
@pytest.mark.parametrize(("geometry", "paradigm"), [*SPATIAL, ("cosine", Triangle)])
def test_ranges_are_the_rounded_ones(geometry, paradigm, tolerance):
    problem = small_problem(geometry, 1, tolerance=tolerance).take([0])
    paradigm = paradigm(problem.head)
    image = image_arrays(problem, paradigm)
    statements = random_statements(image, 20)
    hulls, trial = hulls_of(image, problem.patches, 12), candidate(problem.head.size, 12)
    for patch, prototype in statements:
        try_statement(image, hulls, patch, patch, prototype, trial)
        commit(image, hulls, patch, patch, prototype, trial)
    ranges = ranges_one_by_one(problem, paradigm, statements.tolist())
    np.testing.assert_allclose(hulls.lower, ranges.lower.numpy(), atol=SLACK)
    np.testing.assert_allclose(hulls.upper, ranges.upper.numpy(), atol=SLACK)
    assert (hulls.lower > image.lower).any()


def test_the_last_mass_is_what_the_others_leave():
    problem = small_problem("softmax", 1).take([0])
    image = image_arrays(problem, dict(SPATIAL)["softmax"](problem.head))
    size = problem.head.size
    hulls, trial = hulls_of(image, problem.patches, 1), candidate(size, 1)
    for prototype in range(size - 1):
        try_statement(image, hulls, 0, 0, prototype, trial)
        commit(image, hulls, 0, 0, prototype, trial)
    assert hulls.lower[0, -1] == pytest.approx(image.low[0, -1]) == hulls.upper[0, -1]
