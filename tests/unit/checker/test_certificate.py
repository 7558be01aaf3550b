"""The certificate: what is read; tests/corpus/test_messages.py has what is refused, and the words."""

from __future__ import annotations

import pickle
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest
from support import files

from verale.checker import certificate
from verale.checker.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    read_certificate,
)
from verale.checker.errors import FormatError
from verale.checker.head import read_head

HEAD = files.head([[1.0] * 4, [0.0] * 4, [0.5] * 4], [[0.5, 0.25]] * 4)
IMAGE = [[0.5, 0.5], [0.25, 0.75]]
STATEMENTS = [
    files.patch_statement(0, 3, 0.0, 0.5),
    files.patch_statement(1, 3, -0.25, -0.25),
    files.patch_statement(0, 1, 1.0, 2.0),
]


def document(statements: Any = STATEMENTS, **options: Any) -> dict[str, Any]:
    return files.document(HEAD, deepcopy(statements), predicted=1, classes=3, patches=2, image=IMAGE, **options)


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
