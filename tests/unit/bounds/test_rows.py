"""Rows: copies of some, rows replaced in place, and paradigms refused for geometries they are not defined for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import torch
from support.cases import every
from support.small import metric_head
from torch import Tensor

from verale.bounds import Assignment, Hypersphere, Projection, Simplex, Triangle, put, take
from verale.errors import UsageError
from verale.head import Cosine, Euclidean, FocalPooling, Geometry, Head, Identity, InnerProduct, Softmax
from verale.paradigms import PARADIGMS


@dataclass(frozen=True)
class Two:
    """Two tensors of R rows, the second with a dimension that may grow."""

    value: Tensor
    list: Tensor


def rows(count: int, width: int, start: int) -> Two:
    values = torch.arange(start, start + count)
    return Two(values, values[:, None] * torch.ones(width, dtype=torch.int64))


def test_taken_rows_are_copies():
    before = rows(4, 2, 0)
    taken = take(before, torch.tensor([3, 1]))
    assert taken.value.tolist() == [3, 1] and taken.list.tolist() == [[3, 3], [1, 1]]
    taken.value[0] = 9
    assert before.value.tolist() == [0, 1, 2, 3]


def test_rows_are_overwritten_and_the_shorter_ones_padded_with_zeros():
    after = put(rows(3, 2, 0), torch.tensor([2, 0]), rows(2, 3, 10))
    assert after.value.tolist() == [11, 1, 10]
    assert after.list.tolist() == [[11, 11, 11], [1, 1, 0], [10, 10, 10]]
    after = put(after, torch.tensor([1]), rows(1, 1, 7))
    assert after.list.tolist() == [[11, 11, 11], [7, 0, 0], [10, 10, 10]]


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


def test_paradigms_refuse_geometries_they_are_not_defined_for():
    softmax = Head(torch.ones(2, 3), Softmax(), Identity())
    with pytest.raises(UsageError, match="simplex"):
        Projection(softmax)
    with pytest.raises(UsageError, match="projection"):
        Simplex(metric_head(Euclidean(), torch.rand(3, 2)))
    with pytest.raises(UsageError, match="hypersphere"):
        Hypersphere(softmax)
    with pytest.raises(UsageError, match="assignment"):
        Assignment(metric_head(Euclidean(), torch.rand(3, 2)))
    with pytest.raises(UsageError, match="needs max pooling"):
        Assignment(replace(softmax, pooling=FocalPooling("max_minus_mean")))
