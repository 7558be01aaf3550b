"""What the fuzzer runs (`make fuzz`), without it: the seeds, some drawn changes of them, and that a fault is found."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from support import fuzzing

from verale.checker import Status, auditor
from verale.checker.reading import audit
from verale.paradigms import PARADIGMS

SEEDS = list(fuzzing.seeds())


def test_the_seeds_are_of_every_paradigm_and_proved() -> None:
    """Of some of them; the last three are no certificates with heads."""
    verdicts = [verdict for verdict in map(fuzzing.judge, SEEDS[:-3:2]) if verdict is not None]
    assert len(verdicts) == len(SEEDS[:-3:2]) and not any(map(fuzzing.judge, SEEDS[-3:]))
    assert {verdict.certificate and verdict.certificate.paradigm for verdict in verdicts} == {*PARADIGMS}
    assert all(verdict.status is Status.PROVED and verdict.claims["instance"] == "proved" for verdict in verdicts)


def test_drawn_changes() -> None:
    generator = random.Random(1)
    found: set[str] = set()
    for _ in range(80):
        data = fuzzing.varied(generator.choice(SEEDS), generator)
        verdict = None if data is None else fuzzing.judge(data)
        found.add("" if verdict is None else f"{verdict.status.value} {verdict.reason}")
    assert {"MALFORMED malformed", "NOT_PROVED instance", "PROVED "} <= found


def too_much(margins: tuple[Fraction | None, ...]) -> tuple[Fraction | None, ...]:
    return tuple(None if margin is None else margin + 2**20 for margin in margins)


def test_a_margin_that_is_too_large_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = audit.proved_margins
    monkeypatch.setattr(audit, "proved_margins", lambda *arguments: too_much(right(*arguments)))
    for seed in SEEDS[6:10]:
        with pytest.raises(AssertionError):
            fuzzing.judge(seed)


def test_what_is_no_refusal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> Any:
        raise KeyError(len(data))

    monkeypatch.setattr(auditor, "read_certificate", broken)
    with pytest.raises(KeyError):
        fuzzing.judge(SEEDS[0])
