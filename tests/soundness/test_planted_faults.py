"""Faults planted in a copy of the checker, one at a time: the corpora or a small property catches each.

`python -m verale.soundness.checker_mutants.run` prints what catches each, and the score.
"""

from __future__ import annotations

import pytest

from verale.soundness.checker_mutants.faults import CHECKER, caught
from verale.soundness.checker_mutants.run import FAULTS, SURVIVORS

FILES = sorted({fault.file for fault in FAULTS})


def test_the_checker_without_a_fault_is_not_caught() -> None:
    assert caught(None) is None


@pytest.mark.parametrize("file", FILES)
def test_a_fault_of_every_file_is_caught(file: str) -> None:
    first = next(fault for fault in FAULTS if fault.file == file and str(fault) not in SURVIVORS)
    assert caught(first)


@pytest.mark.long  # some 380 copies of the checker, up to three seconds each
@pytest.mark.parametrize("file", FILES)
def test_every_fault_is_caught_but_those_listed(file: str) -> None:
    uncaught = [
        str(fault) for fault in FAULTS if fault.file == file and str(fault) not in SURVIVORS and not caught(fault)
    ]
    assert uncaught == []


def test_every_fault_has_its_place() -> None:
    """Else what is planted is an error, which anything catches."""
    assert [str(fault) for fault in FAULTS if (CHECKER / fault.file).read_text().count(fault.old) != 1] == []


def test_every_rule_and_kernel_has_faults_and_survivors_are_among_them() -> None:
    files = [*CHECKER.rglob("rules/**/*.py"), *CHECKER.glob("kernel/*_kernel.py"), CHECKER / "dyadic.py"]
    names_of_files = {file.relative_to(CHECKER).as_posix() for file in files if file.name != "__init__.py"}
    assert names_of_files <= set(FILES)
    names = [str(fault) for fault in FAULTS]
    assert len(set(names)) == len(names)
    assert set(SURVIVORS) <= set(names)
    assert len(SURVIVORS) < len(FAULTS) / 10
