"""What notebooks show of a certificate."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from math import inf
from pathlib import Path

import numpy as np
import pytest
from support.commands import in_process
from support.reporting import folder_of, report_head, report_latents
from support.small import small_head, small_latents
from support.told import statement

import verale
from verale import Certificate
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, record
from verale.certificate.words import below
from verale.search import best_paradigm
from verale.search.explain import explain


def certificates(geometry: str, paradigm: str | None = None) -> list[Certificate]:
    head = small_head(geometry)
    return [
        one
        for one in explain(head, small_latents(head), paradigm or best_paradigm(head))
        if isinstance(one, Certificate)
    ]


class Tags(HTMLParser):
    """Which elements there are, whether all are closed, and the rows of tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.rows: list[list[str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "img":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        self.names.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "td":
            self.rows[-1].append(data)


def test_it_says_what_is_claimed_and_that_nobody_audited_it():
    for certificate in certificates("euclidean"):
        text = certificate._repr_html_()
        assert Tags(text).names <= {"div", "p", "b", "small", "table", "caption", "thead", "tbody", "tr", "th", "td"}
        assert f"NOT AUDITED: class {certificate.predicted}" in text
        assert f"Claimed, and not audited here: The class is {certificate.predicted} whenever " in text
        assert f"<td>{below(certificate.margin, 4)}</td>" in text
        assert "Not proved: anything about the first layers" in text
        assert certificate.head in text and "patch 0, prototype " in text
        assert "PROVED" not in text


def test_statements_are_told_in_their_own_numbers():
    statements = (PatchStatement(0, 1, -inf, 0.375), ActivationStatement(2, 0.4375, inf), OrderStatement((2, 5), 1 / 3))
    (certificate, *_) = certificates("euclidean")
    mixed = replace(certificate, statements=(*statements, FloorStatement((2,), -1.0)), paradigm="mixed", minimal=False)
    rows = Tags(mixed._repr_html_()).rows
    told = [statement(*row) for row in rows if row and row[0].startswith(("patch", "activation", "every"))]
    assert sorted(map(repr, told)) == sorted(map(repr, mixed.statements))
    assert "inf" not in mixed._repr_html_()


def test_what_a_file_may_hold_is_escaped():
    (certificate, *_) = certificates("euclidean")
    text = replace(certificate, paradigm="<script>alert(1)</script>")._repr_html_()
    assert "<script" not in text and "&lt;script&gt;" in text
    assert "<script" not in record._plain(replace(certificate, paradigm="<script>")), "before verale gives pages"
    named = verale.show(certificate, classes=("<b>", "<i>", "<u>"))._repr_html_()
    assert Tags(named).names.isdisjoint({"i", "u"}) and "<b><" not in named


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("notebook") / "out", paradigm="top_k")


def test_with_head_and_latents_it_is_audited_now(folder):
    head, certificate = report_head(), Certificate.load(folder / "000001.ale.json")
    shown = verale.show(certificate, head, report_latents(head), np.zeros((20, 30)))
    text = unescape(shown._repr_html_())
    scope = "from the latents given for the image, not from its pixels"
    assert (
        repr(shown) == f"PROVED {scope}: class {head.labels[certificate.predicted]}" and "Proved: The class is " in text
    )
    assert f"of the head's {head.size} prototypes" in text and "img" in Tags(shown._repr_html_()).names
    assert repr(verale.show(certificate, head)).startswith("PROVED, instance not checked: class ")
    other = verale.show(replace(certificate, statements=(), minimal=False), head, report_latents(head))
    assert repr(other).startswith("NOT PROVED: class ") and "Claimed, and not proved: " in str(other)


def test_pictures_are_left_out_where_they_are_not_wanted(folder):
    file, head = folder / "000001.ale.json", report_head()
    given = Certificate.load(file), head, report_latents(head), np.zeros((20, 30))
    for some, more in ((given, {}), ((file,), {"image": np.zeros((20, 30))})):
        assert "img" in Tags(verale.show(*some, **more)._repr_html_()).names
        without = verale.show(*some, **more, pictures=False)
        assert "img" not in Tags(without._repr_html_()).names and repr(without) == repr(verale.show(*some, **more))


def test_a_file_is_shown_as_the_command_shows_it(folder):
    file = folder / "000001.ale.json"
    printed = in_process("show", file).stdout.splitlines()[:-1]  # without the verdict's line
    assert str(verale.show(file)).splitlines() == printed
    text = unescape(verale.show(file, image=folder / "images" / "1.png")._repr_html_())
    assert (
        "image (as given, which nothing checks): true class bee (as labelled)" in text
        and "training patch: 0.png" in text
        and "<img" in text
    )
    assert "<img" not in verale.show(file)._repr_html_(), "an image that nothing binds is not taken by itself"
