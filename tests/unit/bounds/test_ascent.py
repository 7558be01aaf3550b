"""The best weights: bounds that are attained, whatever the widths of the facts; estimates to a few digits."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from verale.bounds.joint import Facts, best_weights

INF = float("inf")


def distances(points: Tensor) -> Facts:
    """Squared distances to some points."""
    ones = torch.ones(len(points)).double()
    return Facts(ones, points, points.square().sum(1), ones * 4)


def bound(facts: Facts, targets: Tensor, lower: Tensor, upper: Tensor, weights: Tensor) -> Tensor:
    """(B,) h, as the module's docstring has it."""
    share = targets - weights
    curve = share @ facts.curves
    place = share @ facts.vectors / curve[:, None]
    values = facts.curves * place.square().sum(1, keepdim=True) - 2 * place @ facts.vectors.T + facts.constants
    ends = torch.where(weights > 0, lower, upper).masked_fill(weights == 0, 0.0)
    return (share * values + weights * ends).sum(1)


def row(*numbers: float) -> Tensor:
    return torch.tensor([numbers], dtype=torch.float64)


@pytest.mark.parametrize(
    ("lower", "upper", "least"),
    [
        ((1.0, -INF), (1.0, INF), 1.0),  # at the distance 1 from 0: (2 - 1)^2 from 2
        ((0.0, -INF), (0.25, INF), 2.25),
        ((0.25, -INF), (2.25, INF), 0.25),
        ((-INF, -INF), (2.25, INF), 0.25),
        ((1.0, 3.0), (1.0, 16.0), 3.0),  # stated of the target itself
    ],
)
def test_the_least_distance_between_two_points(
    lower: tuple[float, float], upper: tuple[float, float], least: float
) -> None:
    facts = distances(row(0.0, 2.0).T)
    targets, ends = row(0.0, 1.0), (row(*lower), row(*upper))
    weights = best_weights(facts, targets, *ends)
    assert float(bound(facts, targets, *ends, weights)) == pytest.approx(least, abs=1e-6)


def test_facts_that_say_nothing_have_no_weight() -> None:
    facts = distances(torch.rand(4, 3, generator=torch.Generator().manual_seed(0)).double())
    targets = torch.ones(2, 4).double()
    lower, upper = row(-INF, 0.1, -INF, -INF).expand(2, -1), row(INF, 0.2, INF, INF).expand(2, -1)
    weights = best_weights(facts, targets, lower, upper)
    assert (weights[:, [0, 2, 3]] == 0).all() and (weights[:, 1] != 0).all()
    assert (best_weights(facts, targets, lower - INF, upper + INF) == 0).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", [0.0, 0.01, 0.3])
def test_no_weights_that_are_near_are_better(seed: int, width: float) -> None:
    """h is concave: where no small change makes it greater, nothing does."""
    generator = torch.Generator().manual_seed(seed)
    points, place = torch.rand(5, 4, generator=generator).double(), torch.rand(1, 4, generator=generator).double()
    facts = distances(points)
    observed = (place - points).square().sum(1)[None].expand(6, -1)
    lower, upper = observed * (1 - width), observed * (1 + width)
    hidden = torch.rand(5, generator=generator) < 0.4
    lower, upper = lower.masked_fill(hidden, -INF), upper.masked_fill(hidden, INF)
    targets = torch.randn(6, 5, generator=generator).double()
    weights = best_weights(facts, targets, lower, upper)
    best = bound(facts, targets, lower, upper, weights)
    assert torch.isfinite(best).all()
    assert (best <= (targets * observed).sum(1) + 1e-9).all()
    for size in (1e-2, 1e-3):
        for _ in range(40):
            other = weights + size * torch.randn(6, 5, generator=generator).double() * ~hidden
            near = bound(facts, targets, lower, upper, other)
            usable = (targets - other).sum(1) > 0
            assert (near[usable] <= best[usable] + 1e-5).all()
