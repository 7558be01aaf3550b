"""The table: what is in it, whatever its file."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from support.reporting import folder_of

from verale.certificate.words import below
from verale.report.collect import collect
from verale.report.images import BY_ORDER, Match
from verale.report.table import encode, frame
from verale.report.verdicts import audited
from verale.runs.source import Source


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


def test_parquet_holds_the_table(collection):
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(encode(collection, "parquet"))), frame(collection))


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


def test_csv_holds_the_table(collection):
    rows = list(csv.DictReader(io.StringIO(encode(collection, "csv").decode())))
    for row, (_, expected) in zip(rows, frame(collection).iterrows(), strict=True):
        for name, value in expected.items():
            if pd.isna(value):
                assert row[name] == ""
            else:
                assert (float(row[name]) if isinstance(value, float) else row[name]) == (
                    value if isinstance(value, float) else str(value)
                )
