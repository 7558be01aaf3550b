"""What has been explained, summed up: the numbers are those of the papers' summarize_results.py, and by class and by
prototype those of the certificates."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections import Counter
from dataclasses import asdict, fields, replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from support.cases import every
from support.small import small_head, small_latents

import verale
from verale.certificate import Certificate
from verale.cli.summary import command
from verale.cli.tables import in_latex, in_markdown, markdown_lines
from verale.errors import InputError, UsageError
from verale.runs.explain import open_run
from verale.runs.summary import Spread, by_class, by_prototype, summarize
from verale.runs.table import COLUMNS, Explained, csv_lines, read_table, reasons
from verale.search import SearchOptions

REACH = {"bounded_prototypes": 4, "prototypes": 5, "bounded_pairs": 10, "pairs": 100}
ROWS = [
    Explained(0, 1, 0.5, 1, True, 10, relative_size=0.1, paradigm="projection", **REACH),
    Explained(1, 1, 1.5, 1, True, 14, relative_size=0.14, paradigm="projection"),
    Explained(2, 0, 2.5, 1, False, 30, relative_size=0.3, paradigm="projection"),
    Explained(3, 0, 9.5, 1, False, reason="a tie"),
]


def table(folder: Path, rows: list[Explained]) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "explanations.csv").write_text(csv_lines(rows, heading=True))
    return str(folder)


def printed(*arguments: object) -> str:
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_correct_and_incorrect_predictions_are_apart(tmp_path) -> None:
    every, right, wrong = summarize(table(tmp_path, ROWS))
    assert [one.predictions for one in (every, right, wrong)] == ["all", "correct", "incorrect"]
    assert [(one.images, one.without) for one in (every, right, wrong)] == [(3, 1), (2, 0), (1, 1)]
    assert every.size.mean == 18 and every.size.deviation == pytest.approx(112**0.5)
    assert right.size == Spread(12, pytest.approx(8**0.5))
    assert right.relative_size.mean == pytest.approx(12) and right.seconds == Spread(1.0, pytest.approx(0.5**0.5))
    assert wrong.size == Spread(30, None), "one number has no deviation"


def test_the_papers_tables_are_named_after_their_paradigm(tmp_path) -> None:
    path = tmp_path / "cosine_explanations.csv"
    path.write_text("Idx,True Label,Pred Label,Correct,Exp Size,Runtime (s)\n0,1,1,True,8,0.5\n1,1,0,False,6,1.5\n")
    every, right, _ = summarize(str(path))
    assert (every.paradigm, every.size.mean, every.seconds.mean, right.size.mean) == ("cosine", 7, 1.0, 8)


def test_every_format_says_the_same(tmp_path) -> None:
    first, second = table(tmp_path / "a|b", ROWS), table(tmp_path / "c", ROWS[:1])
    text = printed(first, second).splitlines()
    assert text[0].split() == ["folder", "paradigm", "predictions", "images", "size", "%", "of", "all", "prototypes",
                               "pairs", "seconds", "without", "right"]  # fmt: skip
    assert text[1].split()[1:] == ["projection", "all", "3", "18.0", "±", "10.6", "18.00", "±", "10.58", "4.0", "of",
                                   "5", "10.0", "of", "100", "1.500", "±", "1.000", "1", "2", "of", "4", "(50.0",
                                   "%)"]  # fmt: skip
    assert len(text) == 7 and len({len(line) for line in text[1:]}) == 1, "columns are aligned"
    markdown = printed(first, "--format", "markdown").splitlines()
    assert markdown[1].startswith("| --- |") and "a\\|b | projection | all | 3 | 18.0 ± 10.6 |" in markdown[2]
    records = [json.loads(line) for line in printed(first, "--json").splitlines()]
    assert records[0]["size"] == {"mean": 18, "deviation": pytest.approx(112**0.5)}
    (row, *_) = csv.DictReader(io.StringIO(printed(first, "--format", "csv")))
    assert float(row["size_deviation"]) == pytest.approx(112**0.5) and row["images"] == "3"


@pytest.mark.parametrize("name", ["a|b", "<img src=x onerror=alert(1)>", "[x](javascript:y)", "`*_~#&$!\\", "\\|"])
def test_nothing_is_markup_in_markdown(name, tmp_path) -> None:
    """A reader of Markdown takes a backslash away, and what it stands before as it is."""
    hostile = in_markdown(name)
    assert re.sub(r"\\(.)", r"\1", hostile) == name
    assert not set(re.sub(r"\\.", "", hostile)) & set("\\`*_[]<>|~#&$!")
    shown = [*markdown_lines(("folder", "%"), [(name, "5 of 9 (55.5 %)")], 1)]
    assert shown == ["| folder | % |", "| --- | ---: |", f"| {hostile} | 5 of 9 (55.5 %) |"]


def warnings_of(caplog) -> list[str]:
    """Those of verale: a Ray that another test of this process started logs too."""
    return [record.getMessage() for record in caplog.records if record.name.startswith("verale")]


def test_a_run_that_is_not_finished_is_summed_up_with_a_warning(tmp_path, caplog) -> None:
    folder = Path(table(tmp_path, ROWS))
    with (folder / "explanations.csv").open("a") as stream:
        stream.write("4,1,1,Tr")
    (folder / "run.json").write_text('{"images": 9}')
    assert summarize(str(folder))[0].images == 3
    assert warnings_of(caplog) == [
        f"{folder}: 4 of 9 images are explained so far",
        f"{folder}: without one: 3: a tie",
        f"{folder}: all reasons are in {folder / 'explanations.csv'}",
    ]
    caplog.clear()
    for text in ('{"images": 4}', "{", "[]"):
        (folder / "run.json").write_text(text)
        assert summarize(str(folder))[0].images == 3
    assert warnings_of(caplog) and not any("so far" in each for each in warnings_of(caplog))


def test_a_run_that_kept_the_most_readable_has_several_paradigms(tmp_path) -> None:
    mixed = Path(table(tmp_path / "out", [*ROWS, Explained(4, 1, size=6, paradigm="top_k")]))
    (mixed / "run.json").write_text('{"images": 5, "paradigm": "readable"}')
    every = summarize(str(mixed))[0]
    assert (every.paradigm, every.images, every.size.mean) == ("readable", 4, 15)
    for text in ('{"images": 5, "paradigm": "top_k"}', "{", "[]", "{}"):
        (mixed / "run.json").write_text(text)
        with pytest.raises(InputError, match="holds several paradigms"):
            summarize(str(mixed))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: None, "there is no such file"),
        (lambda folder: folder.mkdir(), r"holds no explanations\.csv; expected a folder that verale explain wrote"),
        (lambda folder: table(folder, []), "has no rows"),
        (lambda folder: table(folder, [*ROWS, Explained(4, 1, size=1, paradigm="top_k")]), "holds several paradigms"),
    ],
)
def test_what_cannot_be_summed_up_is_named(make, reason, tmp_path) -> None:
    make(tmp_path / "out")
    with pytest.raises(InputError, match=rf"out.*: {reason}"):
        summarize(str(tmp_path / "out"))


HEAD = replace(small_head("euclidean", prototypes=6), labels=("ant", "bee", "cat"))
IMAGES = 6


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("by") / "out"
    labels = [n % 3 for n in range(IMAGES)]
    with open_run(folder, HEAD, small_latents(HEAD, images=IMAGES), SearchOptions("top_k"), labels=labels) as opened:
        assert len(list(opened)) == IMAGES
    return folder


def test_each_class_has_a_line_as_predicted_and_as_true_one(run) -> None:
    rows, found = read_table(run / "explanations.csv"), by_class(str(run))
    for kind, of in (("predicted", lambda row: row.predicted), ("true", lambda row: row.label)):
        classes = Counter(map(of, rows))
        summaries = {each.number: each for each in found if each.kind == kind}
        assert {number: each.images for number, each in summaries.items()} == classes
        for number, each in summaries.items():
            own = [row for row in rows if of(row) == number]
            assert each.name == HEAD.labels[number] and each.explained == len(own)
            assert each.size.mean == pytest.approx(sum(row.size for row in own) / len(own))
            assert (each.correct, each.labelled) == (sum(row.correct for row in own), len(own))
            assert each.bounded_prototypes.mean == pytest.approx(sum(row.bounded_prototypes for row in own) / len(own))


def test_each_prototype_is_counted_in_every_explanation(run) -> None:
    certificates = [Certificate.load(path) for path in sorted(run.glob("*.ale.json"))]
    found = by_prototype(str(run))
    assert [each.named for each in found] == sorted((each.named for each in found), reverse=True)
    assert {each.prototype for each in found} == set(range(HEAD.size))
    for each in found:
        own = [[s for s in one.statements if getattr(s, "prototype", None) == each.prototype] for one in certificates]
        clauses = [
            any(hasattr(s, "exempt") and each.prototype not in s.exempt for s in one.statements) for one in certificates
        ]
        assert each.named == sum(map(bool, own)) and each.statements == sum(map(len, own))
        assert each.bounded == sum(bool(s) or clause for s, clause in zip(own, clauses, strict=True))
        assert each.explanations == IMAGES and each.named <= each.bounded


def test_what_has_no_certificates_is_refused(run, tmp_path) -> None:
    with pytest.raises(InputError, match=r"explanations\.csv: is a table, .*; give the folder of its certificates"):
        by_prototype(str(run / "explanations.csv"))
    (tmp_path / "explanations.csv").write_text(csv_lines([Explained(0, 1)], heading=True))
    with pytest.raises(InputError, match=r"has no head\.safetensors"):
        by_prototype(str(tmp_path))
    with pytest.raises(InputError, match="there is no such folder"):
        by_prototype(str(tmp_path / "none"))
    (tmp_path / "empty").mkdir()
    for ask in (by_class, by_prototype):
        with pytest.raises(InputError, match=r"holds no explanations\.csv"):
            ask(str(tmp_path / "empty"))


def cells_of_latex(text: str) -> list[list[str]]:
    """The rows of a tabular, read as LaTeX would: `&` and `\\\\` divide unless they are escaped."""
    lines = text.splitlines()
    assert lines[0].startswith("\\begin{tabular}{") and lines[-1] == "\\end{tabular}"
    columns = len(lines[0].split("{")[2].rstrip("}"))
    rows = [line.removesuffix(" \\\\") for line in lines[1:-1] if line != "\\hline"]
    cells = [re.split(r"(?<!\\) & ", row) for row in rows]
    assert {len(each) for each in cells} == {columns}
    for cell in (cell for row in cells for cell in row):
        bare = re.sub(r"\\(text[a-z]+|char\d+)\{\}|\$\\pm\$|\\[&%$#_{}]|\{[\[*]\}", "", cell)
        assert not set(bare) & set('&%$#_{}\\~^<>|"`'), cell
        assert not cell.startswith(("[", "*")), "\\\\ takes it for its own"
    return cells


def test_latex_is_escaped(tmp_path) -> None:
    hostile = tmp_path / r"[5pt]*_%$#&{}~^a\b<>|" / "c"
    hostile.parent.mkdir()
    (heading, *rows) = cells_of_latex(printed(table(hostile, ROWS), "--format", "latex"))
    assert heading[:3] == ["folder", "paradigm", "predictions"] and heading[5] == r"\% of all" and len(rows) == 3
    assert r"\_\%\$\#\&\{\}\textasciitilde{}\textasciicircum{}a\textbackslash{}" in rows[0][0]
    assert r"18.0 $\pm$ 10.6" in rows[0]
    assert in_latex("[red]") == "{[}red]" and in_latex("*") == "{*}"


PAPERS = (
    "Idx,True Label,Pred Label,Correct,Exp Size,Conf Score,Conf Softmax,2nd Conf Score,2nd Conf Softmax,"
    "Diff Conf Score,Diff Conf Softmax,Next Label,Runtime (s)"
)
"""The first line of run_formal_exp.py's tables."""

