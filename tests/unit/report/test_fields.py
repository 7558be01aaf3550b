"""Patches and their cells; receptive fields are those of the network that a certificate names, and not as `source.json`
says."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.seen import explained_pictures
from support.small import small_head

from verale.adapters.fields import ReceptiveFields
from verale.checker.read.network_file import read_network
from verale.checker.receptive import receptive_fields
from verale.head import BankPooling
from verale.report.collect import Collection, collect
from verale.report.grid import Grid, NetworkBeside, grid_of_image
from verale.report.page import page
from verale.runs.source import Source

NOTED = {"size": [8, 8], "rows": [[0, 1]] * 4, "columns": [[0, 1]] * 4, "unknown": []}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `source.json` says that each patch depends on one pixel."""
    here = Path(shutil.copytree(explained_pictures(), tmp_path_factory.mktemp("fields") / "out"))
    noted = json.loads((here / "source.json").read_text())
    (here / "source.json").write_text(json.dumps(noted | {"receptive_fields": NOTED}))
    return here


def asked(collection: Collection) -> tuple[object, object]:
    (patches, network) = {(item.certificate.patches, item.certificate.network) for item in collection.items}.pop()
    grid = collection.grid_of(patches, network)
    return collection.fields_of(grid, network), collection.fields_of(grid, None)


def test_the_network_counts(folder):
    expected = receptive_fields(read_network((folder / "network.safetensors").read_bytes()))
    fields, noted = asked(collect(folder))
    assert (fields.rows, fields.columns, fields.size) == (expected.rows, expected.columns, expected.size)
    assert fields.by_checker and fields.unknown == ()
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
    head = replace(small_head("euclidean"), pooling=BankPooling(4))
    assert grid_of_image(6, None, None, (2, 3)) == grid_of_image(6, None, torch.zeros(1, 5, 2, 3)) == Grid(2, 3)
    assert [Grid(2, 3).cell(patch) for patch in (0, 2, 3, 5, 6)] == [(0, 0), (0, 2), (1, 0), (1, 2), None]
    assert grid_of_image(9, None, None) == Grid(3, 3, assumed=True)
    grid = grid_of_image(10, head, torch.zeros(1, 5, 2, 5))
    assert grid == Grid(3, 3, tokens=1, assumed=True)
    assert grid.cell(0) is None and grid.cell(1) == (0, 0)
    for patches, given, shape in ((8, None, None), (10**18, None, None), (200, None, (100, 2)), (0, head, None)):
        assert grid_of_image(patches, given, None, shape) is None


def test_receptive_fields_are_those_of_a_grid_of_their_shape(tmp_path):
    fields = ReceptiveFields(((0, 3), (1, 4)), ((0, 4),), (4, 4), ())
    collection = Collection(tmp_path, (), source=Source(fields=fields))
    assert collection.fields_of(Grid(2, 1), None) is fields
    for given, grid in ((collection, Grid(1, 2)), (collection, None), (Collection(tmp_path, ()), Grid(2, 1))):
        assert given.fields_of(grid, None) is None
