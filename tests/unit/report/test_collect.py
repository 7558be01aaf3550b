"""What there is to report, and what belongs to it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from support.reporting import folder_of, report_head, report_latents
from support.seen import explained_pictures
from support.small import small_head

from verale.adapters.fields import ReceptiveFields
from verale.certificate.words import below
from verale.checker.read.network_file import read_network
from verale.checker.receptive import receptive_fields
from verale.errors import InputError
from verale.head import BankPooling, save_latents
from verale.report.collect import NOT_AUDITED, UNEXPLAINED, Collection, collect
from verale.report.grid import Grid, NetworkBeside, grid_of_image
from verale.report.images import BY_ORDER, Match
from verale.report.page import page
from verale.report.table import encode, frame
from verale.report.verdicts import audited
from verale.runs.source import Source


@pytest.fixture
def folder(tmp_path):
    return folder_of(tmp_path / "out")


def test_a_folder_of_explain(folder):
    collection = collect(folder)
    assert [item.index for item in collection.items] == [0, 1, 2, 3]
    assert [item.file.name for item in collection.items] == ["0.png", "1.png", "2.png", "3.png"]
    assert [item.label for item in collection.items] == [0, 1, 2, 0]
    assert [item.seconds for item in collection.items] == [0.125, 0.225, 0.325, 0.425]
    assert {item.status for item in collection.items} == {NOT_AUDITED}
    assert collection.classes == ("ant", "bee", "cat")
    assert collection.name_of(1) == "bee" and collection.name_of(9) == "9"
    assert collection.items[0].correct is (collection.items[0].predicted == 0)
    assert collection.source.origins[0].column == 2
    (item,) = collect(folder / "000002.ale.json").items
    assert (item.index, item.file.name, item.seconds) == (2, "2.png", 0.325), "of one certificate, what is beside it"


def test_images_go_by_the_digest_of_their_latents_not_by_the_name_of_the_file(folder):
    (folder / "000003.ale.json").rename(folder / "000000x.ale.json")
    assert [(item.path.name, item.index) for item in collect(folder).items][-1] == ("000000x.ale.json", 3)
    save_latents(folder / "latents.safetensors", report_latents(report_head()) * 0.5)
    collection = collect(folder)
    assert [item.index for item in collection.items] == [None] * 4, "none of these latents is a certificate's"
    assert [item.file for item in collection.items] == [None] * 4


def table_of(folder, change):
    """The lines of the table, changed."""
    lines = (folder / "explanations.csv").read_text().splitlines()
    (folder / "explanations.csv").write_text("\n".join(change(lines)) + "\n")


def test_without_latents_the_name_of_the_file_counts(folder):
    (folder / "latents.safetensors").unlink()
    (folder / "000003.ale.json").rename(folder / "last.ale.json")
    assert [item.index for item in collect(folder).items] == [0, 1, 2, None]


def test_images_without_a_certificate_that_can_be_read_are_told(folder):
    """They stop nothing."""
    (folder / "000001.ale.json").unlink()
    table_of(folder, lambda lines: [*lines[:2], "1,2,,0.5,,a tie", *lines[3:]])
    record = json.loads((folder / "000002.ale.json").read_text())
    record["predicate"]["predicted"] = "1"
    (folder / "000002.ale.json").write_text(json.dumps(record))
    (folder / "000003.ale.json").write_text("{")
    first, second, *rest = collect(folder).items
    known = second.status, second.problem, second.predicted, second.file.name
    assert known == (UNEXPLAINED, "a tie", 2, "1.png") and first.size > 0
    assert [item.certificate for item in rest] == [None, None]
    assert "predicted" in rest[0].problem and "JSON" in rest[1].problem


def test_a_whole_line_of_the_table_counts_for_its_own_bytes(folder):
    digest = collect(folder).items[0].sha256
    text = (folder / "explanations.csv").read_text()
    (folder / "explanations.csv").write_text(text[:-5])
    assert [item.seconds for item in collect(folder).items] == [0.125, 0.225, 0.325, None], "the run is unfinished"
    (folder / "explanations.csv").write_text(text)
    digests = ["SHA-256", digest, *["0" * 64] * 3]
    table_of(folder, lambda lines: [f"{line},{more}" for line, more in zip(lines, digests, strict=True)])
    assert [item.seconds for item in collect(folder).items] == [0.125, None, None, None]


def labelled(folder, label):
    """A true class in the table."""
    table_of(folder, lambda lines: [f"{lines[0]},True Label", *(f"{line},{label}" for line in lines[1:])])


def test_labels_come_from_the_table_where_the_images_have_none(folder):
    (folder / "source.json").unlink()
    labelled(folder, 2)
    assert [item.label for item in collect(folder).items] == [2] * 4


def test_images_may_have_moved(folder):
    (folder / "images").rename(folder / "elsewhere")
    collection = collect(folder, images=folder / "elsewhere")
    assert [item.file.exists() for item in collection.items] == [True] * 4
    (folder / "source.json").unlink()
    collection = collect(folder, images=folder / "elsewhere")
    assert [(item.file.name, item.label) for item in collection.items] == [(f"{n}.png", None) for n in range(4)]
    with pytest.raises(InputError, match="no such folder"):
        collect(folder, images=folder / "nowhere")


def noted(folder, **changes):
    path = folder / "source.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda f: [p.unlink() for p in [*f.glob("*.ale.json"), f / "explanations.csv"]], r"holds no \*.ale.json"),
        (lambda f: (f / "source.json").write_text("{}"), "source.json: is not what verale explain writes"),
        (lambda f: (f / "source.json").write_text("[" * 100_000), "source.json: is not what verale explain writes"),
        (lambda f: (f / "head.safetensors").write_text("{}"), "head.safetensors"),
        (lambda f: (f / "latents.safetensors").write_text("{}"), "latents.safetensors"),
        (lambda f: (f / "explanations.csv").write_text("a,b\n1,2\n"), "explanations.csv: line 1: has no column"),
        (lambda f: save_latents(f / "latents.safetensors", report_latents(report_head(), 3)),
         "has 4 images, .*latents.safetensors has the latents of 3"),
        (lambda f: [(f / "latents.safetensors").unlink(), noted(f, images=[{"file": "0.png", "label": 0}])],
         "has 1 images, 4 were explained: give the images"),
        (lambda f: noted(f, latents_digest="0" * 64), "source.json: notes other latents than"),
        (lambda f: labelled(f, 2), r"class 0 in source.json, but 2 in explanations.csv \(000000.ale.json\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(folder, spoil, reason):
    spoil(folder)
    with pytest.raises(InputError, match=reason):
        collect(folder)


def test_a_certificate_that_changes_meanwhile_is_the_one_that_was_read(folder):
    """What is audited and shown is what was read, once."""
    collection = collect(folder)
    item = collection.items[0]
    data, certificate = item.data, item.certificate
    assert data == item.path.read_bytes() and len(certificate.statements) == item.size
    item.path.write_bytes(b"{")
    assert (item.data, item.certificate) == (data, certificate)
    (record,) = [each.record for each in audited(replace(collection, items=(item,))).items]
    assert record["status"] == "PROVED" and record["sha256"] == item.sha256 == hashlib.sha256(data).hexdigest()


NOTED = {"size": [8, 8], "rows": [[0, 1]] * 4, "columns": [[0, 1]] * 4, "unknown": []}


@pytest.fixture(scope="module")
def noted_fields(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `source.json` says that each patch depends on one pixel."""
    here = Path(shutil.copytree(explained_pictures(), tmp_path_factory.mktemp("fields") / "out"))
    noted = json.loads((here / "source.json").read_text())
    (here / "source.json").write_text(json.dumps(noted | {"receptive_fields": NOTED}))
    return here


