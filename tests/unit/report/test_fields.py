"""Patches and their cells; receptive fields are those of the network that a certificate names, and not as `source.json`
says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.seen import explain_pictures, write_pictures

from verale.adapters.fields import ReceptiveFields
from verale.checker.read.network_file import read_network
from verale.checker.receptive import receptive_fields
from verale.report.collect import Collection, collect
from verale.report.grid import Grid, NetworkBeside, fields_of_grid, grid_of, seen_alone
from verale.report.page import page

NOTED = {"size": [8, 8], "rows": [[0, 1]] * 4, "columns": [[0, 1]] * 4, "unknown": []}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `source.json` says that each patch depends on one pixel."""
    here = write_pictures(tmp_path_factory.mktemp("fields"))
    assert explain_pictures(here).returncode == 0
    path = here / "out" / "source.json"
    noted = json.loads(path.read_text())
    path.write_text(json.dumps(noted | {"receptive_fields": NOTED}))
    return here / "out"


def asked(collection: Collection) -> tuple[object, object]:
    (patches, network) = {(item.certificate.patches, item.certificate.network) for item in collection.items}.pop()
    grid = collection.grid_of(patches, network)
    return collection.fields_of(grid, network), collection.fields_of(grid, None)


def test_the_network_counts(folder):
    expected = receptive_fields(read_network((folder / "network.safetensors").read_bytes()))
    fields, noted = asked(collect(folder))
    assert (fields.rows, fields.columns, fields.size) == (expected.rows, expected.columns, expected.size)
    assert fields.by_checker and fields.unknown == ()
    rows, columns = expected.alone()
    assert seen_alone(fields) == (min(rows) * min(columns), max(rows) * max(columns))
    assert noted is None or not noted.by_checker
    text = page(collect(folder), "A report").decode()
    assert "which the checker computes from the network" in text and "as source.json says" not in text


def test_another_network_beside_does_not_count(folder, tmp_path, monkeypatch):
    other = replace(NetworkBeside.of(folder), sha256="0" * 64)
    monkeypatch.setattr(NetworkBeside, "of", classmethod(lambda cls, folder: other))
    fields, _ = asked(collect(folder))
    assert fields is None or not fields.by_checker
    assert "which the checker computes" not in page(collect(folder), "A report").decode()


def test_patches_lie_in_the_shape_of_the_latents_or_in_a_square_behind_the_class_token():
    """Nothing is drawn of more cells than anybody sees."""
    assert grid_of(6, shape=(2, 3)) == Grid(2, 3)
    assert [Grid(2, 3).cell(patch) for patch in (0, 2, 3, 5, 6)] == [(0, 0), (0, 2), (1, 0), (1, 2), None]
    assert (grid_of(9), grid_of(8)) == (Grid(3, 3, assumed=True), None)
    grid = grid_of(10, tokens=1)
    assert grid == Grid(3, 3, tokens=1, assumed=True)
    assert grid.cell(0) is None and grid.cell(1) == (0, 0)
    assert grid_of(10**18) is grid_of(100 * 2, shape=(100, 2)) is grid_of(0, tokens=1) is None


def test_receptive_fields_are_those_of_a_grid_of_their_shape():
    fields = ReceptiveFields(((0, 3), (1, 4)), ((0, 4),), (4, 4), ())
    assert fields_of_grid(fields, Grid(2, 1)) is fields
    for given, grid in ((fields, Grid(1, 2)), (fields, None), (None, Grid(2, 1))):
        assert fields_of_grid(given, grid) is None
