"""Origins files: what they state exactly, and who is asked of which origins."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from verale.checker import Auditor
from verale.checker.errors import UnprovedError
from verale.checker.origins import Origin, judge_origins, read_origins
from verale.soundness.corpus.cases import Case, stored

CASES = {case.name.removeprefix("origins/"): case for case in stored("origins")}
FOUR, HALF = CASES["euclidean"], CASES["half-the-distance"]


def auditor(case: Case, kernel: str = "arb", **changes: object) -> Auditor:
    return Auditor(case.head, None, kernel, **{"network": case.network, "pictures": case.pictures, **changes})  # type: ignore[arg-type]


def test_a_distance_is_stated_exactly_as_its_square() -> None:
    statement = Origin(3, "0" * 64, 5, distance=Fraction(1, 3)).statement
    assert (statement.patch, statement.prototype) == (5, 3)
    assert (statement.lower, statement.upper) == (None, Fraction(1, 9))


def test_a_cosine_is_a_lower_end() -> None:
    statement = Origin(3, "0" * 64, 5, cosine=Fraction(-1, 3)).statement
    assert (statement.lower, statement.upper) == (Fraction(-1, 3), None)


def test_origins_are_judged_one_by_one_where_not_all_are_proved() -> None:
    judged = judge_origins(auditor(HALF), HALF.certificate)
    assert [(each.status.value, each.reason, each.by) for each in judged] == [
        ("PROVED", "", "arb"),
        ("NOT_PROVED", "picture", ""),
    ]
    assert judged[0].message == "" and "statement 0 (patch 3, prototype 2)" in judged[1].message


def test_origins_of_a_picture_are_asked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    pictured = Auditor.pictured

    def counted(self: Auditor, certificate, size):  # type: ignore[no-untyped-def]
        asked.append(len(certificate.statements))
        return pictured(self, certificate, size)

    monkeypatch.setattr(Auditor, "pictured", counted)
    judged = judge_origins(auditor(FOUR), FOUR.certificate)
    assert [each.origin.prototype for each in judged] == [0, 1, 2, 3]
    assert {each.exit_code for each in judged} == {0}
    assert sorted(asked) == [1, 1, 2]


@pytest.mark.parametrize(("kernel", "by"), [("both", "both"), ("all", "all"), ("proved", "proved")])
def test_who_proves_is_said(kernel: str, by: str) -> None:
    assert {each.by for each in judge_origins(auditor(FOUR, kernel), FOUR.certificate)} == {by}


def test_by_default_what_the_program_does_not_prove_is_asked_of_arb(monkeypatch: pytest.MonkeyPatch) -> None:
    from verale.checker.proved.claims import ProvedClaims

    monkeypatch.setattr(ProvedClaims, "holds", lambda self, certificate, seen: False)
    judged = judge_origins(auditor(FOUR, "proved-or-arb"), FOUR.certificate)
    assert {(each.by, each.exit_code) for each in judged} == {("arb", 0)}
    judged = judge_origins(auditor(FOUR, "proved"), FOUR.certificate)
    assert {(each.by, each.reason) for each in judged} == {("", "picture")}


def test_without_a_network_nothing_is_proved() -> None:
    with pytest.raises(UnprovedError, match="no network is given") as caught:
        judge_origins(Auditor(FOUR.head, None, "arb"), FOUR.certificate)
    assert caught.value.reason == "subject"


@pytest.mark.parametrize("kernel", ["arb", "proved"])
def test_the_claim_picture_is_not_proved_of_no_picture(kernel: str) -> None:
    """Of a certificate that is asked without network."""
    from dataclasses import replace

    from verale.checker.certificate import Certificate

    document = read_origins(FOUR.certificate)
    ends = (None, Fraction(1)), ("entailment",)
    certificate = Certificate(document.head, None, 0, "projection", 4, (document.origins[0].statement,), *ends)
    alone = Auditor(FOUR.head, None, kernel)
    for each in (certificate, replace(certificate, patches=5)):
        verdict = alone.pictured(each, 100)
        assert (verdict.status.value, verdict.reason, verdict.by) == ("NOT_PROVED", "subject", {})


def test_a_mask_that_needs_more_patches_is_not_passed_over() -> None:
    """The head's mask has more columns than the network has patches."""
    from support import files

    mask = [[1.0] * 5] * 4
    weight = json.loads("[[1.0, 1.0, 1.0, 1.0], [-1.0, -1.0, -1.0, -1.0]]")
    masked = files.head(weight, [[0.25, 0.75]] * 4, mask=mask, pooling={"kind": "masked_max"})
    import hashlib

    document = json.loads(FOUR.certificate) | {"head": hashlib.sha256(masked).hexdigest()}
    changed = Auditor(masked, None, "arb", network=FOUR.network, pictures=FOUR.pictures)
    judged = judge_origins(changed, json.dumps(document).encode())
    assert {(each.status.value, each.by) for each in judged} == {("MALFORMED", "")}
