"""What rejected cases claim is false, beyond the reference argument, or malformed: judged without the checker."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from math import nextafter

import flint
import pytest
from support import files
from support.arithmetic import PRECISION
from support.claims import Claim
from support.files import read_latents
from support.truth import breaks, holds, is_needless

from verale.checker import Auditor, Status
from verale.soundness.corpus.cases import BEYOND, FALSE, INSTANCE, MALFORMED, SUBJECT, Case, stored

CASES = {case.name: case for case in stored()}
REJECTED = [case for case in CASES.values() if case.mark]
BROKEN = [case for case in REJECTED if case.breaks is not None]


def holds_if(case: Case, mark: str, breaks: bytes | None = None, claim: str | None = None, why: str = "") -> bool:
    """Whether another mark holds of a case."""
    return holds(replace(case, mark=mark, breaks=breaks, claim=claim, dropped=None, why=why))


def test_every_rejected_case_has_a_mark_and_no_other() -> None:
    assert {case.name for case in REJECTED} == {name for name in CASES if name.startswith("reject/")}
    marks = Counter(case.mark for case in REJECTED)
    assert set(marks) == {FALSE, BEYOND, MALFORMED}
    assert marks[FALSE] > 2 * marks[BEYOND]
    for case in REJECTED:
        shown = [part for part in (case.breaks, case.claim, case.dropped) if part is not None]
        assert len(shown) == (case.mark == FALSE), case.name
        assert bool(case.why) == (case.mark == BEYOND), case.name
        assert (case.mark == MALFORMED) == (case.status == "MALFORMED"), case.name


BY_HAND = "reject/not-minimal-clause-apart"
"""An activation of -1/4 or more, and a ceiling of -1/2 that does not exempt it: what contradicts itself entails all."""


def test_every_mark_holds(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    assert [case.name for case in REJECTED if not holds(case)] == [BY_HAND]


def test_a_verdict_may_differ_where_a_case_is_beyond_the_reference_argument_alone() -> None:
    for case in CASES.values():
        assert case.allows(case.expected)
        assert not case.allows(("INPUT_ERROR", "")) and not case.allows(("NOT_PROVED", ""))
        if case.status != "PROVED":
            assert case.allows(("PROVED", "")) == (case.mark == BEYOND), case.name


@pytest.mark.parametrize("one_in", [16, pytest.param(1, marks=pytest.mark.long)])
def test_latents_that_break_a_claim_of_a_positive_margin_are_witnesses(one_in: int) -> None:
    """The checker, asked about the latents, says so too where the rival wins by them."""
    refuted = 0
    for case in BROKEN[::one_in]:
        latents = files.given(case.breaks)
        with flint.ctx.workprec(PRECISION):
            claim = Claim.read(case.certificate, case.head, None)
            wins = any(bool(gap <= 0) for gap, _ in claim.gaps(read_latents(latents)[0]))
        verdict = Auditor(case.head).refute(case.certificate, latents)
        assert (verdict.status is Status.REFUTED) == wins, case.name
        assert verdict.reason in ("refuted", "witness"), case.name
        refuted += wins
    assert refuted >= 40 / one_in


def test_every_accepted_case_with_statements_about_an_image_has_a_false_twin() -> None:
    """The same claim with a margin that some latents break."""
    false = {case.name for case in BROKEN}
    for name, case in CASES.items():
        if name.startswith("accept/") and case.latents is not None and b'"interval"' in case.certificate:
            own = name.removeprefix("accept/")
            assert {f"reject/margin-broken-{own}", f"reject/margin-raised-{own}"} & false, name


@pytest.mark.parametrize("one_in", [4, pytest.param(1, marks=pytest.mark.long)])
def test_the_latents_of_a_false_twin_break_no_accepted_case(one_in: int) -> None:
    """They satisfy its statements, and leave at least its margins."""
    twins = [case for case in BROKEN if case.name.startswith("reject/margin-broken-")]
    assert len(twins) > 100
    for case in twins[::one_in]:
        twin = case.name.partition("-broken-")[2]
        accepted, latents = CASES[f"accept/{twin}"], files.given(case.breaks)
        with flint.ctx.workprec(PRECISION):
            assert Claim.read(accepted.certificate, accepted.head, None).satisfied(read_latents(latents)[0]), twin
        assert not breaks(accepted.certificate, accepted.head, latents), twin


# That the judges can say no.


def moved(case: Case, by: float) -> Case:
    """The case with every coordinate of the latents that break it moved."""
    (image,) = read_latents(files.given(case.breaks))
    return replace(case, breaks=files.latents([[[x + by for x in z] for z in image]]))


def has_open_ends(case: Case) -> bool:
    statements = json.loads(case.certificate)["predicate"]["statements"]
    return any("interval" not in s or None in s["interval"] for s in statements)


def test_moved_latents_break_nothing() -> None:
    """But where nothing is stated, or so widely, or on one side alone, that they still comply."""
    closed = [case for case in BROKEN if not has_open_ends(case)]
    unmoved = [case.name for case in closed if holds(moved(case, 0.125))]
    assert len(closed) > len(BROKEN) / 2 and len(unmoved) < len(closed) / 3
    for name in ("margin-broken-projection-euclidean", "margin-broken-projection-inner_product", "banks-exchanged"):
        case = CASES[f"reject/{name}"]
        assert holds(case)
        assert not holds(moved(case, 2.0**-50)), name


def test_one_binary64_decides_whether_a_margin_is_broken() -> None:
    """At a difference of logits that is a binary64 itself: as a margin it is kept, and the next one is broken."""
    case = CASES["reject/margin-raised-needed-at-a-tie"]
    assert holds(case)
    margin = (15.0).hex().encode()
    above = nextafter(15.0, 16.0).hex().encode()
    assert case.certificate.count(above) == 1
    assert not holds(replace(case, certificate=case.certificate.replace(above, margin)))


def test_a_mark_of_another_kind_does_not_hold() -> None:
    accepted = CASES["accept/projection-euclidean"]
    own = files.latents([files.given(Claim.read(accepted.certificate, accepted.head, accepted.latents).image)])
    assert not holds_if(accepted, FALSE, breaks=own)
    assert not holds_if(accepted, FALSE, claim=INSTANCE)
    assert not holds_if(accepted, FALSE, claim=SUBJECT)
    assert not any(holds_if(accepted, mark) for mark in (MALFORMED, FALSE, BEYOND))
    assert holds_if(accepted, BEYOND, why="It is true.")
    assert not holds_if(CASES["reject/outside-the-box"], BEYOND, why="It is false of its image.")
    assert not holds_if(CASES["reject/bias-forgotten"], BEYOND, why="Its image breaks it.")
    assert not holds_if(CASES["reject/another-head"], BEYOND, why="It is about another head.")
    assert not holds_if(CASES["reject/margin-zero"], BEYOND, why="It is malformed.")


@pytest.mark.parametrize(
    ("name", "needed"),
    [("not-minimal-clause", 0), ("not-minimal-assignment", 0), ("not-minimal-assignment-stated", 1)],
)
def test_a_statement_that_is_needed_cannot_be_dropped(
    name: str, needed: int, proved_checker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    case = CASES[f"reject/{name}"]
    assert not any(is_needless(case.certificate, case.head, needed, kernel) for kernel in ("arb", "proved"))


# Witnesses.


def test_witnesses_refute_what_they_satisfy_and_a_rival_wins() -> None:
    """Judged without the checker, whose verdict each case has."""
    counts: Counter[str] = Counter()
    for case in CASES.values():
        if case.witness is None or case.reason not in ("refuted", "witness", "instance"):
            continue
        with flint.ctx.workprec(PRECISION):
            claim = Claim.read(case.certificate, case.head, None)
            (image,) = read_latents(case.witness)
            complies = claim.satisfied(image)
            wins = complies and any(bool(gap <= 0) for gap, _ in claim.gaps(image))
        assert (complies, wins) == (case.reason != "instance", case.reason == "refuted"), case.name
        counts[case.reason] += 1
    assert counts["refuted"] >= 15 and counts["witness"] >= 2 and counts["instance"] >= 3
