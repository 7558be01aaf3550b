"""Hulls: ranges of observables are right within their errors, and from within they lie further in."""

from __future__ import annotations

import pytest
import torch

from verale.bounds.at_once import directions_of
from verale.bounds.hulls import Hulls, inner_ranges, outer_ranges, relative_to


def points_and_base(distance: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
    points = torch.rand(9, 8, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    return points, torch.tensor([4]) if distance else None


@pytest.mark.parametrize("distance", [False, True])
def test_vectors_are_relative_to_the_base(distance):
    points, base = points_and_base(distance)
    reach = relative_to(points @ points.T, base, 1)
    expected = (points - (points[4] if distance else 0)).square().sum(1)
    torch.testing.assert_close(reach[0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("distance", [False, True])
def test_both_ends_are_those_of_the_sphere_about_the_foot(distance):
    """The latent itself is known: its foot on the hull of two anchors, and the rest in any direction."""
    points, base = points_and_base(distance)
    z = torch.rand(8, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    origin = points[4] if distance else torch.zeros(8, dtype=torch.float64)
    vectors, v, anchors = points - origin, z - origin, torch.tensor([[1, 2]])
    gram, nothing, present = points @ points.T, torch.zeros(1, 2, dtype=torch.float64), torch.ones(1, 2).bool()
    directions, _ = directions_of(
        gram, base, anchors, present, (vectors[[1, 2]] @ v)[None], nothing, 8.0, 48, 1e-9, 1e-12
    )
    length = v.square().sum()[None]
    hulls = Hulls(
        distance, length, length, relative_to(gram, base, 1), torch.tensor([False]), anchors, nothing, directions
    )
    basis = torch.linalg.qr(vectors[[1, 2]].T).Q
    foot, across = basis @ (basis.T @ v), vectors - vectors @ basis @ basis.T
    middle, swing = vectors @ foot, (length - foot.square().sum()).sqrt() * across.norm(dim=1)
    if distance:
        middle, swing = length + vectors.square().sum(1) - 2 * middle, 2 * swing
    other, least = [k for k in range(9) if k not in (1, 2, 4)], 0.0 if distance else -9.0
    low, high = (middle - swing).clamp(min=least)[other], (middle + swing)[other]
    for ranges, sign in ((outer_ranges, 1), (inner_ranges, -1)):
        lower, upper = (end[0, other] for end in ranges(hulls, 1e-13, None))
        assert (sign * (low - lower) >= 0).all() and (sign * (upper - high) >= 0).all()
        torch.testing.assert_close(lower, low, atol=1e-5, rtol=0)
        torch.testing.assert_close(upper, high, atol=1e-5, rtol=0)
