"""Ranges over boxes and over the domain hold every latent there, and are no wider than they have to be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from support.small import GEOMETRIES, metric_head, small_head, small_latents

from verale.bounds import domain_range, observe
from verale.bounds.domain import _RANGES, box_leaves_domain, box_ranges, inner_domain_range
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.space import Space
from verale.head import Box, Cosine, Euclidean, Head, Identity, InnerProduct, Softmax, as_patches
from verale.head.geometry import GEOMETRIES as KINDS
from verale.rounding import Enclosure

POINTS = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))


def test_unbounded_latents_have_any_squared_distance():
    bounds = domain_range(metric_head(Euclidean(), POINTS))
    assert (bounds.lower == 0).all() and (bounds.upper == torch.inf).all()


def test_a_single_mass_is_one():
    bounds = domain_range(Head(torch.ones(2, 1), Softmax(), Identity()))
    assert (bounds.lower.item(), bounds.upper.item()) == (1.0, 1.0)


def test_inner_products_in_a_box_and_in_a_ball():
    bounds = domain_range(metric_head(InnerProduct(), POINTS, Box(-1, 2)))
    ball = domain_range(metric_head(InnerProduct(0.5), POINTS))
    lengths = POINTS.double().norm(dim=1) / 2
    assert torch.allclose(ball.upper, lengths) and torch.equal(ball.lower, -ball.upper)
    assert (ball.upper >= lengths).all()
    wide, both = (domain_range(metric_head(InnerProduct(2.5), POINTS, box)) for box in (Box(), Box(-1, 2)))
    assert torch.equal(both.lower, torch.maximum(wide.lower, bounds.lower))
    assert torch.equal(both.upper, torch.minimum(wide.upper, bounds.upper))
    assert (wide.upper < bounds.upper).any() and (bounds.upper < wide.upper).any()


def test_every_geometry_has_a_range():
    assert set(_RANGES) == {kind.part for kind in KINDS.values()}


@pytest.mark.parametrize("box", [Box(0, 1), Box(-2, -1.5), Box(-40, 40), Box(-1e308, 1e308)], ids=str)
def test_masses_of_bounded_logits(box):
    head = Head(torch.ones(2, 4), Softmax(), Identity(), domain=box)
    bounds, within = domain_range(head), inner_domain_range(head)
    corners = torch.tensor([[box.lower] + [box.upper] * 3, [box.upper] + [box.lower] * 3], dtype=torch.float64)
    masses = observe(head, corners)[:, 0]
    assert (bounds.lower <= masses.upper[0]).all() and (masses.lower[1] <= bounds.upper).all()
    assert (within.lower >= masses.lower[0]).all() and (masses.upper[1] >= within.upper).all()
    assert torch.allclose(bounds.lower, masses.lower[0], rtol=1e-13, atol=2.0**-64)
    assert torch.allclose(bounds.upper, masses.upper[1], rtol=1e-13)


ENDS = [Box(0, None), Box(0.25, 1), Box(None, 0), Box(-1, -0.25), Box(None, 0.5), Box(-0.5, 9), Box()]
BOXED = [(Cosine(0.0), box) for box in ENDS]
BOXED += [(Cosine(1e-3, rooted=True), box) for box in ENDS]
BOXED += [(InnerProduct(2.0), box) for box in ENDS]
BOXED += [(geometry, box) for geometry in (Euclidean(), InnerProduct()) for box in (Box(-0.5, 0.25), Box(-1, 2))]
BOXED += [(Softmax(), Box(0, 1)), (Softmax(), Box(-3, -1)), (Softmax(), Box(0, None))]


@pytest.mark.parametrize(("geometry", "box"), BOXED, ids=str)
def test_the_ranges_are_those_of_the_checker(geometry, box):
    points = torch.cat([POINTS, POINTS[:2].abs(), -POINTS[:2].abs(), torch.eye(3)])
    if isinstance(geometry, Softmax):
        head = Head(torch.ones(2, 4), geometry, Identity(), domain=box)
    else:
        head = metric_head(geometry, points, box)
    space = Space(read_head(head.to_bytes()), load_arithmetic("mpmath"))
    norms = [1 << space.bits] * head.size
    if isinstance(geometry, Cosine):
        norms = [(low + high) // 2 for low, high in space.norms]
    outer, inner = domain_range(head), inner_domain_range(head)
    for j, norm in enumerate(norms):
        lower, upper = (float(Fraction(int(end), norm)) for end in (space.domain.lower[j], space.domain.upper[j]))
        assert outer.lower[j] <= lower <= inner.lower[j] and inner.upper[j] <= upper <= outer.upper[j]
        assert inner.lower[j] - outer.lower[j] <= 1e-12 and outer.upper[j] - inner.upper[j] <= 1e-12


def test_an_end_may_be_a_coordinate_or_a_length():
    """Of a bare cosine with z >= 0 the range depends on whether the prototype has a positive coordinate."""
    points = torch.tensor([[3.0, 4.0], [-3.0, -4.0], [3.0, -4.0]])
    for sign, box in ((1, Box(0, None)), (-1, Box(None, 0))):
        bare, other = (domain_range(metric_head(Cosine(epsilon), sign * points, box)) for epsilon in (0.0, 1e-3))
        assert torch.allclose(bare.lower, torch.tensor([0.6, -1.0, -0.8], dtype=torch.float64))
        assert torch.allclose(bare.upper, torch.tensor([1.0, -0.6, 0.6], dtype=torch.float64))
        assert (other.lower[0], other.upper[1]) == (0, 0)


WIDTHS = (0.0, 1e-12, 1e-3, 0.2)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("width", WIDTHS)
def test_ranges_hold_what_latents_in_the_box_give(geometry: str, width: float) -> None:
    head = small_head(geometry)
    drawn = torch.Generator().manual_seed(1)
    (patches,) = as_patches(small_latents(head, 1))
    low = -torch.inf if head.domain.lower is None else head.domain.lower
    high = torch.inf if head.domain.upper is None else head.domain.upper
    box = Enclosure((patches - width).clamp(low, high), (patches + width).clamp(low, high))
    if box_leaves_domain(head, box) is not None:
        pytest.skip("the box reaches beyond a radius")
    ranges = box_ranges(head, box)
    least, most = torch.full_like(ranges.lower, torch.inf), torch.full_like(ranges.lower, -torch.inf)
    for trial in range(60):
        share = torch.rand(patches.shape, generator=drawn, dtype=torch.float64)
        share = share.round() if trial % 2 else share
        seen = observe(head, (box.lower + share * (box.upper - box.lower)).clamp(box.lower, box.upper))
        assert bool((ranges.lower <= seen.upper).all()) and bool((seen.lower <= ranges.upper).all())
        least, most = torch.minimum(least, seen.lower), torch.maximum(most, seen.upper)
    assert float((ranges.upper - ranges.lower).max()) <= 20 * float((most - least).max()) + 1e-13


def test_boxes_beyond_the_domain_are_told() -> None:
    head = small_head("euclidean")
    (patches,) = as_patches(small_latents(head, 1))
    assert box_leaves_domain(head, Enclosure.exact(patches)) is None
    assert "beyond the head's domain" in str(box_leaves_domain(head, Enclosure(patches - 9, patches)))
    assert "beyond the head's domain" in str(box_leaves_domain(head, Enclosure(patches, patches + torch.inf)))
    around = replace(small_head("cosine"), geometry=Cosine(epsilon=0.0), domain=Box())
    assert "zero vector" in str(box_leaves_domain(around, Enclosure(-patches.abs(), patches.abs())))
