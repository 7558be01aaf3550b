"""Projection: the exact range, never looser than the triangle or the spheres."""

from __future__ import annotations

import pytest
import torch
from support.small import metric_head

from verale.bounds import Hypersphere, Projection, Triangle, observe
from verale.head import Cosine, Euclidean, InnerProduct


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(0.0), InnerProduct(1.5)], ids=str)
@pytest.mark.parametrize("stated", [1, 2, 4])
def test_projection_is_attained(geometry, stated):
    """A latent that satisfies the statements comes within 1e-6 of either end: the bounds are the exact range."""
    generator = torch.Generator().manual_seed(stated)
    points = torch.rand(8, 7, generator=generator)
    head = metric_head(geometry, points)
    z = torch.rand(1, 7, generator=generator, dtype=torch.float64)
    if isinstance(geometry, InnerProduct):
        z *= 1.5 * (1 - 1e-14) / z.norm()
    observed = observe(head, z)
    paradigm = Projection(head)
    ranges = paradigm.ranges([list(range(stated))], observed)
    x = points.double()
    if isinstance(geometry, Cosine):
        x, z = x / x.norm(dim=1, keepdim=True), z / z.norm()
    origin = x[0] if isinstance(geometry, Euclidean) else torch.zeros(7, dtype=torch.float64)
    spanned = x[1:stated] - origin if isinstance(geometry, Euclidean) else x[:stated]
    basis = torch.linalg.qr(spanned.T).Q if len(spanned) else torch.zeros(7, 0, dtype=torch.float64)
    hull = origin + basis @ (basis.T @ (z[0] - origin))
    radius = (z[0] - hull).norm()
    for k in range(stated, 8):
        away = x[k] - origin - basis @ (basis.T @ (x[k] - origin))
        ends = []
        for sign in (-1, 1):
            extreme = hull + sign * radius * away / away.norm()
            for j in range(stated):
                assert float((extreme - x[j]).norm()) == pytest.approx(float((z[0] - x[j]).norm()), abs=1e-12)
            ends.append(float((extreme - x[k]).square().sum() if isinstance(geometry, Euclidean) else extreme @ x[k]))
        assert sorted(ends) == pytest.approx([float(ranges.lower[0, k]), float(ranges.upper[0, k])], abs=1e-6)


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(1e-8)], ids=str)
@pytest.mark.parametrize(("paradigm", "slack"), [(Triangle, 1e-9), (Hypersphere, 1e-7)])
def test_projection_is_never_looser(paradigm, slack, geometry):
    """Up to rounding, which projection has more of: it takes roots of small differences."""
    generator = torch.Generator().manual_seed(4)
    head = metric_head(geometry, torch.rand(12, 6, generator=generator))
    observed = observe(head, torch.rand(5, 6, generator=generator, dtype=torch.float64))
    wide, tight = paradigm(head), Projection(head)
    order = [torch.randperm(12, generator=generator).tolist() for _ in range(5)]
    for count in range(1, 6):
        loose, exact = (each.ranges([stated[:count] for stated in order], observed) for each in (wide, tight))
        assert (exact.lower >= loose.lower - slack).all() and (exact.upper <= loose.upper + slack).all()
    assert float((exact.upper - exact.lower).mean()) < 0.9 * float((loose.upper - loose.lower).mean())


def test_a_duplicate_of_a_stated_prototype_is_known():
    """Distance to the hull is 0: no division, and the bound is nearly as sharp as the statement."""
    points = torch.rand(5, 4, generator=torch.Generator().manual_seed(1))
    points[3] = points[0]
    head = metric_head(Euclidean(), points)
    z = torch.rand(1, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    observed = observe(head, z)
    paradigm = Projection(head)
    once, both = paradigm.ranges([[0]], observed), paradigm.ranges([[0, 3]], observed)
    assert float(once.upper[0, 3] - once.lower[0, 3]) < 1e-5
    assert torch.equal(once.upper[0, [0, 1, 2, 4]], both.upper[0, [0, 1, 2, 4]])
