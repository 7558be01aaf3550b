"""Spatial paradigms: pairs of statements, and paradigms refused for geometries they are not defined for."""

from __future__ import annotations

import pytest
import torch
from support.cases import every
from support.small import metric_head

from verale.bounds import Assignment, Hypersphere, Projection, Simplex, Triangle
from verale.bounds.rows import cut, stated_pairs
from verale.errors import UsageError
from verale.head import Cosine, Euclidean, FocalPooling, Geometry, Head, Identity, InnerProduct, Softmax
from verale.paradigms import PARADIGMS
from verale.rounding import Enclosure


def test_the_pairs_of_lists_stand_patch_by_patch_and_cut_their_own_ranges_alone():
    stated = [[2, 0], [], [1]]
    patch, prototype = stated_pairs(stated)
    assert patch.tolist() == [0, 0, 2] and prototype.tolist() == [2, 0, 1]
    ends = torch.zeros(3, 3).double(), torch.full((3, 3), 4.0).double()
    ranges = cut(Enclosure(*ends), (patch, prototype), Enclosure.exact(torch.ones(3).double()))
    said = torch.tensor([[True, False, True], [False] * 3, [False, True, False]])
    assert torch.equal(ranges.lower, said.double()) and torch.equal(ranges.upper, torch.where(said, 1.0, 4.0).double())


@pytest.mark.parametrize("stated", [[], [[]], [[], []]])
def test_nothing_is_stated_of_no_patches_and_of_some(stated):
    assert [len(each) for each in stated_pairs(stated)] == [0, 0]


@every("paradigm", [Projection, Triangle, Hypersphere, Simplex, Assignment])
@every("geometry", [Euclidean(), Cosine(), Cosine(rooted=True), InnerProduct(4.0), Softmax()])
def test_a_paradigm_takes_the_geometries_of_the_table(paradigm: type, geometry: Geometry):
    head = Head(torch.ones(2, 3), Softmax(), Identity())
    head = metric_head(geometry, torch.rand(3, 2) + 1) if geometry.has_prototypes else head
    if geometry.kind in PARADIGMS[paradigm.name].geometries:
        assert paradigm(head).size == 3
    else:
        with pytest.raises(UsageError, match="needs"):
            paradigm(head)


def test_assignment_needs_max_pooling():
    with pytest.raises(UsageError, match="needs max pooling"):
        Assignment(Head(torch.ones(2, 3), Softmax(), Identity(), pooling=FocalPooling("max_minus_mean")))
