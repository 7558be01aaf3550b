"""Images as arrays; and which heads, paradigms and orders the compiled search has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from support.cases import every
from support.compiled import ADMITTED, first_image, head_named, problem_named
from support.small import GEOMETRIES, VARIED

from verale.bounds import Hypersphere, Projection, Simplex, Triangle, activation_range
from verale.head import Box, ExpDistance, Exponential, LogRatio, TopMeanPooling
from verale.search.avoid import Avoid
from verale.search.compiled.image import admits, image_arrays


@every("name", [name for name in (*GEOMETRIES, *VARIED) if "softmax" not in name])
def test_the_heads_that_are_listed_are_admitted_and_no_others(name):
    if name == "threshold":
        head = head_named(name)
        assert not admits(head, Simplex(head), "rival")
        return
    head = head_named(name)
    assert admits(head, Projection(head), "rival") == (name in ADMITTED)


def test_what_else_is_not_admitted():
    flat, angular = head_named("euclidean"), head_named("cosine")
    assert not admits(flat, Projection(flat), "sweep")
    assert not admits(flat, Triangle(flat), "rival")
    assert not admits(angular, Hypersphere(angular), "rival")
    endless = replace(head_named("euclidean max_minus_mean_distance"), domain=Box(0, None))  # a mean without an end
    assert not admits(endless, Projection(endless), "rival")


def test_the_mean_of_the_greatest_is_the_greatest():
    head = replace(head_named("euclidean"), pooling=TopMeanPooling(1))
    assert admits(head, Projection(head), "rival")


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
