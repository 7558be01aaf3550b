"""Hypersphere: the first sphere is the triangle inequality, order matters, and what float64 cannot follow is lost."""

from __future__ import annotations

import pytest
import torch
from support.small import metric_head
from torch import Tensor

from verale.bounds import Hypersphere, Projection, Simplex, Triangle, observe
from verale.head import Cosine, Euclidean
from verale.rounding import Enclosure


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(1e-8)], ids=str)
def test_the_first_sphere_is_the_triangle_inequality_and_two_say_more_than_each(geometry):
    generator = torch.Generator().manual_seed(6)
    head = metric_head(geometry, torch.rand(12, 6, generator=generator))
    z = torch.rand(5, 6, generator=generator, dtype=torch.float64)
    observed, sphere, triangle = observe(head, z), Hypersphere(head), Triangle(head)
    one, same = (each.ranges([[0]] * 5, observed) for each in (sphere, triangle))
    torch.testing.assert_close(one.lower, same.lower, rtol=0, atol=1e-6)
    torch.testing.assert_close(one.upper, same.upper, rtol=0, atol=1e-6)
    two, both = (each.ranges([[0, 1]] * 5, observed) for each in (sphere, triangle))
    assert float((two.upper - two.lower).mean()) < float((both.upper - both.lower).mean())


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(1e-8)], ids=str)
def test_spheres_depend_on_the_order_and_fewer_statements_can_say_more(geometry):
    generator = torch.Generator().manual_seed(8)
    head = metric_head(geometry, torch.rand(12, 6, generator=generator))
    observed = observe(head, torch.rand(9, 6, generator=generator, dtype=torch.float64))
    paradigm = Hypersphere(head)
    assert paradigm.ordered and not Projection.ordered and not Triangle.ordered and not Simplex.ordered

    def bounds(*stated: int) -> Tensor:
        return paradigm.ranges([list(stated)] * 9, observed).upper[:, 4:]

    assert (bounds(0, 1, 2) - bounds(2, 1, 0)).abs().max() > 1e-3
    assert (bounds(1, 2, 3) < bounds(0, 1, 2, 3) - 1e-3).any()


def test_a_patch_is_lost_where_float64_cannot_follow():
    """Two statements whose widths leave the foot open; a statement that does not move the centre loses nothing."""
    points = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    head = metric_head(Euclidean(), points)
    paradigm = Hypersphere(head)

    def enter(rows: object, j: int, value: float) -> object:
        stated = Enclosure.exact(torch.tensor([value], dtype=torch.float64))
        return paradigm.extend(rows, torch.tensor([j]), stated, torch.tensor([True]))

    once = enter(paradigm.start(1), 0, 0.5)
    kept = enter(once, 2, 0.5)
    assert not kept.lost and int(kept.count) == 1 and torch.equal(kept.upper[0, 1], once.upper[0, 1])
    moved = enter(kept, 1, 0.5)
    assert not moved.lost and int(moved.count) == 2 and moved.weights[0, :2].tolist() == [0.5, 0.5]
    # The foot lies between two multiples of 2^-18, and neither is nearer.
    between = enter(kept, 1, 0.5 + 2.0**-18)
    assert between.lost and int(between.count) == 1
    assert torch.equal(between.upper[0, 3], kept.upper[0, 3])
    assert float(between.upper[0, 1]) == 0.5 + 2.0**-18
    again = enter(between, 3, 0.5)
    assert again.lost and int(again.count) == 1 and float(again.upper[0, 3]) == 0.5
