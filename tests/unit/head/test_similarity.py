"""Every similarity of the table: its float64 formula is the exact one, and its JSON that of certificates/v1.md."""

from __future__ import annotations

from pathlib import Path

import flint
import pytest
import torch
from support.cases import every
from support.exact import PRECISION
from support.similarities import CASES, ROWS, Row, head_of, similarity

from verale.checker.read.head_file import HeadPart
from verale.checker.read.similarities import SIMILARITIES as KINDS
from verale.errors import HeadError
from verale.head import Geometry
from verale.head.fields import read_part, write_part
from verale.head.head import similarity as reference
from verale.head.similarity import SIMILARITIES, StudentT  # type: ignore[attr-defined]

every_similarity = every(("row", "geometry"), CASES)
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
