"""One certificate as a picture."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from matplotlib import rc_context
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from support.commands import in_process
from support.reporting import folder_of, report_head, report_latents
from support.told import statement

import verale
from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
)
from verale.errors import InputError, LatentsError
from verale.report import picture as module
from verale.report.collect import collect
from verale.report.picture import picture
from verale.report.verdicts import audited


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("picture") / "out")


@pytest.fixture(scope="module")
def certificate(folder) -> Certificate:
    return Certificate.load(folder / "000001.ale.json")


def texts(figure: Figure) -> str:
    return " ".join(" ".join(text.get_text() for text in figure.findobj(Text)).split())


def listed(figure: Figure, prototypes: int = 0) -> list[Statement]:
    """The statements that a figure lists, read back."""
    lines: list[str] = []
    for text in (text.get_text() for text in figure.texts):
        if text.startswith("\N{BULLET} "):
            lines.append(text.removeprefix("\N{BULLET} "))
        elif text.startswith("   "):
            lines[-1] += f" {text.strip()}"
    return [statement(*line.split(": "), prototypes=prototypes) for line in lines if not line.startswith("and ")]


def outlined(figure: Figure) -> set[tuple[float, float]]:
    axes = figure.axes[0]
    squares = [collection for collection in axes.collections if isinstance(collection, PatchCollection)]
    return {tuple(path.get_extents().min) for collection in squares for path in collection.get_paths()}


PROVED = "PROVED from the latents given for the image, not from its pixels"


def test_patches_statements_and_margins_are_drawn(folder, certificate):
    """Each outlined patch has the numbers of its prototypes, of many the first."""
    head, latents = report_head(), report_latents(report_head())
    figure = verale.plot(certificate, folder / "images" / "1.png", head, latents)
    assert isinstance(figure, Figure)
    said, stated = texts(figure), {}
    for each in certificate.statements:
        stated.setdefault(each.patch, []).append(each.prototype)
    assert outlined(figure) == {(patch % 3, patch // 3) for patch in stated}
    marks = {tuple(text.get_position()): text.get_text() for text in figure.axes[0].texts}
    for patch, prototypes in stated.items():
        more = f"\n+{len(prototypes) - 2}" if len(prototypes) > 2 else ""
        assert marks[patch % 3 + 0.5, patch // 3 + 0.5] == ", ".join(map(str, prototypes[:2])) + more
    assert f"NOT AUDITED: class {head.labels[certificate.predicted]}" in said
    for name in set(head.labels) - {head.labels[certificate.predicted]}:
        assert f"{name}: at least " in said
    assert said.count("\N{BULLET} patch ") == certificate.size
    assert "Not proved: anything about the first layers" in said
    with pytest.raises(LatentsError, match="image is not among these latents"):
        verale.plot(certificate, latents=torch.zeros(1, 6, 6))


def test_points_are_told_where_the_class_is_proved():
    """Parts and total as they are shown; of a claim that nobody audited there are none."""
    head, latents = report_head(), report_latents(report_head())
    explained = verale.explain(head, latents)[0]
    assert isinstance(explained, Certificate) and explained.paradigm == "evidence"
    proved = verale.audit(explained, head, latents)
    said = texts(verale.plot(explained, head=head, latents=latents, verdict=proved))
    name = head.labels[explained.predicted]
    assert said.startswith(f"{said.split(' ', 1)[0]} {PROVED}: class {name} ")
    points = [Fraction(each) for each in re.findall(r"(?:= |at least |at most )(\d+\.\d\d)(?= |$)", said)]
    *given, total, taken, lead = points[: points.index(min(points)) + 1]
    assert f"so class {name} leads every other class by:" in said and total - taken == lead > 0 and given
    claimed = texts(verale.plot(explained, head=head, latents=latents))
    below = f"stay below {name}"
    assert f"{below} (claimed, not proved here): " in claimed and f"{below}: " in said
    assert f"NOT AUDITED: class {name}" in claimed and "leads every other class by" not in claimed


def test_it_is_saved_like_any_figure_with_images_of_every_form(certificate, tmp_path):
    certificate = replace(certificate, statements=certificate.statements[:2], minimal=False)
    colours, grey = (20, 30, 3), (20, 30)
    for image, shape in (
        *((np.zeros(grey, np.uint8), grey), (np.zeros(colours, np.uint8), colours), (torch.randn(3, 20, 30), colours)),
        *((np.zeros((1, 20, 30)), grey), (Image.new("RGB", (30, 20)), colours), (np.full(grey, 7.0), grey)),
    ):
        figure = verale.plot(certificate, image, None, report_latents(report_head()))
        assert figure.axes[0].images[0].get_array().shape == shape
    figure.savefig(io.BytesIO(), dpi=20)
    figure = verale.plot(certificate)
    assert "6 patches" in texts(figure) and outlined(figure) == set(), "without anything else the grid is unknown"
    figure.savefig(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_long_ones_are_cut_and_names_are_no_mathematics(monkeypatch):
    monkeypatch.setattr(module, "_WHOLE", replace(module._WHOLE, statements=30))
    statements = tuple(PatchStatement(patch, prototype, 0.0, 1.0) for patch in range(16) for prototype in range(10))
    certificate = Certificate("0" * 64, None, 0, "projection", 49, statements, (None, 1.0), False, "")
    said = texts(figure := verale.plot(certificate, classes=(r"$\frac{", "$a")))
    figure.savefig(io.BytesIO(), dpi=20)
    assert "and 130 more" in said and r"class $\frac{" in said


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_statements_end_before_the_next_column_and_the_edge(certificate, long):
    head = replace(report_head(), labels=("Yellow-bellied Flycatcher of the far north", "a" * 80, "b c " * 30))
    statements = certificate.statements
    if long:
        clauses = [OrderStatement(tuple(range(k, 60)), 1 / (3 + k)) for k in range(9)]
        statements = (*statements, *clauses, FloorStatement(tuple(range(8)), -1 / 3))
    figure = verale.plot(replace(certificate, statements=statements, minimal=False), None, head)
    figure.draw_without_rendering()
    middle = figure.bbox.width / 2
    for text in figure.texts:
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.width + 1 and box.y0 >= 0, text
    listed = [text for text in figure.texts if text.get_text().startswith(("\N{BULLET}", "   "))]
    left = [text.get_window_extent() for text in listed if text.get_window_extent().x0 < middle / 2]
    assert len(listed) >= len(statements) and all(box.x1 < middle for box in left)


ONE_SIDED = (
    *(PatchStatement(0, 1, -math.inf, 0.5), ActivationStatement(2, 0.5, math.inf)),
    *(OrderStatement((2,), 1.5), FloorStatement((), -1.5)),
)


@pytest.mark.parametrize("paradigm", ["top_k", "projection", "one-sided"])
def test_statements_are_drawn_in_their_own_numbers(tmp_path, paradigm):
    folder = folder_of(tmp_path / "out", paradigm=paradigm if paradigm != "one-sided" else "top_k")
    certificate, head = Certificate.load(folder / "000000.ale.json"), report_head()
    if paradigm == "one-sided":
        certificate = replace(certificate, statements=ONE_SIDED, minimal=False)
    figure = verale.plot(certificate, None, head, report_latents(head))
    assert sorted(map(repr, listed(figure, head.size))) == sorted(map(repr, certificate.statements))
    assert outlined(figure) and "None" not in texts(figure) and "inf" not in texts(figure)


LABELS = ("$\\frac{$ a<x>b", "漢 a\n\x1b[2K\x00\ufffe\u202e $x^{2$ $", "$ " + "long " * 90)
"""Formulas that are none, control characters, and markup."""


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_names_are_text_and_nothing_else(kind, folder):
    collection = collect(folder / "000001.ale.json")
    file = folder / f"{''.join(label[:14] for label in LABELS)}\udcff.ale.json".replace("\0", "")  # the last: no UTF-8
    item, head = replace(collection.items[0], path=file), replace(collection.head, labels=LABELS)
    file.write_bytes(item.data)
    try:
        drawn = picture(replace(collection, items=(item,), head=head), kind)
    finally:
        file.unlink()
    if kind == "svg":
        assert "\u202e" not in drawn.decode()
        assert not any(node.tag.endswith("x") and node.tag != "text" for node in ElementTree.fromstring(drawn).iter())


def test_a_file_is_the_same_again_whatever_a_strangers_folder_says(folder):
    """matplotlib reads `matplotlibrc` of the current folder, which could have names set by LaTeX."""
    collection = audited(collect(folder / "000001.ale.json"))
    for kind, magic in (("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")):
        data = picture(collection, kind, compact=True)
        assert data.startswith(magic)
        if kind != "png":
            with rc_context({"text.usetex": True, "figure.facecolor": "red", "font.size": 30}):
                assert picture(collection, kind, compact=True) == data


def test_what_is_missing_is_named(tmp_path):
    folder = folder_of(tmp_path / "out")
    (folder / "images" / "0.png").unlink()
    data = picture(collect(folder / "000000.ale.json"), "svg")
    heading = " ".join(re.findall(r"<!-- (.*?) -->", data.decode()))
    assert "not shown: " in heading and "0.png: there is no such file" in heading
    (folder / "000000.ale.json").write_text("{")
    with pytest.raises(InputError, match="cannot be drawn"):
        picture(collect(folder / "000000.ale.json"), "png")


FIELDS = {"size": [20, 30], "rows": [[0, 12], [8, 20]], "columns": [[0, 15], [5, 25], [15, 30]], "unknown": []}


@pytest.mark.parametrize(
    ("fields", "paradigm", "said"),
    [
        (FIELDS, "top_k", "solid: cells of the grid; dashed: receptive fields"),
        (
            FIELDS | {"rows": [[0, 20]] * 2, "columns": [[0, 30]] * 3},
            "top_k",
            "each patch can depend on the whole image",
        ),
        (FIELDS, "projection", "prototypes that patches are compared with"),
        (FIELDS | {"rows": [[0, 20]]}, "top_k", "prototypes where they are most active (float64)"),
    ],
    ids=["part", "whole", "of many", "of another grid"],
)
def test_receptive_fields_of_a_few_patches_are_dashed(fields, paradigm, said, tmp_path):
    folder = folder_of(tmp_path / "out", paradigm=paradigm, receptive_fields=fields)
    drawn = picture(collect(folder / "000000.ale.json"), "svg").decode()
    dashed = re.search(r"stroke-dasharray: [^;]*; stroke-dashoffset: 0; stroke: #ffffff", drawn)
    assert bool(dashed) == ("dashed" in said) and said in " ".join(re.findall(r"<!-- (.*?) -->", drawn))


WORDY = ("Yellow-bellied Flycatcher of the far north of a country", "W" * 90, r"$\frac{ b \N{BULLET}")


@pytest.fixture(scope="module", params=["top_k", "projection"])
def wordy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    head = replace(report_head(), labels=WORDY)
    return folder_of(tmp_path_factory.mktemp("compact") / "out", head, request.param)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are not saved."""
    figures: list[Figure] = []
    monkeypatch.setattr(module, "saved", lambda draw, kind: figures.append(draw()))
    return figures