def asked(collection: Collection) -> tuple[object, object]:
    (patches, network) = {(item.certificate.patches, item.certificate.network) for item in collection.items}.pop()
    grid = collection.grid_of(patches, network)
    return collection.fields_of(grid, network), collection.fields_of(grid, None)


def test_the_network_counts(noted_fields):
    expected = receptive_fields(read_network((noted_fields / "network.safetensors").read_bytes()))
    fields, noted = asked(collect(noted_fields))
    assert (fields.rows, fields.columns, fields.size) == (expected.rows, expected.columns, expected.size)
    assert fields.by_checker and fields.unknown == ()
    assert noted is None or not noted.by_checker
    text = page(collect(noted_fields), "A report").decode()
    assert "which the checker computes from the network" in text and "as source.json says" not in text


def test_another_network_beside_does_not_count(noted_fields, tmp_path, monkeypatch):
    other = replace(NetworkBeside.of(noted_fields), sha256="0" * 64)
    monkeypatch.setattr(NetworkBeside, "of", classmethod(lambda cls, folder: other))
    fields, _ = asked(collect(noted_fields))
    assert fields is None or not fields.by_checker
    assert "which the checker computes" not in page(collect(noted_fields), "A report").decode()


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


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = folder_of(tmp_path_factory.mktemp("table") / "out", names=[f"{n}-\udcff.png" for n in range(4)])
    (folder / "000003.ale.json").write_text("{")
    (folder / "000002.ale.json").unlink()
    text = (folder / "explanations.csv").read_text().replace("000002.ale.json,", ",a tie")
    (folder / "explanations.csv").write_text(text)
    return audited(collect(folder))


