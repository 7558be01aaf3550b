"""Statements entered at once say what they say one after the other, and what they say is true."""

from __future__ import annotations

import pytest
import torch
from support.small import metric_head, small_latents

from verale.bounds import Projection, observe
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
@pytest.mark.parametrize("entries", [1, 2**18], ids=["a patch at a time", "all patches together"])
def test_ranges_are_those_of_each_patch_by_itself(geometry, entries, monkeypatch):
    monkeypatch.setattr("verale.bounds.spans._ENTRIES_AT_ONCE", entries)
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
def test_a_prototype_that_adds_no_direction_is_left_out(geometry):
    head, observed, lists = patches_of(geometry)
    points = head.prototypes.clone()
    points[7] = points[3]
    head = metric_head(geometry, points)
    observed = observe(head, as_patches(small_latents(head, images=1, patches=9))[0])
    paradigm = Projection(head)
    ours, theirs = (paradigm.ranges([each], observed[:1]) for each in ([5, 3, 7, 1], [5, 3, 1]))
    other = [j for j in range(14) if j != 7]
    torch.testing.assert_close(ours.lower[0, other], theirs.lower[0, other], rtol=0, atol=0)
    torch.testing.assert_close(ours.upper[0, other], theirs.upper[0, other], rtol=0, atol=0)
    lists[0] = [5, 3, 7, 1]
    within = paradigm.inner().ranges(lists, observed)
    unstated = [j for j in range(14) if j not in lists[0]]
    assert (within.lower[0, unstated] == torch.inf).all() and (within.upper[0, unstated] == -torch.inf).all()


def test_a_statement_with_one_end_bounds_its_own_observable_alone():
    head, observed, lists = patches_of(Euclidean())
    upper = observed.upper.clone()
    upper[0, lists[0][1]] = torch.inf
    ours = Projection(head).ranges(lists[:1], Enclosure(observed.lower[:1], upper[:1]))
    theirs = Projection(head).ranges([[lists[0][0], lists[0][2]]], observed[:1])
    inner = Projection(head).inner().ranges(lists[:1], Enclosure(observed.lower[:1], upper[:1]))
    assert (inner.lower[0, [j for j in range(14) if j not in lists[0]]] == torch.inf).all()
    assert torch.equal(ours.upper, theirs.upper) and ours.lower[0, lists[0][1]] >= observed.lower[0, lists[0][1]]
