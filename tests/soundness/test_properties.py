"""Every property holds on a few examples, and fails for a checker that it should catch."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from attacks import properties
from attacks.properties import PROPERTIES, RECIPES, Property, try_property
from hypothesis import strategies as st

from verale.certificate import Certificate
from verale.checker import Auditor, Status, Verdict

BY_NAME = {one.says: one for one in PROPERTIES}


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


@pytest.mark.parametrize("one", PROPERTIES, ids=lambda one: one.says)
def test_it_holds(one: Property) -> None:
    tried = try_property(one, 30)
    assert tried.failure == ""
    assert tried.examples == 30
    assert tried.outcomes.total() == 30


class Credulous(Auditor):
    """Reports margins a millionth too great, and proves certificates without a margin."""

    def check(self, *arguments: Any, **options: Any) -> Verdict:
        verdict = super().check(*arguments, **options)
        margins = tuple(None if m is None else m + abs(m) / 10**6 for m in verdict.margins)
        proved = verdict.reason in ("", "entailment", "margin")
        status, reason = (Status.PROVED, "") if proved else (verdict.status, verdict.reason)
        return dataclasses.replace(verdict, status=status, reason=reason, margins=margins)


class Fussy(Auditor):
    """Depends on how a certificate is written: on its first statement, and on the size of its intervals."""

    def check(self, certificate: bytes, *arguments: Any, **options: Any) -> Verdict:
        verdict = super().check(certificate, *arguments, **options)
        first = json.loads(certificate)["predicate"]["statements"][0]
        ends = [abs(float.fromhex(end)) for end in first.get("interval", ()) if end is not None]
        if first.get("prototype", 0) == 0 or max(ends, default=1.0) > 2.0**9:
            return dataclasses.replace(verdict, status=Status.NOT_PROVED, reason="margin")
        return verdict


@pytest.mark.parametrize(
    ("says", "auditor"),
    [
        ("what the rules prove, the proved program proves", Credulous),
        ("what two classes share proves neither", Credulous),
        ("the order of statements is free", Fussy),
        ("so are the names of prototypes", Fussy),
        ("so is the unit of length", Fussy),
    ],
)
def test_a_wrong_checker_is_caught(says: str, auditor: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "Auditor", auditor)
    one = BY_NAME[says]
    fewer = {"recipe": st.just(RECIPES[0]), "number": st.integers(0, 3)}
    strategies = {name: fewer.get(name, strategy) for name, strategy in one.strategies.items()}
    one = dataclasses.replace(one, strategies=strategies)
    tried = try_property(one, 200, shrunk=False)
    assert tried.failure.startswith("AssertionError"), tried


def test_a_certificate_that_forgets_a_field_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Certificate.to_bytes
    monkeypatch.setattr(Certificate, "to_bytes", lambda self: whole(dataclasses.replace(self, minimal=False)))
    assert "read as" in try_property(BY_NAME["a certificate survives its file"], 60, shrunk=False).failure


def test_a_property_without_the_outcome_that_it_needs_fails() -> None:
    vacuous = dataclasses.replace(BY_NAME["so is the unit of length"], shows="never")
    assert "nothing was tried" in try_property(vacuous, 5).failure
