"""Ranges from without hold, and ranges from within are held by, what statements leave open: in 40 digits."""

from __future__ import annotations

import mpmath
import pytest
import torch
from support.small import GEOMETRIES, small_head, varied_head

from verale.bounds import Projection
from verale.bounds.domain import ball_around
from verale.bounds.spans import Spans
from verale.head import Cosine, Euclidean, InnerProduct
from verale.rounding import Enclosure
from verale.search.problem import Problem

NAMES = ["euclidean", "scaled", "cosine", "rooted", "negated", "inner product", "inner product in a ball"]


def head_named(name, seed, **sizes):
    return (small_head if name in GEOMETRIES else varied_head)(name, seed, **sizes)


def vectors(head, patch):
    """The prototypes as vectors, the latent, and the centre and the square of the radius of the ball in which it lies;
    None for distances."""
    points = [mpmath.matrix(row) for row in head.prototypes.double().tolist()]
    latent = mpmath.matrix(patch.tolist())
    if isinstance(head.geometry, Cosine):
        length = mpmath.norm(latent)
        length = (
            mpmath.sqrt(length**2 + head.geometry.epsilon) if head.geometry.rooted else length + head.geometry.epsilon
        )
        return [point / mpmath.norm(point) for point in points], latent / length, (latent * 0, mpmath.mpf(1))
    if isinstance(head.geometry, InnerProduct):
        centre, radius = ball_around(head.domain, head.geometry.radius, head.depth)
        return points, latent, (mpmath.matrix([centre] * head.depth), mpmath.mpf(radius) ** 2)
    return points, latent, None


def residual(vector, basis):
    for direction in basis:
        vector = vector - direction * (direction.T * vector)[0]
    return vector


def real_ranges(head, patch, stated):
    """(P, 2) what observables can be, given those of some prototypes of a latent, from Gram-Schmidt."""
    points, latent, ball = vectors(head, patch)
    centre = points[stated[0]] if ball is None else ball[0]
    basis = []
    for j in stated:
        rest = residual(points[j] - (centre if ball is None else 0 * centre), basis)
        if mpmath.norm(rest) > 0:
            basis.append(rest / mpmath.norm(rest))
    rest = residual(latent - centre, basis)
    foot = latent - rest
    radius = mpmath.norm(rest) if ball is None else mpmath.sqrt(ball[1] - mpmath.norm(foot - centre) ** 2)
    ends = []
    for point in points:
        across = mpmath.norm(residual(point - (centre if ball is None else 0 * centre), basis))
        if ball is None:
            middle, swing = radius**2 + mpmath.norm(foot - point) ** 2, 2 * radius * across
        else:
            middle, swing = (foot.T * point)[0], radius * across
        ends.append((middle - swing, middle + swing))
    return ends


def spans_of(head, seed, patches=2):
    """Two patches, the second without a statement, and what is stated of the first."""
    latents = torch.rand(1, patches, head.depth, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    problem, paradigm = Problem.of(head, latents), Projection(head)
    generator = torch.Generator().manual_seed(seed)
    stated = torch.randperm(head.size - 1, generator=generator)[: min(head.depth - 1, 4)]  # without the duplicate
    rows = torch.stack([stated, torch.zeros_like(stated)])
    return latents, paradigm, Spans(paradigm, rows, torch.tensor([len(stated), 0]), problem.observed), stated.tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(2))
def test_ends_are_on_their_side_of_the_real_ones_and_close(name, seed):
    head = head_named(name, seed)
    latents, paradigm, spans, stated = spans_of(head, seed)
    assert spans.clear.all()
    deletions, compared = spans.deletions(), 0
    with mpmath.workdps(40):
        real = real_ranges(head, latents[0, 0], stated)
        for within in (False, True):
            ranges = spans.ranges(within)
            compared += compare(paradigm, spans, real, ranges, within)
            domain = paradigm.inner_domain if within else paradigm.outer
            assert (ranges.lower[1] == domain.lower).all() and (ranges.upper[1] == domain.upper).all()
            for place in range(len(stated)):
                rest = real_ranges(head, latents[0, 0], stated[:place] + stated[place + 1 :])
                ranges = spans.ranges_without(deletions, torch.tensor([0]), torch.tensor([place]), within)
                compared += compare(paradigm, spans, rest, ranges, within)
    assert compared > head.size


def compare(paradigm, spans, real, ranges: Enclosure, within):
    """Compare the ends of the first patch that are neither the domain's nor the statements'; how many."""
    domain = paradigm.inner_domain if within else paradigm.outer
    sign, found = -1 if within else 1, 0
    for k, (low, high) in enumerate(real):
        for end, computed, at in (
            (low, float(ranges.lower[0, k]), float(domain.lower[k])),
            (-high, -float(ranges.upper[0, k]), -float(domain.upper[k])),
        ):
            stated = float(spans.observed.lower[0, k]) <= abs(computed) <= float(spans.observed.upper[0, k])
            if computed != at and not stated:
                assert 0 <= sign * (end - mpmath.mpf(computed)) < 1e-4
                found += 1
    return found


@pytest.mark.parametrize("name", ["euclidean", "cosine"])
def test_without_its_only_statement_a_patch_may_be_anything(name):
    head = head_named(name, 0)
    latents = torch.rand(1, 1, head.depth, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    paradigm = Projection(head)
    observed = Problem.of(head, latents).observed
    spans = Spans(paradigm, torch.tensor([[3]]), torch.tensor([1]), observed)
    for within in (False, True):
        domain = paradigm.inner_domain if within else paradigm.outer
        ranges = spans.ranges_without(spans.deletions(), torch.tensor([0]), torch.tensor([0]), within)
        assert torch.equal(ranges.lower[0], domain.lower) and torch.equal(ranges.upper[0], domain.upper)


@pytest.mark.parametrize("name", ["euclidean", "cosine"])
def test_of_a_patch_with_a_dependent_statement_nothing_is_known(name):
    """The last prototype of small heads is the first one again."""
    head = head_named(name, 0)
    latents = torch.rand(1, 1, head.depth, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    observed = Problem.of(head, latents).observed
    stated = torch.tensor([[0, 1, head.size - 1]])
    if isinstance(head.geometry, Euclidean):
        stated = torch.tensor([[1, 0, head.size - 1]])
    spans = Spans(Projection(head), stated, torch.tensor([3]), observed)
    assert not spans.clear.any()
