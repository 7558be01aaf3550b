"""The rules prove no mutant that the proved program does not, and no mutant raises anything but an input error."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from attacks.mutated import HARMLESS, attacked
from support.mutants import mutants_of

from verale.checker import Auditor, Status, Verdict
from verale.soundness.corpus.cases import accepted, stored
from verale.soundness.paths import CERTIFICATES


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


MOST_UNPROVED = 0.02

VERDICTS = {
    ("PROVED", ""),
    ("PROVED", "unclaimed"),
    *(("NOT_PROVED", reason) for reason in ("subject", "instance", "entailment", "margin", "minimality")),
    ("REFUTED", "refuted"),
    ("MALFORMED", "malformed"),
    ("INPUT_ERROR", "head"),
    ("INPUT_ERROR", "latents"),
}


@pytest.mark.parametrize(
    ("cases_one_in", "one_in"),
    [(11, 12), pytest.param(4, 36, marks=pytest.mark.long)],
)
def test_no_mutant_with_a_false_claim_is_proved(cases_one_in: int, one_in: int) -> None:
    tally = attacked(one_in, 40, cases=accepted()[::cases_one_in])
    assert tally.wrong == []
    assert tally.verdicts.total() >= 40_000 / cases_one_in / one_in
    assert tally.redropped > 200 / cases_one_in / one_in
    # Every mutant gets a verdict or an input error, and every verdict occurs.
    assert set(tally.verdicts) == VERDICTS
    assert tally.unproved < MOST_UNPROVED
    assert set(tally.harmless) <= set(HARMLESS)


def test_mutants_of_a_case_that_is_not_accepted_are_refused() -> None:
    cases = [case for case in stored() if case.status == "NOT_PROVED"]
    with pytest.raises(ValueError, match=f"{cases[0].name} is NOT_PROVED, expected an accepted case"):
        next(mutants_of(cases))


def test_harmless_changes_are_those_that_are_explained() -> None:
    section = re.search(r"## Harmless changes\n(.*?)(\n## |\Z)", (CERTIFICATES / "README.md").read_text(), re.DOTALL)
    assert section is not None
    assert re.findall(r"^- \*\*(.*?)\*\*", section[1], re.MULTILINE) == list(HARMLESS)


@pytest.mark.parametrize("skipped", ["subject", "instance", "entailment", "margin", "minimality"])
def test_a_checker_that_leaves_out_a_step_is_caught(skipped: str) -> None:
    """A checker that proves whatever the true one rejects for one reason proves a false claim."""

    class Lenient(Auditor):
        def check(self, *arguments: Any, **options: Any) -> Verdict:
            verdict = super().check(*arguments, **options)
            return (
                dataclasses.replace(verdict, status=Status.PROVED, reason="") if verdict.reason == skipped else verdict
            )

    names = {"accept/projection-euclidean", "accept/simplex-softmax"}
    cases = [case for case in accepted() if case.name in names]
    tally = attacked(1, 1, Lenient, cases, most=3)
    assert tally.wrong != [] or tally.unproved > MOST_UNPROVED
