"""Statements entered at once say what they say one after the other, and what they say is true."""

from __future__ import annotations

import pytest
import torch
from support.small import metric_head, small_latents

from verale.bounds import Projection, observe
from verale.bounds.at_once import directions_of
from verale.bounds.intervals import ranges_of_statements
from verale.head import Cosine, Euclidean, InnerProduct, as_patches
from verale.rounding import Enclosure

SLACK = 1e-6
GEOMETRIES = [Euclidean(), Cosine(0.0), InnerProduct(4.0)]


def patches_of(geometry, size=14, depth=12, patches=9):
    """A head, what is observed of some patches, and statements about them: none, one, two, ... in a shuffled order."""
    generator = torch.Generator().manual_seed(0)
    head = metric_head(geometry, torch.rand(size, depth, generator=generator))
    observed = observe(head, as_patches(small_latents(head, images=1, patches=patches))[0])
    lists = [torch.randperm(size, generator=generator)[:count].tolist() for count in (3, 0, 8, 1, 2, 5, 5, 4, 9)]
    return head, observed, lists


def one_by_one(paradigm, observed: Enclosure, lists) -> Enclosure:
    return Enclosure.cat([paradigm.ranges([stated], observed[[patch]]) for patch, stated in enumerate(lists)])


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("entries", [1, 2**21], ids=["a patch at a time", "all patches together"])
def test_ranges_are_those_of_each_patch_by_itself(geometry, entries, monkeypatch):
    monkeypatch.setattr("verale.bounds.projection.ENTRIES_AT_ONCE", entries)
    head, observed, lists = patches_of(geometry)
    paradigm = Projection(head)
    ours, theirs = paradigm.ranges(lists, observed), one_by_one(paradigm, observed, lists)
    torch.testing.assert_close(ours.lower, theirs.lower, rtol=SLACK, atol=SLACK)
    torch.testing.assert_close(ours.upper, theirs.upper, rtol=SLACK, atol=SLACK)
    assert (ours.upper - ours.lower)[2].mean() < 0.7 * (ours.upper - ours.lower)[1].mean()


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_the_observables_themselves_lie_within_and_ranges_from_within_lie_further_in(geometry):
    head, observed, lists = patches_of(geometry)
    paradigm = Projection(head)
    outer, inner = (each.ranges(lists, observed) for each in (paradigm, paradigm.inner()))
    assert bool((outer.lower <= observed.upper).all()) and bool((outer.upper >= observed.lower).all())
    assert bool((inner.lower >= outer.lower).all()) and bool((inner.upper <= outer.upper).all())
    wide = outer.upper - outer.lower > 1e-3
    torch.testing.assert_close(inner.lower[wide], outer.lower[wide], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("of", [Projection.ranges, ranges_of_statements], ids=["equations", "intervals"])
def test_a_prototype_that_adds_no_direction_is_left_out(geometry, of):
    head, observed, lists = patches_of(geometry)
    points = head.prototypes.clone()
    points[7] = points[3]
    head = metric_head(geometry, points)
    observed = observe(head, as_patches(small_latents(head, images=1, patches=9))[0])
    paradigm = Projection(head)
    ours, theirs = (of(paradigm, [each], observed[:1]) for each in ([5, 3, 7, 1], [5, 3, 1]))
    other = [j for j in range(14) if j != 7]
    torch.testing.assert_close(ours.lower[0, other], theirs.lower[0, other], rtol=0, atol=0)
    torch.testing.assert_close(ours.upper[0, other], theirs.upper[0, other], rtol=0, atol=0)
    lists[0] = [5, 3, 7, 1]
    within = of(paradigm.inner(), lists, observed)
    unstated = [j for j in range(14) if j not in lists[0]]
    assert (within.lower[0, unstated] == torch.inf).all() and (within.upper[0, unstated] == -torch.inf).all()


@pytest.mark.parametrize("of", [Projection.ranges, ranges_of_statements], ids=["equations", "intervals"])
def test_a_statement_with_one_end_bounds_its_own_observable_alone(of):
    head, observed, lists = patches_of(Euclidean())
    upper = observed.upper.clone()
    upper[0, lists[0][1]] = torch.inf
    ours = of(Projection(head), lists[:1], Enclosure(observed.lower[:1], upper[:1]))
    theirs = of(Projection(head), [[lists[0][0], lists[0][2]]], observed[:1])
    inner = of(Projection(head).inner(), lists[:1], Enclosure(observed.lower[:1], upper[:1]))
    assert (inner.lower[0, [j for j in range(14) if j not in lists[0]]] == torch.inf).all()
    assert torch.equal(ours.upper, theirs.upper) and ours.lower[0, lists[0][1]] >= observed.lower[0, lists[0][1]]


def test_directions_are_orthonormal_and_errors_cover_what_they_are_short_of():
    generator = torch.Generator().manual_seed(1)
    points = torch.rand(20, 16, generator=generator, dtype=torch.float64)
    gram, anchors = points @ points.T, torch.randperm(20, generator=generator)[:12].view(2, 6)
    present = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    offset = points[anchors] @ points[0]
    nothing = torch.zeros_like(offset)
    given, whole = directions_of(gram, None, anchors, present, offset, nothing, 16.0, 48, 1e-9, 1e-12)
    assert whole.all()
    e = given.coefficients @ points[anchors]
    products = e @ e.transpose(1, 2)
    identity = torch.diag_embed(present.double())
    assert ((products - identity).square().sum((1, 2)) <= given.defect).all() and (given.defect < 1e-20).all()
    torch.testing.assert_close(given.centre, torch.where(present, e @ points[0], 0.0))
    torch.testing.assert_close(given.along, torch.einsum("ri,rik->rk", given.centre, e @ points.T))
    torch.testing.assert_close(given.squares, (e @ points.T).square().sum(1))
    assert (given.centre_error[1, 4:] == 0).all() and (given.dual_error[1, 4:] == 0).all()


def test_anchors_that_are_alike_have_no_directions():
    points = torch.eye(3, dtype=torch.float64)[[0, 1, 1]]
    anchors, present = torch.tensor([[0, 1], [1, 2]]), torch.ones(2, 2, dtype=torch.bool)
    nothing = torch.zeros(2, 2, dtype=torch.float64)
    _, whole = directions_of(points @ points.T, None, anchors, present, nothing, nothing, 1.0, 48, 1e-9, 1e-12)
    assert whole.tolist() == [True, False]