def words(figure: Figure) -> str:
    """Those beside the images."""
    return " ".join(" ".join(text.get_text() for text in figure.texts).split())


def test_it_tells_what_show_tells_and_nothing_is_wider_than_a_column(wordy, drawn):
    for index in range(2):
        file = wordy / f"{index:06d}.ale.json"
        certificate = Certificate.load(file)
        picture(audited(collect(file)), "svg", compact=True)
        figure = drawn[-1]
        assert figure.get_figwidth() == pytest.approx(3.3)
        figure.draw_without_rendering()
        for text in figure.findobj(Text):
            box = text.get_window_extent()
            assert not text.get_text() or (box.x0 >= 0 and box.x1 <= figure.bbox.width + 1 and box.y0 >= 0), text
        said = words(figure)
        assert said.startswith(f"{PROVED}: class ")
        if " " in WORDY[certificate.predicted]:
            assert in_process("show", file).stdout.splitlines()[2].removeprefix("Proved: ") in said
        told = listed(figure, report_head().size)
        assert (told or index == 0) and len(told) <= 8 and all(each in certificate.statements for each in told)


def test_what_is_not_audited_is_not_called_proved(wordy, drawn):
    picture(collect(wordy / "000000.ale.json"), "svg", compact=True)
    said = words(drawn[0])
    assert said.startswith("NOT AUDITED: class") and "PROVED" not in said.replace("NOT PROVED", "")
    assert re.search(r"stays at least \S+ below .* \(claimed, not proved here\)\.", said)


@pytest.mark.parametrize("wordy", ["top_k"], indirect=True)
def test_how_a_deployed_head_computes_is_told(wordy, drawn):
    def deployed(item):
        how = {"formula": "cdist", "log": 2, "exp": 4, "sqrt": 1}
        return item.record | {"claims": item.record["claims"] | {"deployment": "proved"}, "run": {"deployment": how}}

    collection = audited(collect(wordy / "000000.ale.json"))
    for shown in (collection, collection.with_records(deployed, "read from a log")):
        picture(shown, "svg", compact=True)
    without, told = map(words, drawn)
    assert "Proved too: deployment (cdist, log=2,exp=4,sqrt=1), the class of the head in float32." in told
    assert "rounds to the same class" in without and "rounds to the same class" not in told
    assert "Proved too" not in without
