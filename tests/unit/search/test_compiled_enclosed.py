"""What a proof knows holds of exact numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from support.compiled import head_named

from verale.bounds import Projection
from verale.search.compiled.enclosed import enclosed
from verale.search.problem import Problem


@pytest.mark.parametrize("seed", range(3))
def test_distances_and_observables_are_as_near_as_it_says(seed: int) -> None:
    head = head_named("euclidean", seed)
    latents = torch.rand(1, 2, head.depth, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    known = enclosed(Projection(head), Problem.of(head, latents).observed)
    assert known.distance
    assert known.low.shape == known.high.shape == (2, head.size)
    points = [[Fraction(value) for value in row] for row in head.prototypes.double().tolist()]
    for first, row in enumerate(points):
        assert known.gram[first, first] <= known.largest
        for second, other in enumerate(points):
            exact = sum((a - b) ** 2 for a, b in zip(row, other, strict=True))
            parts = (known.gram[first, first], known.gram[second, second], -2 * known.gram[first, second])
            assert abs(sum(map(Fraction, map(float, parts))) - exact) <= Fraction(known.reach_error)
        for patch, latent in enumerate(latents[0].tolist()):
            distance = sum((Fraction(a) - b) ** 2 for a, b in zip(latent, row, strict=True))
            assert known.low[patch, first] <= distance <= known.high[patch, first]
    assert (known.outer[0] <= known.inner[0]).all() and (known.inner[1] <= known.outer[1]).all()
