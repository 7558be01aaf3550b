"""Projection: the exact range, never looser than the triangle or the spheres; and the products that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import pytest
import torch
from support.small import metric_head, small_latents

from verale.bounds import Hypersphere, Projection, Triangle, observe
from verale.bounds import projection as products
from verale.bounds.projection import gram
from verale.head import Cosine, Euclidean, InnerProduct, as_patches
from verale.rounding import Enclosure, gamma


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


GEOMETRIES = [Euclidean(), Cosine(0.0), InnerProduct(4.0)]


@pytest.mark.parametrize(
    ("paradigm", "geometry", "slack"),
    [
        *((Projection, geometry, 1e-6) for geometry in GEOMETRIES),
        *((Triangle, geometry, 1e-12) for geometry in GEOMETRIES),
        *((Hypersphere, geometry, 1e-12) for geometry in GEOMETRIES[:2]),
    ],
)
def test_ranges_are_those_of_each_patch_by_itself(paradigm, geometry, slack, monkeypatch):
    """Of patches with none, one, two, ... statements in a shuffled order."""
    generator = torch.Generator().manual_seed(0)
    head = metric_head(geometry, torch.rand(14, 12, generator=generator))
    observed = observe(head, as_patches(small_latents(head, images=1, patches=9))[0])
    lists = [torch.randperm(14, generator=generator)[:count].tolist() for count in (3, 0, 8, 1, 2, 5, 5, 4, 9)]
    ranges_of = paradigm(head).ranges
    ours = ranges_of(lists, observed)
    theirs = Enclosure.cat([ranges_of([stated], observed[[patch]]) for patch, stated in enumerate(lists)])
    monkeypatch.setattr("verale.bounds.spans._ENTRIES_AT_ONCE", 1)
    for each in (theirs, ranges_of(lists, observed)):
        torch.testing.assert_close(ours.lower, each.lower, rtol=slack, atol=slack)
        torch.testing.assert_close(ours.upper, each.upper, rtol=slack, atol=slack)
    assert (ours.upper - ours.lower)[2].mean() < 0.9 * (ours.upper - ours.lower)[1].mean()


def vectors(count: int, depth: int, spread: float, seed: int) -> torch.Tensor:
    """Rows whose coordinates differ by powers of two, some of them 0."""
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(count, depth, dtype=torch.float64, generator=generator)
    powers = (spread * torch.randn(count, depth, generator=generator)).round().double().exp2()
    return normal * powers * (torch.rand(count, depth, generator=generator) > 0.1)


def inner(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum(map(mul, a, b), Fraction(0))


@pytest.mark.parametrize("depth", [1, 2, 3, 64, 200])
@pytest.mark.parametrize("spread", [0.0, 4.0, 30.0])
def test_the_error_is_that_of_any_sum(depth, spread):
    """|error| <= gamma_(D + 1) |a| |b|, squared, in exact numbers."""
    rows = vectors(8, depth, spread, 0)
    found, exact = gram(rows).tolist(), [list(map(Fraction, row)) for row in rows.tolist()]
    squares = [inner(row, row) for row in exact]
    for i, a in enumerate(exact):
        for j, b in enumerate(exact):
            error = Fraction(found[i][j]) - inner(a, b)
            assert error**2 <= Fraction(gamma(depth + 1)) ** 2 * squares[i] * squares[j]


@pytest.mark.parametrize("depth", [2, 64, 500])
def test_the_order_of_coordinates_does_not_matter(depth):
    rows = vectors(50, depth, 3.0, 2)
    for seed in range(5):
        order = torch.randperm(depth, generator=torch.Generator().manual_seed(seed))
        assert torch.equal(gram(rows[:, order]), gram(rows))
    if depth == 500:  # of the library's product it does
        assert any(
            not torch.equal(rows[:, order] @ rows[:, order].T, rows @ rows.T)
            for order in (torch.arange(depth).flip(0), torch.randperm(depth))
        )


@pytest.mark.parametrize("bytes_", [1, 8 * 30 * 7])
def test_some_rows_at_once_have_the_same_bits(monkeypatch, bytes_):
    rows = vectors(30, 40, 4.0, 3)
    found = gram(rows)
    monkeypatch.setattr(products, "_AT_ONCE", bytes_)
    assert torch.equal(gram(rows), found)


def test_zeros_the_largest_and_the_smallest_floats():
    least, greatest = 2.0**-1074, 2.0**500
    rows = [[0.0, 0.0], [least, 0.0], [greatest, -greatest]]
    exact = [list(map(Fraction, row)) for row in rows]
    assert gram(torch.tensor(rows, dtype=torch.float64)).tolist() == [
        [float(inner(a, b)) for b in exact] for a in exact
    ]


def test_more_coordinates_than_the_slices_have_room_for_are_left_to_the_library():
    rows = vectors(1, 2**16 + 1, 1.0, 4)
    assert torch.equal(gram(rows), rows @ rows.T)
