"""Images as arrays, whatever bounds their observables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support.cases import every
from support.compiled import ADMITTED, first_image, head_named, problem_named
from support.problems import problem_of, small_problem

from verale.bounds import Assignment, Hypersphere, Projection, Simplex, Triangle, activation_range
from verale.certificate import Certificate
from verale.head import Box, ExpDistance, Exponential, Head, Identity, InnerProduct, LogRatio
from verale.search.avoid import Avoid
from verale.search.compiled.image import HYPERSPHERE, PROJECTION, SIMPLEX, TRIANGLE, image_arrays
from verale.search.explain import explain
from verale.search.problem import Problem
from verale.search.tolerance import Tolerance


def test_what_a_paradigm_is_bounded_by():
    flat, masses = problem_named("euclidean").take([0]), small_problem("softmax").take([0])
    numbers = {
        image_arrays(problem, paradigm(problem.head)).bounds
        for problem, paradigms in ((flat, (Projection, Triangle, Hypersphere)), (masses, (Simplex, Assignment)))
        for paradigm in paradigms
    }
    assert numbers == {PROJECTION, TRIANGLE, HYPERSPHERE, SIMPLEX}
    with pytest.raises(TypeError, match="no bounds of object"):
        image_arrays(flat, object())


def test_a_distance_without_an_end_has_a_stand_in_beyond_the_image():
    """Otherwise sums of distances could not be updated."""
    endless = replace(head_named("euclidean max_minus_mean_distance"), domain=Box(0, None))
    problem = problem_of(endless).take([0])
    image = image_arrays(problem, Projection(endless))
    assert np.isfinite(image.upper).all() and (image.upper > 1e5 * image.high.max()).all()


@every("name", ADMITTED)
def test_activations_of_admitted_heads_have_two_ends(name):
    head = head_named(name)
    if isinstance(head.similarity, (LogRatio, ExpDistance, Exponential)):
        head = replace(head, domain=Box(0, None))  # they tend to 0
    ends = activation_range(head, 5)
    assert (ends.lower.isfinite() & ends.upper.isfinite()).all()


@every("name", ADMITTED)
def test_arrays_agree_with_the_problem(name):
    problem, _, image = first_image(name)
    predicted = int(problem.margins.predicted[0])
    rivals = [c for c in range(problem.head.classes) if c != predicted]
    actual = problem.margins.lower(problem.activations[:, None])[0, 0, rivals]
    np.testing.assert_allclose(image.bias + image.actual @ image.weights, actual.numpy(), atol=1e-9)
    np.testing.assert_array_equal(image.low, image.high)
    shown = np.where(image.hidden, np.inf, problem.dissimilarities()[0].numpy())
    np.testing.assert_array_equal(image.attained, shown.argmin(0))


def test_within_a_tolerance_statements_are_intervals():
    problem, _, image = first_image("euclidean", tolerance=0.01)
    assert (image.low < image.high).all()
    np.testing.assert_array_equal(image.low, problem.observed.lower.numpy())


def test_what_is_avoided_may_not_be_stated():
    problem = problem_named("euclidean").take([0])
    avoiding = replace(problem, avoid=Avoid(prototypes=(3,), patches=(0, 2)))
    allowed = image_arrays(avoiding, Projection(problem.head)).allowed
    assert not allowed[:, 3].any() and not allowed[[0, 2]].any()
    assert torch.from_numpy(allowed).sum() == (problem.patches - 2) * (problem.head.size - 1)
    attained = image_arrays(avoiding, Projection(problem.head)).attained
    assert not np.isin(attained, (0, 2)).any()


def test_an_end_of_the_domain_is_not_cut_by_what_the_image_shows():
    """Where all inner products of an image are far below 0, the greatest that the domain allows is not."""
    generator = torch.Generator().manual_seed(0)
    prototypes, weight = -torch.rand(5, 3, generator=generator), torch.rand(2, 5, generator=generator)
    head = Head(weight, InnerProduct(), Identity(), prototypes=prototypes, domain=Box(0, 10))
    latents = 4 + 6 * torch.rand(4, 2, 3, generator=generator)
    assert bool((latents @ prototypes.T < -1).all())
    image = image_arrays(Problem.of(head, latents.double(), Tolerance(0.0)).take([0]), Projection(head))
    assert (image.upper >= image.high.max(0)).all() and (image.lower <= image.low.min(0)).all()
    assert all(isinstance(each, Certificate) for each in explain(head, latents, "projection", digits="exact"))
