"""Minimality with the kernel `proved`: what the corpora say of it, and statements that say nothing."""

from __future__ import annotations

import json

import pytest
from support import files

from verale.checker import Auditor, Status, Verdict
from verale.checker.head import read_head
from verale.soundness.corpus.cases import Case, stored

MISSED = {
    "accept/projection-euclidean-unbounded-banks-open",  # a point that floats do not find
    "accept/joint-one-of-three",  # entailment is missed, by bits
    "accept/joint-needed-at-a-tie",
}
"""Cases that it may miss: what floats find costs a proof, never soundness."""


def claimed(folder: str) -> list[Case]:
    """The cases of a folder that claim minimality."""
    cases = [case for case in stored() if case.name.startswith(folder) and case.deployment is None]
    return [case for case in cases if b'"minimality"' in case.certificate]


@pytest.fixture(autouse=True)
def executable(proved_checker, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


def verdict_of(case: Case, certificate: bytes | None = None) -> Verdict:
    given = case.certificate if certificate is None else certificate
    return Auditor(case.head, case.latents, "proved").check(given, minimality=True)


def test_minimality_is_proved_where_it_is_accepted() -> None:
    cases = [case for case in claimed("accept/") if case.status == "PROVED"]
    verdicts = {case.name: verdict_of(case) for case in cases}
    proved = {name for name, verdict in verdicts.items() if verdict.claims["minimality"] == "proved"}
    assert {case.name for case in cases} - proved <= MISSED
    paradigms = {json.loads(case.certificate)["predicate"]["paradigm"] for case in cases if case.name in proved}
    assert paradigms == {"top_k", "sparse", "evidence", "simplex", "assignment", "joint", "projection"}


def test_minimality_that_is_false_is_not_proved() -> None:
    cases = [case for case in claimed("reject/") if case.reason == "minimality"]
    said = {case.name: verdict_of(case) for case in cases}
    assert len(said) > 15 and all(verdict.claims["minimality"] == "not checked" for verdict in said.values())
    assert {verdict.status for verdict in said.values()} == {Status.NOT_PROVED}
    assert {verdict.reason for verdict in said.values()} <= {"minimality", "margin"}


def more(case: Case) -> bytes | None:
    """The certificate with a statement more, which says nothing; None where there is no place for one."""
    document = json.loads(case.certificate)
    stated = document["predicate"]["statements"]
    count = read_head(case.head).count
    if not stated:
        return None
    if "patch" in stated[0]:
        free = sorted({*range(count)} - {s["prototype"] for s in stated if s["patch"] == stated[0]["patch"]})
        if not free:
            return None
        nothing = {"patch": stated[0]["patch"], "prototype": free[0], "interval": [(-(2.0**10)).hex(), (2.0**10).hex()]}
    elif any("lower" in s for s in stated) or document["predicate"]["paradigm"] == "sparse":
        return None
    else:
        nothing = {"except": [], "lower": (-(2.0**10)).hex()}
    stated.append(nothing)
    return json.dumps(document).encode()


@pytest.mark.parametrize("one_in", [5, pytest.param(1, marks=pytest.mark.long)])
def test_a_statement_that_says_nothing_is_not_needed(one_in) -> None:
    named = 0
    for case in [case for case in claimed("accept/") if case.status == "PROVED" and case.name not in MISSED][::one_in]:
        certificate = more(case)
        if certificate is None:
            continue
        verdict = verdict_of(case, certificate)
        assert verdict.status is Status.NOT_PROVED and verdict.claims["minimality"] == "not checked", case.name
        last = len(json.loads(certificate)["predicate"]["statements"]) - 1
        named += verdict.message.startswith(f"statement {last} (")  # of a few, floats miss more: the interval is wide
    assert named > 10


def test_statements_that_contradict_each_other_need_none() -> None:
    """No latents satisfy the others: then nothing is needed, however small the margins seem."""
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]], domain=files.domain(0.0, 1.0))
    apart = [files.patch_statement(0, 0, 0.0, 0.0), files.patch_statement(0, 1, 0.0, 0.0)]
    elsewhere = files.patch_statement(1, 0, 0.0, 0.25)
    certificate = files.certificate(head, [*apart, elsewhere], patches=2, margins=[None, 2.0**-40], minimality=True)
    verdict = Auditor(head, None, "proved").check(certificate, minimality=True)
    assert verdict.status is Status.NOT_PROVED and verdict.claims["minimality"] == "not checked"


def test_what_is_needed_of_one_certificate_is_not_taken_for_another(proved_checker, monkeypatch) -> None:
    """The program keeps what it found of the last one."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    needed, spare = files.patch_statement(0, 0, 0.0, 2.0**-40), files.patch_statement(0, 1, 1.9, 2.0)
    auditor = Auditor(head, None, "proved")

    def said(*statements) -> str:
        data = files.certificate(head, [*statements], margins=[None, 0.5], minimality=True)
        return auditor.check(data, minimality=True, entailment_only=True).message

    assert said(needed) == "every claim that was checked is proved"
    assert said(spare, needed).startswith("statement 0 ")
    assert said(needed, spare).startswith("statement 1 ")
    assert said(needed) == "every claim that was checked is proved"
