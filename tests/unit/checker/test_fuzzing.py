"""What the fuzzer runs (`make fuzz`), without it: the seeds, some drawn changes of them, and that a fault is found."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from support import fuzzing

from verale.checker import Status, auditor
from verale.checker.reading import audit

SEEDS = list(fuzzing.seeds())


def test_the_seeds_reach_every_paradigm_and_most_verdicts() -> None:
    verdicts = [verdict for verdict in map(fuzzing.judge, SEEDS) if verdict is not None]
    assert len(verdicts) == len(SEEDS) - 3  # the last are no certificates with heads
    proved = [verdict.certificate for verdict in verdicts if verdict.status is Status.PROVED]
    assert {certificate and certificate.paradigm for certificate in proved} == {
        "projection", "triangle", "hypersphere", "evidence", "top_k", "mixed", "simplex", "sparse"
    }  # fmt: skip
    assert {verdict.reason for verdict in verdicts} == {"", "minimality", "entailment"}
    assert all(verdict.claims["instance"] == "proved" for verdict in verdicts)


def test_drawn_changes() -> None:
    generator = random.Random(1)
    found: set[str] = set()
    for _ in range(400):
        data = fuzzing.varied(generator.choice(SEEDS), generator)
        verdict = None if data is None else fuzzing.judge(data)
        found.add("" if verdict is None else f"{verdict.status.value} {verdict.reason}")
    assert {"MALFORMED malformed", "NOT_PROVED instance", "PROVED "} <= found


def too_much(margins: tuple[Fraction | None, ...]) -> tuple[Fraction | None, ...]:
    return tuple(None if margin is None else margin + 2**20 for margin in margins)


def test_a_margin_that_is_too_large_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = audit.proved_margins
    monkeypatch.setattr(audit, "proved_margins", lambda *arguments: too_much(right(*arguments)))
    for seed in SEEDS[6:10]:  # whose margins are proved
        with pytest.raises(AssertionError):
            fuzzing.judge(seed)


def test_what_is_no_refusal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> Any:
        raise KeyError(len(data))

    monkeypatch.setattr(auditor, "read_certificate", broken)
    with pytest.raises(KeyError):
        fuzzing.judge(SEEDS[0])
