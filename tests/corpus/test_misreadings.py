"""Misreadings of certificates/v1.md that the corpora did not notice once: each is noticed by a case of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.misreadings import MISREADINGS, Misreading, noticed, planted

from verale.soundness.corpus.cases import stored
from verale.soundness.second import SecondChecker

CASES = {case.name: case for case in [*stored(), *stored("sizes")]}


def test_the_second_checker_as_it_is_notices_nothing() -> None:
    named = [CASES[name] for name in dict.fromkeys(misreading.notices for misreading in MISREADINGS)]
    assert list(noticed(SecondChecker(), named)) == []


@pytest.mark.parametrize("misreading", MISREADINGS, ids=lambda each: each.wrong)
def test_its_own_case_notices_it(misreading: Misreading, tmp_path: Path) -> None:
    assert list(noticed(planted(misreading, tmp_path), [CASES[misreading.notices]]))
