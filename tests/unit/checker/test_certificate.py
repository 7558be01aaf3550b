"""The certificate: the reject rules of certificates/v1.md, steps 2 and 4."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest
from support import files
from support.cases import every

from verale.checker import certificate
from verale.checker.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    read_certificate,
)
from verale.checker.errors import FormatError
from verale.checker.head import read_head

HEAD = files.head([[1.0] * 4, [0.0] * 4, [0.5] * 4], [[0.5, 0.25]] * 4)
SOFTMAX = files.head([[1.0] * 4, [0.0] * 4, [0.5] * 4], geometry=files.SOFTMAX, similarity=files.IDENTITY)
IMAGE = [[0.5, 0.5], [0.25, 0.75]]
STATEMENTS = [
    files.patch_statement(0, 3, 0.0, 0.5),
    files.patch_statement(1, 3, -0.25, -0.25),
    files.patch_statement(0, 1, 1.0, 2.0),
]


def document(statements: Any = STATEMENTS, **options: Any) -> dict[str, Any]:
    return files.document(HEAD, deepcopy(statements), predicted=1, classes=3, patches=2, image=IMAGE, **options)


def edited(edit: Callable[[Any], Any], **options: Any) -> dict[str, Any]:
    value = document(**options)
    edit(value)
    return value


def put(*path: Any) -> Callable[[Any], None]:
    """An edit that sets what the path, all but its last element, leads to."""
    *way, name, value = path

    def edit(target: Any) -> None:
        for step in way:
            target = target[step]
        target[name] = value

    return edit


P = "predicate"


def test_reads_a_certificate() -> None:
    certificate = read_certificate(
        files.encode(document(minimality=True) | {"extensions": {"any": [1, "thing", None]}})
    )
    assert (certificate.predicted, certificate.paradigm, certificate.patches) == (1, "projection", 2)
    assert certificate.claims == ("entailment", "instance", "minimality")
    assert certificate.latents == files.digest(IMAGE)
    assert certificate.statements[1] == PatchStatement(1, 3, -Fraction(1, 4), -Fraction(1, 4))
    assert certificate.margins[1] is None
    certificate.check_against(read_head(HEAD))


def test_reads_the_forms_of_top_k() -> None:
    statements = [files.activation_statement(2, 0.5, 1.0), files.order_clause([0, 2], 0.25), files.floor([1], 0.5)]
    certificate = read_certificate(files.encode(document(statements, paradigm="top_k")))
    half, quarter, one = Fraction(1, 2), Fraction(1, 4), Fraction(1)
    expected = (ActivationStatement(2, half, one), OrderStatement((0, 2), quarter), FloorStatement((1,), half))
    assert certificate.statements == expected
    certificate.check_against(read_head(HEAD))


@pytest.mark.parametrize(
    ("statements", "paradigm", "expected"),
    [
        ([files.patch_statement(1, 2, None, 1.0)], "projection", PatchStatement(1, 2, None, Fraction(1))),
        ([files.patch_statement(1, 2, 0.5, None)], "projection", PatchStatement(1, 2, Fraction(1, 2), None)),
        ([files.activation_statement(2, None, 1.0)], "top_k", ActivationStatement(2, None, Fraction(1))),
        ([files.activation_statement(2, 0.5, None)], "top_k", ActivationStatement(2, Fraction(1, 2), None)),
    ],
)
def test_reads_statements_with_one_end(statements: list[Any], paradigm: str, expected: Statement) -> None:
    certificate = read_certificate(files.encode(document(statements, paradigm=paradigm)))
    assert certificate.statements == (expected,)
    certificate.check_against(read_head(HEAD))


def prices(rival: Any = 0, prototypes: Any = (1, 3), values: Any = ("0x1p-3", "0x1p-4")) -> dict[str, Any]:
    return {"rival": rival, "prototypes": list(prototypes), "prices": list(values)}


def priced(*entries: Any) -> Callable[[Any], None]:
    """An edit that makes it a certificate of `assignment` with prices."""

    def edit(target: Any) -> None:
        target[P].update(paradigm="assignment", hints={"prices": list(entries)})

    return edit


def test_reads_prices() -> None:
    certificate = read_certificate(files.encode(edited(priced(prices(), prices(2, [], [])))))
    assert certificate.prices == {0: {1: Fraction(1, 8), 3: Fraction(1, 16)}, 2: {}}
    certificate.check_against(read_head(SOFTMAX))
    assert read_certificate(files.encode(edited(put(P, "paradigm", "assignment")))).prices == {}


STEP_1: dict[str, tuple[Callable[[Any], Any], str]] = {
    "the head twice": (put("subject", 1, "name", "head"), "has the name 'head', expected 'latents'"),
    "another hint of assignment": (
        lambda d: d[P].update(paradigm="assignment", hints={"multipliers": []}),
        "hints has the unknown field",
    ),
}


@every("name", STEP_1)
def test_reading_refuses(name: str) -> None:
    edit, fault = STEP_1[name]
    with pytest.raises(FormatError, match=fault):
        read_certificate(files.encode(edited(edit)))


INNER = {"geometry": {"kind": "inner_product", "radius": None}, "similarity": files.IDENTITY}


@pytest.mark.parametrize("paradigm", ["projection", "triangle", "top_k"])
def test_what_is_defined_for_inner_products(paradigm: str) -> None:
    head = read_head(files.head([[1.0] * 4] * 3, [[0.5]] * 4, **INNER))
    read_certificate(files.encode(document([], paradigm=paradigm))).check_against(head)


def test_statements_name_themselves() -> None:
    one = Fraction(1)
    assert [
        str(s)
        for s in (
            PatchStatement(1, 2, one, one),
            ActivationStatement(2, one, one),
            OrderStatement((1, 2), one),
            FloorStatement((1,), one),
        )
    ] == [
        "patch 1, prototype 2",
        "prototype 2",
        "ceiling, all but 2 prototypes",
        "floor, all but 1 prototypes",
    ]


def test_a_document_is_read_once_and_by_each_process_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def counted(data: bytes) -> certificate.Certificate:
        read.append(bytes(data))
        return true(data)

    true = certificate._read
    monkeypatch.setattr(certificate, "_read", counted)
    data = files.encode(document(STATEMENTS))
    once = certificate.Document(data)
    assert certificate.read_certificate(once) is certificate.read_certificate(once)
    assert certificate.read_certificate(once) == certificate.read_certificate(data) and read == [data, data]
    elsewhere = pickle.loads(pickle.dumps(once))
    assert elsewhere == data and not vars(elsewhere)
    for _ in range(2):
        with pytest.raises(FormatError):
            certificate.read_certificate(certificate.Document(b"{"))
