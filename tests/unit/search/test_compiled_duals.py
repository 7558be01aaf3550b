"""Sums in machine code are those of the tensors, but for the order of their terms."""

from __future__ import annotations

import pytest
import torch

from verale.bounds.at_once import dual_sums
from verale.bounds.intervals import moves
from verale.search.compiled.duals import compiled_moves, compiled_sums


@pytest.mark.parametrize("has_base", [True, False])
@pytest.mark.parametrize("room", [1, 2, 3, 4, 5, 9])
def test_sums_are_those_of_the_tensors(has_base, room):
    generator = torch.Generator().manual_seed(room)
    points = torch.rand(20, 12, generator=generator, dtype=torch.float64)
    anchors = torch.stack([torch.randperm(20, generator=generator)[:room] for _ in range(6)])
    base = torch.randint(20, (6,), generator=generator) if has_base else None
    coefficients = torch.randn(6, room, room, generator=generator, dtype=torch.float64).tril()
    coefficients[3, room - 1] = 0.0  # a direction that is missing
    centre = torch.randn(6, room, generator=generator, dtype=torch.float64)
    given = (points @ points.T, base, anchors, coefficients, centre)
    for ours, theirs in zip(compiled_sums(*given), dual_sums(*given), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_moves_are_those_of_the_tensors():
    generator = torch.Generator().manual_seed(3)
    alpha, bends = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((4, 7, 5), (4, 7)))
    beta, half = (torch.randn((4, 5), generator=generator, dtype=torch.float64) for _ in range(2))
    given = (alpha.transpose(1, 2).contiguous().transpose(1, 2), beta, half.abs(), bends)  # of any layout
    for ours, theirs in zip(compiled_moves(*given), moves(*given), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-13, atol=0.0)
