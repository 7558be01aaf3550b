"""Errors name the file, the field, what was found and what is expected: all of those that the corpora have."""

from __future__ import annotations

from corpus.messages import FILE, message_of, refused
from support.cases import grouped

from verale.soundness.corpus.cases import Case

CASES = list(refused())
RECORDED = dict(line.split(": ", 1) for line in FILE.read_text(encoding="utf-8").splitlines())


@grouped(CASES)
def test_what_is_refused_is_told_why(group: list[Case]) -> None:
    """If another wording is meant, `PYTHONPATH=tests python -m corpus.messages --write`."""
    assert {case.name: message_of(case) for case in group} == {case.name: RECORDED.get(case.name) for case in group}


def test_every_message_is_one_of_a_case_and_says_something() -> None:
    assert len(CASES) > 600 and list(RECORDED) == [case.name for case in CASES]
    assert all(len(message.split()) > 3 for message in RECORDED.values())
