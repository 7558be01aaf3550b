"""`explanations.csv`: the papers' columns first, read back as written, and and other files refused."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import asdict, fields

import pandas as pd
import pytest
from support.cases import every

import verale
from verale.errors import InputError, UsageError
from verale.runs.table import COLUMNS, Explained, csv_lines, read_table, reasons

PAPERS = (
    "Idx,True Label,Pred Label,Correct,Exp Size,Conf Score,Conf Softmax,2nd Conf Score,2nd Conf Softmax,"
    "Diff Conf Score,Diff Conf Softmax,Next Label,Runtime (s)"
)
"""The first line of run_formal_exp.py's tables."""

ROWS = [
    Explained(
        *(0, 2, 0.25, 2, True, 17, -1.5, 0.9, 0, -3.25, 0.1, 1.75, 0.8, 2.5e-6, 0.00202327),
        *("projection", "top_k 20; joint given up", "000000.ale.json", "ab" * 32),
        *(None, 12, 20, 17, 980),
    ),
    Explained(1, 0, 0.25, 2, False, reason='a tie, or "too close"'),
    Explained(2, 1),
]


def test_the_papers_columns_come_first() -> None:
    assert ",".join(COLUMNS[:13]) == PAPERS


def test_what_is_written_is_read(tmp_path) -> None:
    (tmp_path / "t.csv").write_text(csv_lines(ROWS, heading=True))
    assert read_table(tmp_path / "t.csv") == ROWS
    assert csv_lines(ROWS[:1]).startswith("0,2,2,True,17,-1.5,0.9,")


FORMULAS = ("=1+1", "+1", "-1", "-0.5", "@SUM(A1)", "\tx", "\rx", "\nx", "\uff1d1", "'=1", "''=1", "'-")
TEXTS = ("'", "'x'", "a=1", "a\nb", "a\rb", "a\r\nb", " =1")


@every("text", FORMULAS + TEXTS)
def test_texts_that_look_like_formulas_are_made_safe_and_read_back(text, tmp_path) -> None:
    rows = [Explained(0, 1, paradigm=text, others=text, certificate=text, sha256=text, reason=text, score=-0.5)]
    lines = csv_lines(rows, heading=True)
    (tmp_path / "t.csv").write_text(lines, newline="")
    assert read_table(tmp_path / "t.csv") == rows
    cells = next(csv.DictReader(io.StringIO(lines, newline="")))
    assert cells["Conf Score"] == "-0.5"
    for column in ("Paradigm", "Others", "Certificate", "SHA-256", "Reason"):
        assert cells[column] == (f"'{text}" if text in FORMULAS else text)


def test_the_papers_tables_and_those_of_spreadsheets_are_read(tmp_path) -> None:
    """What they do not have is not known; a spreadsheet adds a byte order mark and carriage returns."""
    line = "7,3,4,False,120,1.0,0.5,0.5,0.25,0.5,0.25,3,0.1234"
    (tmp_path / "t.csv").write_bytes(f"\ufeff{PAPERS}\r\n{line}\r\n".encode())
    (row,) = read_table(tmp_path / "t.csv")
    assert (row.index, row.label, row.predicted, row.correct, row.size, row.seconds) == (7, 3, 4, False, 120, 0.1234)
    assert row.relative_size is row.certificate is None


def test_a_line_that_was_cut_short_is_left_out_where_that_is_asked_for(tmp_path) -> None:
    whole = csv_lines(ROWS, heading=True)
    for cut in range(len(csv_lines([], heading=True)), len(whole)):
        (tmp_path / "t.csv").write_text(whole[:cut])
        assert read_table(tmp_path / "t.csv", whole=False) == ROWS[: whole[:cut].count("\n") - 1]
    (tmp_path / "t.csv").write_text("")
    assert read_table(tmp_path / "t.csv", whole=False) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: has no column 'Idx'"),
        (PAPERS.replace(",", ";"), "line 1: has no column 'Idx'.*separated by commas"),
        ("Idx,Pred Label,Runtime (s)\n0,0,1\n", "line 1: has no column 'Exp Size'"),
        ("Idx,Pred Label,Exp Size,Runtime (s)\n0,0,5,1\n1,0\n", "line 3: has a different number of columns"),
        ("Idx,Pred Label,Exp Size,Runtime (s)\n0,0,5,1,2\n", "line 2: has a different number of columns"),
        ("Idx,Pred Label,Exp Size,Runtime (s)\n,0,5,1\n", "line 2: column 'Idx' is '', expected a whole number"),
        ("Idx,Pred Label,Exp Size,Runtime (s)\n0,0,-5,1\n", "line 2: column 'Exp Size' is '-5', expected a whole"),
        (
            "Idx,Pred Label,Exp Size,Runtime (s)\n0,0,5,nan\n",
            r"line 2: column 'Runtime \(s\)' is 'nan', expected a fin",
        ),
        (
            "Idx,Pred Label,Exp Size,Runtime (s),Correct\n0,0,5,1,yes\n",
            "line 2: column 'Correct' is 'yes', expected True or",
        ),
        ('Idx,Pred Label,Exp Size,Runtime (s)\n0,0,5,"' + "x" * 200000 + '"\n', "line 2: cannot be read"),
    ],
)
def test_what_is_wrong_is_named(text, reason, tmp_path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=rf"t\.csv: {reason}") as raised:
        read_table(tmp_path / "t.csv")
    assert "\n" not in str(raised.value)


def test_the_most_frequent_reasons_are_named() -> None:
    assert reasons(ROWS[:1], "t.csv") == []
    rows = [Explained(index, 0, reason=f"reason {min(index, 4)}") for index in range(20)]
    assert reasons([*ROWS[:1], *rows], "t.csv") == [
        "without one: 4, 5, 6, 7, 8, 9, 10, 11 and 8 more: reason 4",
        "without one: 0: reason 0",
        "without one: 1: reason 1",
        "all reasons are in t.csv",
    ]


def test_a_run_is_a_frame_with_the_names_of_its_rows(tmp_path) -> None:
    (tmp_path / "explanations.csv").write_text(csv_lines(reversed(ROWS), heading=True))
    for given in (tmp_path, str(tmp_path / "explanations.csv")):
        table = verale.frame(given)
        assert list(table.columns) == [each.name for each in fields(Explained)]
        assert list(table["index"]) == sorted(row.index for row in ROWS)
        for index, row in enumerate(sorted(ROWS, key=lambda row: row.index)):
            values = {name: None if pd.isna(value) else value for name, value in table.iloc[index].items()}
            assert values == asdict(row)
    assert str(table["label"].dtype) == "Int64" and str(table["correct"].dtype) == "boolean"


def test_what_no_frame_can_be_made_of_is_named(tmp_path, monkeypatch) -> None:
    with pytest.raises(InputError, match=r"holds no explanations\.csv; expected a folder that verale explain wrote"):
        verale.frame(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"pandas is not installed, .*pip install 'verale\[report\]'"):
        verale.frame(tmp_path)
