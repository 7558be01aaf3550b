"""No mutant with a false claim is proved, and no mutant raises anything but an input error."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from typing import Any

import pytest

from verale.checker import Auditor, Status, Verdict
from verale.soundness.corpus.attack import VERDICTS, Tally, attacked
from verale.soundness.corpus.cases import stored
from verale.soundness.corpus.judge import HARMLESS
from verale.soundness.paths import CERTIFICATES

ONE_IN = 4


@cache
def tally() -> Tally:
    return attacked(ONE_IN, 40)


def test_no_mutant_with_a_false_claim_is_proved() -> None:
    assert tally().wrong == []
    assert tally().verdicts.total() >= 10_000
    assert tally().redropped > 50


def test_every_mutant_gets_a_verdict_or_an_input_error_and_every_verdict_occurs() -> None:
    assert set(tally().verdicts) == VERDICTS


def test_most_certificates_that_are_not_entailed_have_a_counterexample() -> None:
    """So the judge finds counterexamples."""
    assert tally().refuted[True] > tally().refuted[False]


def test_harmless_changes_are_those_of_the_specification() -> None:
    assert set(tally().harmless) <= set(HARMLESS)
    section = re.search(r"## Harmless changes\n(.*?)\n## ", (CERTIFICATES / "v1.md").read_text(), re.DOTALL)
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
    cases = [case for case in stored() if case.name in names]
    assert attacked(1, 1, Lenient, cases, most=1).wrong != []
