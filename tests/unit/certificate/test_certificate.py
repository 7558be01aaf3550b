"""The record checks itself, follows the schema, survives its encoding, and is shown by notebooks."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
import sys
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser
from math import inf
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from support.cases import every
from support.commands import in_process
from support.reporting import folder_of, report_head, report_latents
from support.small import GEOMETRIES, small_head, small_latents
from support.told import statement

import verale
import verale.certificate.statements as written
import verale.checker.certificate as read
from verale import Certificate
from verale.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Prices,
    SumStatement,
)
from verale.certificate.statements import Bounded, bounded, to_read
from verale.certificate.words import below
from verale.errors import CertificateError, InputError, UsageError
from verale.search import best_paradigm
from verale.search.explain import explain

SCHEMA = json.loads((Path(__file__).parents[3] / "certificates" / "v1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def certificate(**fields: Any) -> Certificate:
    """One of a picture."""
    given: dict[str, Any] = {
        "head": "1" * 64, "latents": None, "network": "2" * 64, "picture": "3" * 64, "arithmetic": "real",
        "predicted": 0, "paradigm": "top_k", "patches": 4, "statements": (ActivationStatement(0, 0.5, 1.0),),
        "margins": (None, 0.25), "minimal": True, "version": "0.1.0",
    }  # fmt: skip
    return Certificate(**(given | fields))


@cache
def certificates() -> tuple[Certificate, ...]:
    heads = [small_head(geometry) for geometry in GEOMETRIES]  # the last is a softmax one
    asked = [(head, paradigm) for head in heads for paradigm in (best_paradigm(head), "top_k")]
    asked += [(heads[-1], paradigm) for paradigm in ("simplex", "sparse")]
    found = (each for head, paradigm in asked for each in explain(head, small_latents(head), paradigm))
    return tuple(each for each in found if isinstance(each, Certificate))


def priced() -> Certificate:
    return next(certificate for certificate in certificates() if certificate.prices)


def test_every_certificate_follows_the_schema_and_survives_its_bytes(tmp_path):
    emitted = certificates()
    assert {c.paradigm for c in emitted} == {"projection", "simplex", "assignment", "sparse", "top_k"}
    assert any(c.prices for c in emitted)
    for certificate in emitted:
        data = certificate.to_bytes()
        VALIDATOR.validate(json.loads(data))
        assert Certificate.from_bytes(data) == certificate
        certificate.save(tmp_path / "c.ale.json")
        assert Certificate.load(tmp_path / "c.ale.json") == certificate
    assert [p.name for p in tmp_path.iterdir()] == ["c.ale.json"]


HALF = "0x1.0000000000000p-1"


@every(
    ("statement", "form"),
    [
        (PatchStatement(1, 2, -inf, 0.5), {"patch": 1, "prototype": 2, "interval": [None, HALF]}),
        (PatchStatement(1, 2, 0.5, inf), {"patch": 1, "prototype": 2, "interval": [HALF, None]}),
        (ActivationStatement(2, -inf, 0.5), {"prototype": 2, "interval": [None, HALF]}),
        (ActivationStatement(2, 0.5, inf), {"prototype": 2, "interval": [HALF, None]}),
        (OrderStatement((0, 3), 0.5), {"except": [0, 3], "upper": HALF}),
        (FloorStatement((0, 3), 0.5), {"except": [0, 3], "lower": HALF}),
        (SumStatement(None, 0.5), {"rivals": None, "upper": HALF}),
        (SumStatement((0, 3), 0.5), {"rivals": [0, 3], "upper": HALF}),
    ],
)
def test_a_statement_is_read_as_it_was_written(statement, form):
    """One side may have no bound."""
    assert statement.to_json() == form
    data = certificate(statements=(statement,)).to_bytes()
    assert Certificate.from_bytes(data).statements == (statement,)


@every(
    "form",
    [
        {"prototype": 2, "interval": [None, None]},
        {"patch": 1, "prototype": 2, "interval": [None, None]},
        {"prototype": 2, "interval": ["inf", None]},
        {"prototype": 2, "interval": ["-inf", "0x1p+0"]},
        {"prototype": 2, "interval": ["0x1p+0", "0x1p+0", None]},
        {"prototype": 2, "interval": [None, "-inf"]},
        {"prototype": 2, "interval": ["0x1p+1", "0x1p+0"]},
        {"except": [0], "lower": "0x1p+0", "upper": "0x1p+0"},
        {"except": [0]},
        {"except": [0], "lower": None},
        {"except": [1, 1], "lower": "0x1p+0"},
        {"rivals": None},
        {"rivals": None, "upper": None},
        {"rivals": None, "upper": "inf"},
        {"rivals": None, "upper": "-0x1p+0"},
        {"rivals": [], "upper": "0x1p+0"},
        {"rivals": [2, 1], "upper": "0x1p+0"},
        {"rivals": [-1], "upper": "0x1p+0"},
    ],
)
def test_a_statement_that_is_none_is_refused(form):
    document = json.loads(certificate().to_bytes())
    document["predicate"]["statements"] = [form]
    with pytest.raises(CertificateError):
        Certificate.from_bytes(json.dumps(document).encode())


def test_bytes_are_taken_in_every_form_and_nothing_else():
    data = certificate().to_bytes()
    assert {Certificate.from_bytes(form(data)) for form in (bytes, bytearray, memoryview)} == {certificate()}
    for other in (data.decode(), [*data], None):
        with pytest.raises(UsageError, match=r"expected bytes; Certificate.load\(path\) reads a file"):
            Certificate.from_bytes(other)


@every("imported", ["", "import verale\n", "import verale; verale.Head\n"])
def test_notebooks_show_a_certificate_however_its_class_was_imported(imported, tmp_path):
    """Pages are loaded where one is shown, not before."""
    certificate().save(tmp_path / "a.ale.json")
    program = (
        "from verale.certificate import Certificate\n"
        f"{imported}"
        "import sys\n"
        "given = Certificate.load('a.ale.json')\n"
        "assert not any(name.startswith('verale.report') for name in sys.modules)\n"
        "print(given._repr_html_())\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "NOT AUDITED: class 0" in shown.stdout


def test_the_schema_is_valid_and_can_refuse():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    record = json.loads(priced().to_bytes())
    prices = {"rival": 0, "prototypes": [1], "prices": ["0x1p+0"]}
    for spoil in (
        lambda r: r["predicate"].update(paradigm="simplex"),
        lambda r: r["predicate"].update(hints={"prices": [prices | {"prototypes": [1, 1]}]}),
        lambda r: r.update(extra=1),
        lambda r: r["predicate"].update(paradigm="guess"),
        lambda r: r["predicate"]["statements"][0].update(patch=-1),
        lambda r: r["predicate"].update(claims=["instance"]),
        lambda r: r["subject"].reverse(),
    ):
        spoilt = json.loads(json.dumps(record))
        spoil(spoilt)
        assert not VALIDATOR.is_valid(spoilt)


@every(
    "build",
    [
        lambda: PatchStatement(-1, 0, 0.0, 1.0),
        lambda: PatchStatement(0, 0, 1.0, 0.0),
        lambda: ActivationStatement(0, float("nan"), 1.0),
        lambda: OrderStatement((1, 1), 0.0),
        lambda: ActivationStatement(0, -inf, inf),
        lambda: ActivationStatement(0, inf, inf),
        lambda: PatchStatement(0, 0, -inf, -inf),
        lambda: PatchStatement(0, 0, -inf, float("nan")),
        lambda: OrderStatement((), inf),
        lambda: FloorStatement((2, 1), 0.0),
        lambda: FloorStatement((), -inf),
        lambda: FloorStatement((-1,), 0.0),
        lambda: Prices(0, (2, 1), (1.0, 1.0)),
        lambda: Prices(0, (1, 2), (1.0,)),
        lambda: Prices(0, (1,), (0.0,)),
        lambda: Prices(-1, (), ()),
        lambda: dataclasses.replace(priced(), prices=(priced().prices[0],) * 2),
        lambda: dataclasses.replace(certificates()[0], head="abc"),
        lambda: dataclasses.replace(certificates()[0], margins=(None, 0.0, 1.0)),
        lambda: dataclasses.replace(certificates()[0], margins=(1.0, 1.0, 1.0)),
    ],
)
def test_a_record_that_claims_nothing_sound_cannot_be_built(build):
    with pytest.raises(CertificateError):
        build()


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"_type": "other"}', b"\xff", b'{"_type": "urn:verale:certificate:v1"}']
)
def test_what_is_no_certificate_is_refused_by_name(data, tmp_path):
    path = tmp_path / "c.ale.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"c\.ale\.json"):
        Certificate.load(path)


def test_a_certificate_is_three_lines_and_its_repr_is_short():
    for certificate in certificates():
        first, second, third = str(certificate).splitlines()
        assert first.startswith(f"Class {certificate.predicted} follows from {certificate.size} statement")
        assert first.endswith(f" (paradigm {certificate.paradigm}).")
        assert f"at least {below(certificate.margin, 4)} below it" in second and "verale.audit" in second
        assert f"Image of {certificate.patches} patches: its latents {certificate.latents[:12]}..." in third
        assert len(repr(certificate)) < 150 and f"size={certificate.size}, " in repr(certificate)


def test_a_file_cannot_print_what_it_likes():
    """Text of a certificate that was read is spelled with escapes, and cut."""
    (certificate, *_) = certificates()
    hostile = dataclasses.replace(
        certificate, paradigm="\x1b[2J\nPROVED" * 1000, latents=None, patches=1, minimal=False
    )
    for text in (str(hostile), repr(hostile)):
        assert "\x1b" not in text and text.count("\n") in (0, 2) and len(text) < 400
    assert "Image of 1 patch: no image is named; head " in str(hostile)
    alone = dataclasses.replace(certificate, predicted=0, margins=(None,))
    assert "No other class is named." in str(alone) and "margin=None" in repr(alone)


# Certificates of pictures: what they name and claim.


def test_a_certificate_of_a_picture_survives_its_file() -> None:
    given = certificate()
    document = json.loads(given.to_bytes())
    assert [each["name"] for each in document["subject"]] == ["head", "network", "picture"]
    assert document["predicate"]["claims"] == ["entailment", "picture", "minimality"]
    assert document["predicate"]["arithmetic"] == "real"
    assert Certificate.from_bytes(given.to_bytes()) == given
    assert "picture 333333333333..., by the network 222222222222..." in str(given)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"network": None}, "expected all or none"),
        ({"arithmetic": None}, "expected all or none"),
        ({"latents": "4" * 64}, "expected all or none"),
        ({"picture": "short"}, "the picture digest is 'short'"),
        ({"arithmetic": "float16"}, "arithmetic is 'float16', expected real or float32"),
    ],
)
def test_what_is_not_whole_is_refused(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(CertificateError, match=expected):
        certificate(**fields)


# What statements bound: each prototype and each pair once, whatever bounds it, on both sides of the wall.


@pytest.mark.parametrize("side", [written, read])
def test_each_kind_of_statement_bounds_what_it_says(side) -> None:
    patch, activation = side.PatchStatement(3, 1, 0.0, 1.0), side.ActivationStatement(2, 0.0, 1.0)
    ceiling, floor = side.OrderStatement((0, 2), 1.0), side.FloorStatement((0, 1, 2, 3), 1.0)
    for statements, expected in (
        ([], Bounded(0, 0)),
        ([patch], Bounded(1, 1)),
        ([activation], Bounded(1, 0)),
        ([ceiling], Bounded(3, 0)),
        ([floor], Bounded(1, 0)),
        ([patch, activation, ceiling, floor], Bounded(4, 1)),  # all but the first, each once
        ([side.SumStatement(None, 1.0)], Bounded(0, 0)),  # none of them one by one
    ):
        assert bounded(statements, 5, 4) == expected


def test_what_there_is_to_read_are_ends_and_names() -> None:
    interval, bound = written.ActivationStatement(2, 0.0, 1.0), written.ActivationStatement(3, 0.5, math.inf)
    patch, ceiling = written.PatchStatement(3, 1, 0.0, 1.0), written.OrderStatement((2, 3), 1.0)
    for statements, patches, numbers, why in (
        ([], 4, 0, ""),
        ([interval], 4, 3, ""),
        ([bound], 4, 2, ""),
        ([patch], 4, 4, ""),
        ([patch], 1, 3, "an image that is one patch has no names of them"),
        ([interval, bound, ceiling], 4, 6, "no other is above 1"),
        ([bound, ceiling], 4, 4, "no other is above 1, except perhaps 2"),
        ([written.FloorStatement(tuple(range(7)), 1.0)], 4, 3, "two prototypes are named"),
        ([written.SumStatement(None, 1.0)], 4, 2, ""),
        ([written.SumStatement((1, 2), 1.0)], 4, 4, "rivals that it lists are named too"),
    ):
        assert to_read(statements, 9, patches) == numbers, why


# What notebooks show of a certificate.


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
    for certificate in [each for each in certificates() if each.paradigm == "projection"]:
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
    (certificate, *_) = certificates()
    mixed = replace(certificate, statements=(*statements, FloorStatement((2,), -1.0)), paradigm="mixed", minimal=False)
    rows = Tags(mixed._repr_html_()).rows
    told = [statement(*row) for row in rows if row and row[0].startswith(("patch", "activation", "every"))]
    assert sorted(map(repr, told)) == sorted(map(repr, mixed.statements))
    assert "inf" not in mixed._repr_html_()


def test_what_a_file_may_hold_is_escaped():
    (certificate, *_) = certificates()
    text = replace(certificate, paradigm="<script>alert(1)</script>")._repr_html_()
    assert "<script" not in text and "&lt;script&gt;" in text
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
    assert repr(shown) == f"PROVED {scope}: class {head.labels[certificate.predicted]}"
    assert "Proved: The class is " in text
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
    for said in (
        "image (as given, which nothing checks): true class bee (as labelled)",
        "training patch: 0.png",
        "<img",
    ):
        assert said in text
    assert "<img" not in verale.show(file)._repr_html_(), "an image that nothing binds is not taken by itself"