def test_one_row_an_image(collection):
    table = frame(collection)
    assert list(table["status"]) == ["PROVED", "PROVED", "UNEXPLAINED", "MALFORMED"]
    assert list(table["class"][:2]) == [collection.name_of(item.predicted) for item in collection.items[:2]]
    assert list(table["statements"][:2]) == [item.size for item in collection.items[:2]]
    assert table["margin"][0] == float(below(collection.items[0].margin))
    assert table["statements"].isna().tolist() == [False, False, True, True]
    assert table["message"][2] == "a tie" and table["minimality"][0] == "not checked"
    head, item = collection.head, collection.items[0]
    assert table["prototypes"][0] == head.size and table["pairs"][0] == head.size * item.certificate.patches
    assert table["bounded_pairs"][0] == item.size, "each statement is about a pair"
    assert 0 < table["bounded_prototypes"][0] <= head.size
    assert table["pairs"].isna().tolist() == [False, False, True, True]
    assert table["image"][0].endswith(r"0-\udcff.png"), "bytes that are no UTF-8 are escaped"


def test_texts_in_csv_are_no_formulas(collection):
    hostile = [replace(item, image=Match(Path("=1"), None, None, BY_ORDER), problem="-1") for item in collection.items]
    encoded = encode(
        replace(collection, items=tuple(hostile), head=None, source=Source(classes=("@a", "+1", "=x"))), "csv"
    )
    for row in csv.DictReader(io.StringIO(encoded.decode())):
        assert row["image"] == "'=1"
        assert row["message"] in ("every claim that was checked is proved", "'-1") or row["status"] == "MALFORMED"
        assert row["class"] in ("'@a", "'+1", "'=x", "")
        assert row["margin"] == "" or float(row["margin"]) > 0


def test_files_hold_the_table(collection):
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(encode(collection, "parquet"))), frame(collection))
    rows = list(csv.DictReader(io.StringIO(encode(collection, "csv").decode())))
    for row, (_, expected) in zip(rows, frame(collection).iterrows(), strict=True):
        for name, value in expected.items():
            if pd.isna(value):
                assert row[name] == ""
            else:
                assert (float(row[name]) if isinstance(value, float) else row[name]) == (
                    value if isinstance(value, float) else str(value)
                )
