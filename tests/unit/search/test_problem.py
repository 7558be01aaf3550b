"""A problem: observables, the intervals that statements give, and the margins to prove."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.problems import MONOTONE, small_problem
from support.small import GEOMETRIES, small_head, small_latents

from verale.bounds import Projection, pooling_of
from verale.certificate import Certificate
from verale.head import BankPooling, MaskedMaxPooling, as_patches, evaluate
from verale.search.digits import Tolerance
from verale.search.explain import explain
from verale.search.problem import Problem

SLACK = 1e-5


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_intervals_contain_the_reference(geometry):
    head = small_head(geometry)
    patches = as_patches(small_latents(head))
    problem, reference = Problem.of(head, patches), evaluate(head, patches)
    assert problem.margins.predicted.tolist() == reference.predicted.tolist()
    for interval, value in (
        (problem.observed, reference.observables.flatten(0, 1)),
        (problem.activations, reference.activations),
    ):
        assert (interval.lower <= value + 1e-12).all() and (value - 1e-12 <= interval.upper).all()


@pytest.mark.parametrize("tolerance", [0.25, 0.01, 0.003])
def test_a_tolerance_widens_outward_to_its_multiples(tolerance):
    head = small_head("euclidean")
    patches = as_patches(small_latents(head))
    tight, wide = Problem.of(head, patches), Problem.of(head, patches, Tolerance(tolerance))
    for inner, outer in ((tight.observed, wide.observed), (tight.activations, wide.stated_activations())):
        assert (outer.lower <= inner.lower).all() and (inner.upper <= outer.upper).all()
        assert (inner.lower - outer.lower < 1.001 * tolerance).all()
        assert (outer.upper - inner.upper < 1.001 * tolerance).all()
        for end in (outer.lower, outer.upper):
            torch.testing.assert_close(end / tolerance, (end / tolerance).round(), rtol=0, atol=1e-9)
    assert (wide.settled <= tight.settled).all(), "wider intervals prove no more"


def test_some_of_the_images_keep_all_that_is_known_of_them():
    problem = small_problem("cosine", images=6)
    taken = problem.take([2, 0])
    assert len(taken) == 2 and taken.patches == problem.patches
    rows = problem.observed.lower.view(len(problem), problem.patches, -1)
    assert torch.equal(taken.observed.lower, rows[[2, 0]].flatten(0, 1))
    assert torch.equal(taken.activations.upper, problem.activations.upper[[2, 0]])
    assert torch.equal(taken.margins.predicted, problem.margins.predicted[[2, 0]])
    box = pooling_of(taken.head).box(taken.observed.view(2, taken.patches, -1))
    torch.testing.assert_close(taken.margins.lower(box[:, None])[:, 0].amin(1), taken.settled, rtol=0, atol=1e-12)


@pytest.mark.parametrize("paradigm", ["projection", "triangle", "hypersphere"])
def test_nothing_is_stated_where_no_prototype_looks(paradigm):
    """At patch 2; at all others some do."""
    head = replace(small_head("euclidean"), pooling=MaskedMaxPooling.at([[0], [1, 3], [0, 3]] * 4, 4))
    latents = small_latents(head, images=6, patches=4)
    explained = [each for each in explain(head, latents, paradigm=paradigm) if isinstance(each, Certificate)]
    stated = {statement.patch for each in explained for statement in each.statements}
    assert len(explained) == 6 and stated and 2 not in stated


def test_patches_that_pooling_ignores_are_infinitely_dissimilar():
    head = replace(small_head("euclidean"), pooling=BankPooling(4))
    problem = Problem.of(head, as_patches(small_latents(head)))
    infinite = problem.dissimilarities().isinf()
    assert infinite[:, 0, 4:].all() and infinite[:, 1:, :4].all()
    assert not infinite[:, 0, :4].any() and not infinite[:, 1:, 4:].any()


def random_explanations(problem):
    generator = torch.Generator().manual_seed(0)
    return [
        [divmod(pair, problem.head.size) for pair in torch.randperm(60, generator=generator)[:14].tolist()]
        for _ in range(len(problem))
    ]


@pytest.mark.parametrize(("geometry", "paradigm"), MONOTONE)
def test_ranges_never_grow_when_a_statement_is_added(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm, explanations = paradigm(problem.head), random_explanations(problem)
    fewer = [pairs[:9] for pairs in explanations]
    before, after = (problem.ranges(paradigm, each) for each in (fewer, explanations))
    assert (after.lower >= before.lower - SLACK).all() and (after.upper <= before.upper + SLACK).all()


@pytest.mark.parametrize("seed", range(4))
def test_wide_intervals_say_more_together_than_each_alone(seed):
    problem = small_problem("euclidean", seed, tolerance=0.01).take([0])
    paradigm, (pairs, *_) = Projection(problem.head), random_explanations(problem)
    together, alone = (problem.ranges(paradigm, [each]) for each in (pairs, []))
    for pair in pairs:
        alone = alone.intersect(problem.ranges(paradigm, [[pair]]))
    assert (together.upper - together.lower).sum() < 0.9 * (alone.upper - alone.lower).sum()
