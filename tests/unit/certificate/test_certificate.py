"""The record checks itself, follows the schema, and survives its encoding."""

from __future__ import annotations

import dataclasses
import json
import math
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.cases import every
from support.small import GEOMETRIES, small_head, small_latents

import verale.certificate.statements as written
import verale.checker.certificate as read
from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Prices,
    SumStatement,
)
from verale.certificate.statements import Bounded, bounded, statement_of, to_read
from verale.certificate.words import below
from verale.errors import CertificateError, InputError
from verale.search import best_paradigm
from verale.search.explain import explain

SCHEMA = json.loads((Path(__file__).parents[3] / "certificates" / "v1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@cache
def certificates() -> tuple[Certificate, ...]:
    emitted: list[Certificate] = []
    for geometry in GEOMETRIES:
        head = small_head(geometry)
        for paradigm in (best_paradigm(head), "top_k"):
            emitted += [c for c in explain(head, small_latents(head), paradigm) if isinstance(c, Certificate)]
    for paradigm in ("simplex", "sparse"):  # the last head is a softmax one
        emitted += [c for c in explain(head, small_latents(head), paradigm) if isinstance(c, Certificate)]
    return tuple(emitted)


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


@pytest.mark.parametrize(
    ("statement", "form"),
    [
        (PatchStatement(1, 2, -inf, 0.5), {"patch": 1, "prototype": 2, "interval": [None, "0x1.0000000000000p-1"]}),
        (PatchStatement(1, 2, 0.5, inf), {"patch": 1, "prototype": 2, "interval": ["0x1.0000000000000p-1", None]}),
        (ActivationStatement(2, -inf, 0.5), {"prototype": 2, "interval": [None, "0x1.0000000000000p-1"]}),
        (ActivationStatement(2, 0.5, inf), {"prototype": 2, "interval": ["0x1.0000000000000p-1", None]}),
        (OrderStatement((0, 3), 0.5), {"except": [0, 3], "upper": "0x1.0000000000000p-1"}),
        (FloorStatement((0, 3), 0.5), {"except": [0, 3], "lower": "0x1.0000000000000p-1"}),
        (SumStatement(None, 0.5), {"rivals": None, "upper": "0x1.0000000000000p-1"}),
        (SumStatement((0, 3), 0.5), {"rivals": [0, 3], "upper": "0x1.0000000000000p-1"}),
    ],
)
def test_one_side_of_a_statement_may_have_no_bound(statement, form):
    assert statement.to_json() == form
    assert statement_of(form) == statement


@pytest.mark.parametrize(
    "form",
    [
        {"prototype": 2, "interval": [None, None]},
        {"patch": 1, "prototype": 2, "interval": [None, None]},
        {"prototype": 2, "interval": ["inf", None]},
        {"prototype": 2, "interval": ["-inf", "0x1p+0"]},
        {"prototype": 2, "interval": ["0x1p+0", "0x1p+0", None]},
        {"prototype": 2, "interval": [None, "-inf"]},
        {"except": [0], "lower": "0x1p+0", "upper": "0x1p+0"},
        {"except": [0]},
        {"except": [0], "lower": None},
        {"rivals": None},
        {"rivals": None, "upper": None},
        {"rivals": None, "upper": "inf"},
        {"rivals": None, "upper": "-0x1p+0"},
        {"rivals": [], "upper": "0x1p+0"},
        {"rivals": [2, 1], "upper": "0x1p+0"},
        {"rivals": [-1], "upper": "0x1p+0"},
    ],
)
def test_a_statement_without_a_bound_is_malformed(form):
    with pytest.raises((CertificateError, KeyError, ValueError, TypeError)):
        statement_of(form)


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


def certificate(**fields: Any) -> Certificate:
    given: dict[str, Any] = {
        "head": "1" * 64,
        "latents": None,
        "network": "2" * 64,
        "picture": "3" * 64,
        "arithmetic": "real",
        "predicted": 0,
        "paradigm": "top_k",
        "patches": 4,
        "statements": (ActivationStatement(0, 0.5, 1.0),),
        "margins": (None, 0.25),
        "minimal": True,
        "version": "0.1.0",
    }
    return Certificate(**(given | fields))


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
    assert bounded([], 5, 4) == Bounded(0, 0)
    assert bounded([patch], 5, 4) == Bounded(1, 1)
    assert bounded([activation], 5, 4) == Bounded(1, 0)
    assert bounded([ceiling], 5, 4) == Bounded(3, 0), "all but two"
    assert bounded([floor], 5, 4) == Bounded(1, 0)
    assert bounded([patch, activation, ceiling, floor], 5, 4) == Bounded(4, 1), "all but the first, each once"
    assert bounded([side.SumStatement(None, 1.0)], 5, 4) == Bounded(0, 0), "none of them one by one"


def test_what_there_is_to_read_are_ends_and_names() -> None:
    interval, bound = written.ActivationStatement(2, 0.0, 1.0), written.ActivationStatement(3, 0.5, math.inf)
    patch = written.PatchStatement(3, 1, 0.0, 1.0)
    assert to_read([], 9, 4) == 0
    assert to_read([interval], 9, 4) == 3 and to_read([bound], 9, 4) == 2
    assert to_read([patch], 9, 4) == 4 and to_read([patch], 9, 1) == 3, (
        "an image that is one patch has no names of them"
    )
    assert to_read([interval, bound, written.OrderStatement((2, 3), 1.0)], 9, 4) == 6, "no other is above 1"
    assert to_read([bound, written.OrderStatement((2, 3), 1.0)], 9, 4) == 4, "no other is above 1, except perhaps 2"
    assert to_read([written.FloorStatement(tuple(range(7)), 1.0)], 9, 4) == 3, "two prototypes are named"
    assert to_read([written.SumStatement(None, 1.0)], 9, 4) == 2
    assert to_read([written.SumStatement((1, 2), 1.0)], 9, 4) == 4, "rivals that it lists are named too"
