"""The papers' explainers: bounds that hold up to float32 rounding, and a search that ends."""

from __future__ import annotations

import pytest
import torch
from support.cases import every
from support.small import GEOMETRIES, small_head, small_latents

from benchmarks.baseline import Published, _Hypersphere, _Triangle, explain, methods_of
from verale.errors import UsageError
from verale.head import Head

FLOAT32 = 2e-3
"""Square roots of cancelled squares near 0 lose half the digits of float32."""


def metric_case(geometry: str, seed: int) -> tuple[Published, torch.Tensor, torch.Tensor]:
    """A head, the observables of a latent, and those of its mirror image in the hull of the first anchors."""
    head = small_head(geometry, seed, prototypes=20, depth=8)
    published = Published.of(head)
    points = published.prototypes.double()
    latent = torch.rand(8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    base = points[0] if geometry == "euclidean" else torch.zeros(8, dtype=torch.float64)
    if geometry == "cosine":
        latent = latent / latent.norm()
    hull = torch.linalg.qr((points[:4] - base).T if geometry == "cosine" else (points[1:4] - base).T).Q
    foot = base + hull @ (hull.T @ (latent - base))
    mirrored = 2 * foot - latent
    return published, published.observe(latent[None])[0], published.observe(mirrored[None])[0]


@every("geometry", ["euclidean", "cosine"])
@every("balls", [_Triangle, _Hypersphere])
@every("seed", range(6))
def test_bounds_hold_for_every_latent_of_the_statements(geometry, balls, seed):
    published, observed, mirrored = metric_case(geometry, seed)
    stated = torch.arange(4)
    assert torch.allclose(observed[stated], mirrored[stated], atol=1e-5)
    lower, upper = balls(published).row(stated, observed[stated])
    for truth in (observed, mirrored):
        assert (lower - FLOAT32 <= truth).all() and (truth <= upper + FLOAT32).all()


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("seed", range(3))
def test_the_search_ends_with_an_explanation(geometry, seed):
    head = small_head(geometry, seed)
    published = Published.of(head)
    for patches in small_latents(head, seed=seed):
        for method in methods_of(published):
            explained = explain(published, patches, method)
            assert explained.finished and explained.entails
            assert 0 < len(explained.pairs) <= explained.grown <= patches.shape[0] * head.size
            assert len(set(explained.pairs)) == len(explained.pairs)


def test_time_is_limited_and_said():
    head = small_head("euclidean", prototypes=60)
    explained = explain(Published.of(head), small_latents(head)[0], "triangle", limit=0.0)
    assert not explained.finished


def test_a_method_of_another_head_is_refused():
    head: Head = small_head("softmax")
    with pytest.raises(UsageError, match="mass"):
        explain(Published.of(head), small_latents(head)[0], "triangle")
