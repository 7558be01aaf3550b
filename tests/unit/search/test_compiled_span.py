"""Ranges from without hold, and ranges from within are held by, what statements leave open: in 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch
from support.compiled import head_named

from verale.bounds import Projection
from verale.head import Cosine, InnerProduct
from verale.search.compiled.enclosed import enclosed
from verale.search.compiled.image import image_arrays
from verale.search.compiled.proof import range_of, range_without
from verale.search.compiled.shrink import by_patch
from verale.search.compiled.span import find_spans, list_statements, span_of, spans_of
from verale.search.problem import Problem

OUT, WITHIN = False, True


def vectors(head, patch):
    """The prototypes as vectors, the latent, and the square of the ball's radius, or None on a sphere."""
    points = [mpmath.matrix(row) for row in head.prototypes.double().tolist()]
    latent = mpmath.matrix(patch.tolist())
    if isinstance(head.geometry, Cosine):
        length = mpmath.norm(latent)
        length = (
            mpmath.sqrt(length**2 + head.geometry.epsilon) if head.geometry.rooted else length + head.geometry.epsilon
        )
        return [point / mpmath.norm(point) for point in points], latent / length, mpmath.mpf(1)
    return points, latent, None


def residual(vector, basis):
    for direction in basis:
        vector = vector - direction * (direction.T * vector)[0]
    return vector


def real_ranges(head, patch, stated):
    """(P, 2) what observables can be, given those of some prototypes of a latent, from Gram-Schmidt."""
    points, latent, ball = vectors(head, patch)
    centre = points[stated[0]] if ball is None else latent * 0
    basis = []
    for j in stated:
        rest = residual(points[j] - centre, basis)
        if mpmath.norm(rest) > 0:
            basis.append(rest / mpmath.norm(rest))
    rest = residual(latent - centre, basis)
    foot = latent - rest
    radius = mpmath.norm(rest) if ball is None else mpmath.sqrt(ball - mpmath.norm(foot) ** 2)
    ends = []
    for point in points:
        across = mpmath.norm(residual(point - centre, basis))
        if ball is None:
            middle, swing = radius**2 + mpmath.norm(foot - point) ** 2, 2 * radius * across
        else:
            middle, swing = (foot.T * point)[0], radius * across
        ends.append((middle - swing, middle + swing))
    return ends


@pytest.mark.parametrize("name", ["euclidean", "scaled", "cosine", "rooted", "negated"])
@pytest.mark.parametrize("seed", range(2))
def test_ends_are_on_their_side_of_the_real_ones_and_close(name, seed):
    head = head_named(name, seed)
    latents = torch.rand(1, 2, head.depth, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    problem, paradigm = Problem.of(head, latents), Projection(head)
    assert not isinstance(head.geometry, InnerProduct)
    stated = np.random.default_rng(seed).permutation(head.size)[: min(head.depth - 1, 4)].tolist()
    statements = np.array([(0, j) for j in stated])
    image, known = image_arrays(problem, paradigm), enclosed(paradigm, problem.observed)
    groups, room = by_patch(image, statements), len(stated)
    used = list_statements([stated, []])
    spans = spans_of(known, used)
    find_spans(known, used, spans)
    assert used.counts.tolist() == [room, 0]
    span = span_of(spans, used.first, 0)
    lower, upper, unit, *rooms = (np.empty(head.size) for _ in range(5))
    compared = 0
    with mpmath.workdps(40):
        for side, sign in ((OUT, 1), (WITHIN, -1)):
            range_of(known, groups, span, 0, side, lower, upper)
            compared += compare(head, real_ranges(head, latents[0, 0], stated), lower, upper, sign, known)
        for place in range(room):
            assert range_without(known, groups, span, 0, place, np.arange(room), unit, *rooms, lower, upper)
            rest = stated[:place] + stated[place + 1 :]
            compared += compare(head, real_ranges(head, latents[0, 0], rest), lower, upper, -1, known)
    assert compared > head.size


def compare(head, real, lower, upper, sign, known):
    """Compare the ends that are neither the domain's nor the statements'; how many."""
    domain, found = known.outer if sign > 0 else known.inner, 0
    for k, (low, high) in enumerate(real):
        for end, computed, at in ((low, lower[k], domain[0][k]), (-high, -upper[k], -domain[1][k])):
            if computed != at:
                wide = sign * (end - mpmath.mpf(float(computed)))
                stated = known.low[0, k] <= float(abs(computed)) <= known.high[0, k]
                assert stated or 0 <= wide < 1e-5
                found += not stated
    return found
