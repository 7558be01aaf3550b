"""The small figure of one explanation."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from support.commands import in_process
from support.reporting import folder_of, report_head
from support.told import statement

from verale.certificate import Certificate
from verale.report import compact as module
from verale.report.collect import collect
from verale.report.compact import compact
from verale.report.verdicts import audited

LABELS = ("Yellow-bellied Flycatcher of the far north of a country", "W" * 90, r"$\frac{ b \N{BULLET}")


@pytest.fixture(scope="module", params=["top_k", "projection"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    head = replace(report_head(), labels=LABELS)
    return folder_of(tmp_path_factory.mktemp("compact") / "out", head, request.param)


def figure_of(file: Path, monkeypatch: pytest.MonkeyPatch, judged: bool = True) -> Figure:
    figures: list[Figure] = []
    monkeypatch.setattr(module, "saved", lambda draw, kind: figures.append(draw()))
    collection = collect(file)
    compact(audited(collection) if judged else collection, "svg")
    return figures[0]


def rows(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts]


def test_nothing_is_wider_than_a_column_or_outside(folder, monkeypatch):
    for index in range(2):
        figure = figure_of(folder / f"{index:06d}.ale.json", monkeypatch)
        assert figure.get_figwidth() == pytest.approx(3.3)
        figure.draw_without_rendering()
        for text in figure.findobj(Text):
            box = text.get_window_extent()
            assert not text.get_text() or (box.x0 >= 0 and box.x1 <= figure.bbox.width + 1 and box.y0 >= 0), text


def test_it_tells_what_show_tells(folder, monkeypatch):
    file = folder / "000001.ale.json"
    certificate = Certificate.load(file)
    said = " ".join(rows(figure_of(file, monkeypatch))).replace("  ", " ")
    shown = in_process("show", file).stdout.splitlines()
    assert said.startswith("PROVED: class ")
    if " " in LABELS[certificate.predicted]:
        assert shown[2].removeprefix("Proved: ") in said
    told = [re.sub(r"\s+", " ", each).strip() for each in said.split("\N{BULLET} ")[1:9]]
    told[-1] = re.sub(r" \d+ statements.*", "", told[-1])
    told = [each for each in told if not each.startswith("and ")]
    assert told and all(statement(*each.split(": ")) in certificate.statements for each in told)


def test_what_is_not_audited_is_not_called_proved(folder, monkeypatch):
    said = rows(figure_of(folder / "000000.ale.json", monkeypatch, judged=False))
    assert said[0].startswith("NOT AUDITED: class") and "PROVED" not in "".join(said).replace("NOT PROVED", "")
    assert re.search(r"stays at least \S+ below .* \(claimed, not proved here\)\.", " ".join(" ".join(said).split()))


@pytest.mark.parametrize("folder", ["top_k"], indirect=True)
def test_how_a_deployed_head_computes_is_told(folder, monkeypatch):
    def deployed(item):
        how = {"formula": "cdist", "log": 2, "exp": 4, "sqrt": 1}
        return item.record | {"claims": item.record["claims"] | {"deployment": "proved"}, "run": {"deployment": how}}

    figures: list[Figure] = []
    monkeypatch.setattr(module, "saved", lambda draw, kind: figures.append(draw()))
    collection = audited(collect(folder / "000000.ale.json"))
    for shown in (collection, collection.with_records(deployed, "read from a log")):
        compact(shown, "svg")
    without, told = (" ".join(rows(each)) for each in figures)
    assert "Proved too: deployment (cdist, log=2,exp=4,sqrt=1), the class of the head in float32." in told
    assert "rounds to the same class" in without and "rounds to the same class" not in told
    assert "Proved too" not in without


@pytest.mark.parametrize("folder", ["top_k"], indirect=True)
def test_the_same_certificate_gives_the_same_file(folder):
    """How a drawing becomes a file of each kind is told by test_picture."""
    collection = collect(folder / "000002.ale.json")
    data = compact(collection, "pdf")
    assert data.startswith(b"%PDF") and compact(collection, "pdf") == data


def test_it_is_for_pictures_of_one_certificate(folder, tmp_path):
    for output, problem in (("r.html", "--compact is for pictures"), ("r.csv", "--compact is for pictures")):
        done = in_process("report", folder, "-o", tmp_path / output, "--compact")
        assert done.returncode == 9 and problem in done.stderr
    done = in_process("report", folder / "000000.ale.json", "-o", tmp_path / "r.svg", "--compact")
    assert done.returncode == 0 and (tmp_path / "r.svg").read_bytes().startswith(b"<?xml")
