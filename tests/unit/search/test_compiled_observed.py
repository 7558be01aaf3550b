"""Sums over coordinates in machine code are those of the tensors, but for the order of their terms."""

from __future__ import annotations

import pytest
import torch
from support.compiled import head_named

from verale.bounds.observables import TENSOR_SUMS, CoordinateSums, observe
from verale.search.compiled.observed import compiled_products, compiled_squares


@pytest.mark.parametrize(("patches", "size", "depth"), [(1, 1, 1), (3, 32, 5), (4, 33, 70), (0, 7, 3)])
def test_sums_are_those_of_the_tensors(patches, size, depth):
    generator = torch.Generator().manual_seed(size)
    z, p = (torch.randn(count, depth, generator=generator, dtype=torch.float64) for count in (patches, size))
    torch.testing.assert_close(compiled_squares(z, p), (z[:, None] - p).square().sum(2))
    for ours, theirs in zip(compiled_products(z, p.T.contiguous().T), TENSOR_SUMS.products(z, p), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", ["euclidean", "cosine", "rooted", "inner product"])
def test_observables_are_enclosed_alike(name):
    head = head_named(name)
    latents = torch.rand(5, head.depth, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ours = observe(head, latents, CoordinateSums(compiled_squares, compiled_products))
    theirs = observe(head, latents)
    assert bool((ours.lower <= theirs.upper).all() and (theirs.lower <= ours.upper).all())
    torch.testing.assert_close(ours.upper - ours.lower, theirs.upper - theirs.lower)
