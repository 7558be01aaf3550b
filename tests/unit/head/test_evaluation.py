"""The reference evaluation against formulas written out one pair at a time."""

from __future__ import annotations

import math

import flint
import pytest
import torch
from support.exact import observable as observable_of
from support.exact import pooled
from support.small import FOCAL, GEOMETRIES, focal_head, small_head, small_latents

from verale.errors import LatentsError
from verale.head import (
    Cosine,
    Euclidean,
    FocalPooling,
    Head,
    LogRatio,
    MaxPooling,
    TopMeanPooling,
    as_patches,
    evaluate,
)
from verale.head.pooling import Pooling

FOCAL_KINDS = ("max_minus_mean", "max_minus_mean_distance")


def observable(head, z, j):
    if isinstance(head.geometry, Euclidean):
        return sum((a - b) ** 2 for a, b in zip(z, head.prototypes[j].tolist(), strict=True))
    if isinstance(head.geometry, Cosine):
        p = head.prototypes[j].tolist()
        dot = sum(a * b for a, b in zip(z, p, strict=True))
        return dot / (math.hypot(*p) * (math.hypot(*z) + head.geometry.epsilon))
    return math.exp(z[j]) / sum(map(math.exp, z))


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_evaluation_is_the_formula(geometry):
    head = small_head(geometry)
    patches = as_patches(small_latents(head))
    evaluation = evaluate(head, patches)
    for image, rows in enumerate(patches.tolist()):
        activations = []
        for j in range(head.size):
            values = [observable(head, z, j) for z in rows]
            if isinstance(head.similarity, LogRatio):
                values = [m * (1.0 if head.scale is None else float(head.scale[j])) for m in values]
                values = [math.log((m + 1) / (m + head.similarity.epsilon)) for m in values]
            activations.append(max(values))
        logits = [
            sum(w * a for w, a in zip(row, activations, strict=True)) + b
            for row, b in zip(head.weight.tolist(), head.bias.tolist(), strict=True)
        ]
        assert evaluation.activations[image].tolist() == pytest.approx(activations, rel=1e-12)
        assert evaluation.logits[image].tolist() == pytest.approx(logits, rel=1e-9, abs=1e-12)
        assert int(evaluation.predicted[image]) == logits.index(max(logits))


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
def test_focal_activations_are_the_formula(geometry, kind):
    head = focal_head(geometry, kind)
    patches = as_patches(small_latents(head))
    evaluation = evaluate(head, patches)

    def similarity(m, j):
        if not isinstance(head.similarity, LogRatio):
            return m
        m *= 1.0 if head.scale is None else float(head.scale[j])
        return math.log((m + 1) / (m + head.similarity.epsilon))

    for image, rows in enumerate(patches.tolist()):
        for j in range(head.size):
            values = [observable(head, z, j) for z in rows]
            similar = [similarity(m, j) for m in values]
            if kind == "max_minus_mean":
                activation = max(similar) - sum(similar) / len(similar)
            else:
                activation = similarity(min(values), j) - similarity(sum(values) / len(values), j)
            assert float(evaluation.activations[image, j]) == pytest.approx(activation, rel=1e-9, abs=1e-14)
    assert torch.allclose(
        evaluation.logits, evaluation.activations @ head.weight.double().T + head.bias.double(), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("scale", [None, 1e-3, 1e3])
@pytest.mark.parametrize("pooling", [MaxPooling(), TopMeanPooling(2), *map(FocalPooling, FOCAL_KINDS)], ids=str)
@pytest.mark.parametrize("size", [1e-160, 1e-3, 1e8, 1e150, 3e153, 1e160, 1e300])
def test_a_log_ratio_is_exact_at_distances_of_any_size(size: float, pooling: Pooling, scale: float | None):
    """Also where the squared distance is beyond float64, and the similarity as good as 0."""
    points = torch.tensor([[0.0, 0.5], [1.0, -0.25], [-2.0, 1.0]], dtype=torch.float64) * size
    patches = torch.tensor([[[1.0, -0.25], [0.5, 3.0], [-1.0, 0.0]]], dtype=torch.float64) * size
    scales = None if scale is None else torch.full((3,), scale, dtype=torch.float64)
    head = Head(torch.eye(3), Euclidean(), LogRatio(1e-4), points, scale=scales, pooling=pooling)
    activations = evaluate(head, patches).activations[0].tolist()
    with flint.ctx.workprec(4 * 1100):
        for j, activation in enumerate(activations):
            observed = [observable_of(head, patch, j) for patch in patches[0].tolist()]
            assert activation == pytest.approx(float(pooled(head, observed, j)), rel=1e-14, abs=1e-14)
    assert head.logits(patches)[0].tolist() == activations


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
def test_one_patch_is_nothing_special(geometry, kind):
    head = focal_head(geometry, kind)
    evaluation = evaluate(head, as_patches(small_latents(head, patches=1)))
    assert torch.equal(evaluation.activations, torch.zeros_like(evaluation.activations))


def test_latents_of_another_network_are_refused():
    with pytest.raises(LatentsError, match="7 channels"):
        evaluate(small_head("euclidean"), torch.zeros(1, 5, 7, dtype=torch.float64))
