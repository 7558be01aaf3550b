"""Geometries: the observable is the formula, and the domain is what they say."""

from __future__ import annotations

import flint
import pytest
import torch
from support.exact import PRECISION, observable
from support.small import metric_head

from verale.head import Box, Cosine, Euclidean, Geometry, Head, Identity, InnerProduct, Softmax, observables
from verale.head.fields import write_fields
from verale.head.geometry import GEOMETRIES
from verale.paradigms import PARADIGMS

EVERY = [Euclidean(), Cosine(), Cosine(1e-4), Cosine(1e-4, rooted=True), InnerProduct(4.0), Softmax()]


def test_every_geometry_is_tested_and_has_a_paradigm():
    assert {geometry.kind for geometry in EVERY} == set(GEOMETRIES)
    assert {name for paradigm in PARADIGMS.values() for name in paradigm.geometries} == set(GEOMETRIES)


@pytest.mark.parametrize("geometry", EVERY, ids=str)
def test_the_observable_is_the_formula(geometry: Geometry):
    generator = torch.Generator().manual_seed(1)
    points = torch.rand(3, 4, generator=generator) - 0.3
    head = metric_head(geometry, points) if geometry.has_prototypes else Head(torch.ones(2, 4), geometry, Identity())
    patches = torch.rand(2, 5, 4, generator=generator, dtype=torch.float64)
    values = observables(head, patches)
    with flint.ctx.workprec(PRECISION):
        for image, row in zip(patches.tolist(), values.tolist(), strict=True):
            for z, numbers in zip(image, row, strict=True):
                truth = [float(observable(head, z, j)) for j in range(head.size)]
                assert numbers == pytest.approx(truth, rel=1e-13, abs=1e-15)
    nothing = observables(head, torch.zeros(1, 1, 4, dtype=torch.float64))
    assert bool(nothing.isnan().any()) == geometry.undefined_at_zero


@pytest.mark.parametrize("geometry", EVERY, ids=str)
def test_whether_a_small_observable_means_similar(geometry: Geometry):
    """A prototype's own latent is the most similar one."""
    points = torch.eye(4)
    head = metric_head(geometry, points) if geometry.has_prototypes else Head(torch.ones(2, 4), geometry, Identity())
    values = observables(head, points.double()[None])[0]
    own = values.amin(0) if geometry.is_distance else values.amax(0)
    assert torch.equal(values.diagonal(), own) and not torch.equal(values[0], own)


@pytest.mark.parametrize("box", [Box(), Box(0, None), Box(None, 1), Box(-1, 1)], ids=str)
def test_a_domain_is_spelled_by_its_ends(box: Box):
    spelled = [None if end is None else float(end).hex() for end in (box.lower, box.upper)]
    assert list(write_fields(box).values()) == spelled
    assert InnerProduct(3.0).radius == 3.0 and Euclidean().radius is Cosine().radius is Softmax().radius is None


@pytest.mark.parametrize("geometry", [Cosine(), Cosine(1e-4), Cosine(1e-4, rooted=True)], ids=str)
@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-160, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("length", [1e-310, 1e-160, 1.0, 1e160, 1e300])
def test_cosines_are_those_of_vectors_of_any_size(geometry: Geometry, size: float, length: float):
    """Those of the stored numbers, which beside 0 have fewer digits: in exact arithmetic, of what is given."""
    points = torch.tensor([[3.0, -1.0], [1.0, 2.0], [0.0, 1.0]], dtype=torch.float64) * size
    patches = torch.tensor([[[0.25, 1.0], [1.0, -0.5]]], dtype=torch.float64) * length
    head = Head(torch.eye(3, dtype=torch.float64), geometry, Identity(), points)
    values, logits = observables(head, patches), head.logits(patches)
    with flint.ctx.workprec(4 * 1100):
        for patch in range(2):
            truth = [float(observable(head, patches[0, patch].tolist(), j)) for j in range(3)]
            allowed = 1e-13 * max(map(abs, truth)) + 1e-320
            assert values[0, patch].tolist() == pytest.approx(truth, rel=0, abs=allowed)
    assert torch.equal(logits, values.amax(1))
