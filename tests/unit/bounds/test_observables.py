"""Observables: enclosed sharply, and latents outside the domain refused. Containment is the contract suite's."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import flint
import pytest
import torch
from support.cases import every
from support.exact import PRECISION, inside, observable
from support.named import head_named
from support.small import metric_head, small_head, varied_head

from verale.bounds import Assignment, Hypersphere, Projection, Simplex, Triangle, observe
from verale.bounds.observables import _OBSERVE, _products, _squares, cut, norm, scaled, stated_pairs
from verale.errors import LatentsError, UsageError
from verale.head import Box, Cosine, Euclidean, FocalPooling, Geometry, Head, Identity, InnerProduct, LogRatio, Softmax
from verale.head.geometry import GEOMETRIES
from verale.paradigms import PARADIGMS
from verale.rounding import Enclosure

POINTS = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))


def test_every_geometry_is_observed():
    assert set(_OBSERVE) == {kind.part for kind in GEOMETRIES.values()}


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(1e-8), Cosine(1e-4, rooted=True), InnerProduct(4.0)])
def test_enclosures_are_sharp(geometry: Geometry):
    head = metric_head(geometry, POINTS)
    latents = torch.rand(5, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    bounds = observe(head, latents)
    assert float((bounds.upper - bounds.lower).max()) < 1e-13
    with flint.ctx.workprec(PRECISION):
        for z, lowers, uppers in zip(latents.tolist(), bounds.lower.tolist(), bounds.upper.tolist(), strict=True):
            assert all(inside(observable(head, z, j), lowers[j], uppers[j]) for j in range(6))


@pytest.mark.parametrize("name", ["euclidean", "cosine", "rooted", "inner product", "softmax"])
def test_no_bit_depends_on_other_patches_on_threads_or_on_the_size_of_parts(name, monkeypatch):
    """Nor on the order in which a library of matrix products adds."""
    head = head_named(name)
    latents = torch.rand(37, head.depth, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    together = observe(head, latents)
    monkeypatch.setattr(torch, "matmul", None)
    monkeypatch.setattr(torch.Tensor, "__matmul__", None)
    monkeypatch.setattr(import_module("verale.bounds.observables"), "_IN_CACHE", 1)
    for first, last in ((0, 1), (1, 4), (4, 37)):
        apart = observe(head, latents[first:last])
        assert torch.equal(apart.lower, together.lower[first:last])
        assert torch.equal(apart.upper, together.upper[first:last])


def test_sums_are_taken_one_coordinate_after_the_other():
    """So they are those of Python's floats, to the last bit, on every processor."""
    z, p = (
        torch.randn(count, 9, generator=torch.Generator().manual_seed(count), dtype=torch.float64) for count in (3, 5)
    )
    squares, (products, sizes) = _squares(z, p), _products(z, p)
    for row, one in enumerate(z.tolist()):
        for column, other in enumerate(p.tolist()):
            terms = [a * b for a, b in zip(one, other, strict=True)]
            square = product = size = 0.0
            for a, b, term in zip(one, other, terms, strict=True):
                square, product, size = square + (a - b) * (a - b), product + term, size + abs(term)
            assert [float(each[row, column]) for each in (squares, products, sizes)] == [square, product, size]


def test_a_norm_holds_the_length_even_where_squares_underflow():
    vectors = torch.tensor([[3e-170, 4e-170], [3.0, 4.0]], dtype=torch.float64)
    length = norm(vectors)
    assert (length.lower <= vectors.new_tensor([5e-170, 5.0])).all() and float(length.upper[0]) >= 5e-170
    assert float(norm(scaled(vectors)).upper[0]) == pytest.approx(1.25)


def test_too_few_patches_are_refused():
    head = varied_head("banks")
    with pytest.raises(LatentsError, match=r"1 patch\(es\), expected at least 2"):
        observe(head, torch.ones(1, head.depth, dtype=torch.float64))


def test_a_latent_outside_the_ball_is_refused():
    head = replace(varied_head("inner product in a ball"), domain=Box())
    with pytest.raises(LatentsError, match=r"expected at most the radius 4\.0"):
        observe(head, torch.full((1, head.depth), 2.0, dtype=torch.float64))


def test_a_zero_latent_is_refused_only_without_an_epsilon():
    nothing = torch.zeros(1, 6, dtype=torch.float64)
    bounds = observe(small_head("cosine"), nothing)
    assert (bounds.lower <= 0).all() and (bounds.upper >= 0).all() and float(bounds.upper.max()) < 1e-300
    with pytest.raises(LatentsError, match="zero vector"):
        observe(replace(small_head("cosine"), geometry=Cosine(0.0)), nothing)


@pytest.mark.parametrize(
    ("head", "latents", "reason"),
    [
        (Head(torch.ones(2, 6), Euclidean(), LogRatio(), prototypes=POINTS, domain=Box(0, 1)), [[0.5, 1.5, 0]], "1.5"),
        (
            Head(torch.ones(2, 6), Euclidean(), LogRatio(), prototypes=POINTS, domain=Box(0, 1)),
            [[0.5, -0.1, 0]],
            "-0.1",
        ),
        (Head(torch.ones(2, 6), Cosine(0.0), Identity(), prototypes=POINTS), [[0.0, 0, 0]], "zero vector"),
        (Head(torch.ones(2, 6), Euclidean(), LogRatio(), prototypes=POINTS), [[0.0, 0]], "2 channels"),
    ],
)
def test_latents_outside_the_domain_are_refused(head, latents, reason):
    with pytest.raises(LatentsError, match=reason):
        observe(head, torch.tensor(latents, dtype=torch.float64))


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
