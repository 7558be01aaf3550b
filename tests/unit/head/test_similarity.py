"""Geometries: the observable is the formula, and the domain is what they say."""

from __future__ import annotations

from pathlib import Path

import flint
import pytest
import torch
from support.exact import PRECISION, observable
from support.similarities import CASES, NAMES, ROWS, Row, head_of, similarity
from support.small import metric_head

from verale.checker.read.head_file import HeadPart
from verale.checker.read.similarities import SIMILARITIES as KINDS
from verale.errors import HeadError
from verale.head import Box, Cosine, Euclidean, Geometry, Head, Identity, InnerProduct, Softmax, observables
from verale.head.fields import read_part, write_fields, write_part
from verale.head.geometry import GEOMETRIES
from verale.head.head import similarity as reference
from verale.head.similarity import SIMILARITIES, StudentT  # type: ignore[attr-defined]
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


# Every similarity of the table: its float64 formula is the exact one, and its JSON that of certificates/v1.md.


every_similarity = pytest.mark.parametrize(("row", "geometry"), CASES, ids=NAMES)
V1 = (Path(__file__).parents[3] / "certificates" / "v1.md").read_text()


@every_similarity
def test_the_reference_is_the_formula(row: Row, geometry: Geometry):
    head = head_of(row, geometry)
    low, high = (0.0, 8.0) if geometry.is_distance else (-1.0, 1.0) if geometry.has_prototypes else (0.0, 1.0)
    values = torch.linspace(low, high, 40, dtype=torch.float64)[:, None].expand(-1, head.size)
    computed = reference(head, values)
    with flint.ctx.workprec(PRECISION):
        for m, numbers in zip(values.tolist(), computed.tolist(), strict=True):
            truth = [float(similarity(head, flint.arb(x), j).mid()) for j, x in enumerate(m)]
            assert numbers == pytest.approx(truth, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.json["kind"])
def test_the_json_is_the_table_s(row: Row):
    assert write_part(row.similarity, SIMILARITIES) == row.json
    fields = {name: value for name, value in row.json.items() if name != "kind"}
    numbers = {name: read(fields[name], name) for name, read in KINDS[row.json["kind"]].readers.items()}
    assert read_part("similarity", HeadPart(row.json["kind"], numbers), SIMILARITIES) == row.similarity
    assert f"`{row.json['kind']}`" in V1


def test_the_tables_agree_on_the_geometries():
    tested = {(type(row.similarity), type(geometry)) for row, geometry in CASES}
    assert tested == {(kind.part, geometry) for kind in SIMILARITIES.values() for geometry in kind.part.geometries}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), "1", None])
def test_a_number_of_a_named_chain_that_is_not_finite_is_refused_by_name(number):
    with pytest.raises(HeadError, match=r"similarity\.nu.*expected a finite number"):
        StudentT(number)
