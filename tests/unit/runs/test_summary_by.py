"""A run by class and by prototype: the counts are those of its certificates."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.small import small_head, small_latents

from verale.certificate import Certificate
from verale.cli.summary import command
from verale.errors import InputError
from verale.runs.explain import open_run
from verale.runs.summary import by_class, by_prototype
from verale.runs.table import Explained, csv_lines, read_table
from verale.search import SearchOptions

HEAD = replace(small_head("euclidean", prototypes=6), labels=("ant", "bee", "cat"))
IMAGES = 6


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("by") / "out"
    labels = [n % 3 for n in range(IMAGES)]
    with open_run(folder, HEAD, small_latents(HEAD, images=IMAGES), SearchOptions("top_k"), labels=labels) as opened:
        assert len(list(opened)) == IMAGES
    return folder


def printed(*arguments: object) -> str:
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


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


def test_without_labels_there_are_no_true_classes(tmp_path) -> None:
    table = tmp_path / "explanations.csv"
    table.write_text(csv_lines([Explained(0, 1, 0.5, size=3), Explained(1, 2, reason="a tie")], heading=True))
    first, second = by_class(str(tmp_path))
    assert [(each.kind, each.number, each.name, each.explained) for each in (first, second)] == [
        ("predicted", 1, "1", 1), ("predicted", 2, "2", 0),
    ]  # fmt: skip
    assert first.labelled == 0 and by_class(str(table))[0].images == 1
    assert printed(tmp_path, "--by", "class").splitlines()[1].endswith(" -")


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


@pytest.mark.parametrize("by", ["class", "prototype"])
def test_every_format_has_them(by, run) -> None:
    lines = len(by_class(str(run)) if by == "class" else by_prototype(str(run)))
    assert len(printed(run, "--by", by).splitlines()) == lines + 1
    assert len(printed(run, "--by", by, "--format", "markdown").splitlines()) == lines + 2
    assert len(printed(run, "--by", by, "--format", "latex").splitlines()) == lines + 6
    assert len(list(csv.DictReader(io.StringIO(printed(run, "--by", by, "--format", "csv"))))) == lines
    assert len([json.loads(line) for line in printed(run, "--by", by, "--json").splitlines()]) == lines


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
