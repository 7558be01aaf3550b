"""Ranges over boxes hold every observable of latents in them, and are no wider than they have to be."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.small import GEOMETRIES, small_head, small_latents

from verale.bounds import observe
from verale.bounds.domain import box_leaves_domain, box_ranges
from verale.head import Box, Cosine, as_patches
from verale.rounding import Enclosure

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
    for trial in range(200):
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
