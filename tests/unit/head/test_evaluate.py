"""The reference evaluation against formulas written out one pair at a time."""

from __future__ import annotations

import math

import pytest
import torch
from small import GEOMETRIES, small_head, small_latents

from verale.errors import LatentsError
from verale.head import Cosine, Euclidean, LogRatio, as_patches, evaluate


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
    found = evaluate(head, patches)
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
        assert found.activations[image].tolist() == pytest.approx(activations, rel=1e-12)
        assert found.logits[image].tolist() == pytest.approx(logits, rel=1e-9, abs=1e-12)
        assert int(found.predicted[image]) == logits.index(max(logits))


def test_latents_of_another_network_are_refused():
    with pytest.raises(LatentsError, match="7 channels"):
        evaluate(small_head("euclidean"), torch.zeros(1, 5, 7, dtype=torch.float64))