TABLE_ROWS = [
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
    (tmp_path / "t.csv").write_text(csv_lines(TABLE_ROWS, heading=True))
    assert read_table(tmp_path / "t.csv") == TABLE_ROWS
    assert csv_lines(TABLE_ROWS[:1]).startswith("0,2,2,True,17,-1.5,0.9,")


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
    whole = csv_lines(TABLE_ROWS, heading=True)
    for cut in range(len(csv_lines([], heading=True)), len(whole)):
        (tmp_path / "t.csv").write_text(whole[:cut])
        assert read_table(tmp_path / "t.csv", whole=False) == TABLE_ROWS[: whole[:cut].count("\n") - 1]
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
    assert reasons(TABLE_ROWS[:1], "t.csv") == []
    rows = [Explained(index, 0, reason=f"reason {min(index, 4)}") for index in range(20)]
    assert reasons([*TABLE_ROWS[:1], *rows], "t.csv") == [
        "without one: 4, 5, 6, 7, 8, 9, 10, 11 and 8 more: reason 4",
        "without one: 0: reason 0",
        "without one: 1: reason 1",
        "all reasons are in t.csv",
    ]


def test_a_run_is_a_frame_with_the_names_of_its_rows(tmp_path) -> None:
    (tmp_path / "explanations.csv").write_text(csv_lines(reversed(TABLE_ROWS), heading=True))
    for given in (tmp_path, str(tmp_path / "explanations.csv")):
        table = verale.frame(given)
        assert list(table.columns) == [each.name for each in fields(Explained)]
        assert list(table["index"]) == sorted(row.index for row in TABLE_ROWS)
        for index, row in enumerate(sorted(TABLE_ROWS, key=lambda row: row.index)):
            values = {name: None if pd.isna(value) else value for name, value in table.iloc[index].items()}
            assert values == asdict(row)
    assert str(table["label"].dtype) == "Int64" and str(table["correct"].dtype) == "boolean"


def test_what_no_frame_can_be_made_of_is_named(tmp_path, monkeypatch) -> None:
    with pytest.raises(InputError, match=r"holds no explanations\.csv; expected a folder that verale explain wrote"):
        verale.frame(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"pandas is not installed, .*pip install 'verale\[report\]'"):
        verale.frame(tmp_path)
