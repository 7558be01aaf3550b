"""Wide statements: what they prove is hardly more than some latents attain. That it holds, the contract suite says."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from support.small import metric_head

from verale.bounds import Projection, observe
from verale.head import Cosine, Euclidean, InnerProduct
from verale.rounding import Enclosure

GEOMETRIES = (Euclidean(), Cosine(0.0), InnerProduct(1.5))


def case(geometry, seed: int = 0):
    """A head of eight prototypes, and the observables of a latent."""
    generator = torch.Generator().manual_seed(seed)
    head = metric_head(geometry, torch.rand(8, 7, generator=generator))
    z = torch.rand(1, 7, generator=generator, dtype=torch.float64)
    return head, observe(head, z / z.norm() if isinstance(geometry, InnerProduct) else z)


def at_corners(paradigm, observed, count, width):
    """The least and greatest ends that the first statements give if each is at an end of its interval."""
    lows, highs = [], []
    for signs in product((-1, 1), repeat=count):
        corner = observed.lower.clone()
        corner[0, :count] += width * torch.tensor(signs, dtype=torch.float64)
        known = paradigm.ranges([list(range(count))], Enclosure(corner - 1e-15, corner + 1e-15))
        lows.append(known.lower)
        highs.append(known.upper)
    low, high = torch.cat(lows).amin(0, keepdim=True), torch.cat(highs).amax(0, keepdim=True)
    return low, high


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("width", [1e-6, 1e-3])
def test_narrow_intervals_give_hardly_more_than_their_corners(geometry, count, width):
    """The ranges for statements at the ends of their intervals lie within; and these reach nearly as far out."""
    head, observed = case(geometry)
    paradigm, stated = Projection(head), [list(range(count))]
    middle = paradigm.ranges(stated, observed)
    wide = Enclosure(observed.lower - width, observed.upper + width)
    ours = paradigm.ranges(stated, wide)
    low, high = at_corners(paradigm, observed, count, width)
    assert (ours.lower <= low + 1e-9).all() and (ours.upper >= high - 1e-9).all()
    moved, needed = middle.lower - ours.lower, middle.lower - low
    assert (moved <= 1.1 * needed + 1e-8)[:, count:].all()
    moved, needed = ours.upper - middle.upper, high - middle.upper
    assert (moved <= 1.1 * needed + 1e-8)[:, count:].all()


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("width", [1e-6, 1e-3, 0.03])
def test_ranges_from_within_are_attained_at_corners(geometry, count, width):
    """No end lies beyond what statements at the ends of their intervals give; from narrow ones, hardly before it."""
    head, observed = case(geometry)
    paradigm, stated = Projection(head), [list(range(count))]
    wide = Enclosure(observed.lower - width, observed.upper + width)
    outer, inner = (each.ranges(stated, wide) for each in (paradigm, paradigm.inner()))
    low, high = at_corners(paradigm, observed, count, width)
    assert (inner.lower >= low - 1e-8)[:, count:].all() and (inner.upper <= high + 1e-8)[:, count:].all()
    if width < 0.01:
        size = (outer.upper - outer.lower)[:, count:]
        assert ((inner.lower - outer.lower)[:, count:] <= 0.01 * size + 1e-7).all()
        assert ((outer.upper - inner.upper)[:, count:] <= 0.01 * size + 1e-7).all()


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("width", [0.0, 1e-12, 1e-6, 1e-3, 0.03])
def test_ranges_from_within_lie_within_those_from_without(geometry, width):
    """That what is from without holds the truth, the contract suite says."""
    head, _ = case(geometry)
    z = torch.rand(1, 7, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    observed, stated = observe(head, z if geometry == Euclidean() else z / (2 * z.norm())), [[0, 3, 5]]
    wide = Enclosure(observed.lower - width, observed.upper + width)
    outer, inner = (each.ranges(stated, wide) for each in (Projection(head), Projection(head).inner()))
    rest = [k for k in range(8) if k not in stated[0]]
    assert (inner.lower < inner.upper)[:, rest].all()  # something is known
    assert (inner.lower >= outer.lower)[:, rest].all() and (inner.upper <= outer.upper)[:, rest].all()


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_statements_that_others_imply_add_nothing_and_leave_nothing_known_from_within(geometry):
    generator = torch.Generator().manual_seed(3)
    points = torch.rand(8, 7, generator=generator)
    points[7] = points[0]
    head = metric_head(geometry, points)
    observed = observe(head, torch.rand(2, 7, generator=generator, dtype=torch.float64) / 4)
    for width in (0.0, 1e-3):
        wide = Enclosure(observed.lower - width, observed.upper + width)
        ranges = Projection(head).ranges([[1, 0, 7], []], wide)
        alone = Projection(head).ranges([[1, 0], []], wide)
        assert torch.equal(ranges.lower[:, 2:7], alone.lower[:, 2:7])
        assert torch.equal(ranges.lower[1], Projection(head).domain.lower)
        inner = Projection(head).inner().ranges([[1, 0, 7], []], wide)
        assert (inner.lower[0] == torch.inf).sum() >= 5 and inner.lower[1].isfinite().all()


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_an_interval_without_an_end_says_nothing_of_other_observables(geometry):
    head, observed = case(geometry)
    open_ = Enclosure(observed.lower.clone(), observed.upper.clone())
    open_.upper[0, 1] = torch.inf
    ranges = Projection(head).ranges([[0, 1, 2]], open_)
    alone = Projection(head).ranges([[0, 2]], observed)
    assert torch.equal(ranges.upper[:, 3:], alone.upper[:, 3:])
    assert ranges.lower[0, 1] >= observed.lower[0, 1]
    inner = Projection(head).inner().ranges([[0, 1, 2]], open_)
    assert (inner.lower[0, 3:] == torch.inf).all()
