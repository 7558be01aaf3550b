"""The virtual anchor in plain floats: where other digits might move it otherwise, nothing more is concluded."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.problems import small_problem
from support.small import metric_head

from verale.bounds import Hypersphere
from verale.head import Cosine, Euclidean
from verale.search.compiled.image import image_arrays
from verale.search.compiled.patch import commit, try_statement
from verale.search.compiled.rows import candidate, hulls_of
from verale.search.problem import Problem


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_each_statement_moves_the_anchor_or_leaves_it(geometry):
    problem = small_problem(geometry, 1).take([0])
    image = image_arrays(problem, Hypersphere(problem.head))
    hulls, trial = hulls_of(image, problem.patches, 12), candidate(problem.head.size, 12)
    last = problem.head.size - 1  # the same point as the first, so it says nothing new
    for prototype, directions in ((0, 1), (last, 1), (3, 2), (5, 3)):
        try_statement(image, hulls, 0, 0, prototype, trial)
        commit(image, hulls, 0, 0, prototype, trial)
        assert hulls.directions[0] == directions and hulls.least[0] == 0
    if geometry == "euclidean":
        assert hulls.offset[0, :3].sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", [Euclidean(), Cosine(0.0)])
def test_a_multiplier_between_two_multiples_is_not_decided(kind):
    """The latent is where the multiplier is (n + 1/2) 2^-18."""
    points = torch.eye(2, 3)
    share = 0.25 + 0.5 * 2.0**-18
    latent = points[0] * (1 - share) + points[1] * share
    if isinstance(kind, Cosine):
        latent = share * points[1].double() + (1 - share**2) ** 0.5 * points[0].double()
    head = metric_head(kind, points)
    problem = Problem.of(head, latent[None, None].double())
    image = image_arrays(problem, Hypersphere(head))
    hulls, trial = hulls_of(image, 1, 2), candidate(2, 2)
    for prototype in (0, 1):
        try_statement(image, hulls, 0, 0, prototype, trial)
        commit(image, hulls, 0, 0, prototype, trial)
    assert hulls.least[0] == 1 and hulls.directions[0] == 1
    np.testing.assert_allclose(hulls.lower[0, 1], image.low[0, 1])
