"""Faults planted in a copy of the checker, one at a time: the corpora or a small property catches each.

`PYTHONPATH=.:tests python -m soundness.test_planted_faults` prints what catches each, and the score.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from soundness.faults import FAULTS, SURVIVORS
from soundness.planted import CHECKER, caught

FILES = sorted({fault.file for fault in FAULTS})


def test_the_checker_without_a_fault_is_not_caught() -> None:
    assert caught(None) is None


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
    places = [*CHECKER.glob("rules/*.py"), *CHECKER.glob("kernel/*_kernel.py"), CHECKER / "dyadic.py"]
    assert {place.relative_to(CHECKER).as_posix() for place in places} - {"rules/__init__.py"} <= set(FILES)
    names = [str(fault) for fault in FAULTS]
    assert len(set(names)) == len(names)
    assert set(SURVIVORS) <= set(names)
    assert len(SURVIVORS) < len(FAULTS) / 10


def main() -> None:
    by_whom = {str(fault): caught(fault) for fault in FAULTS}
    for name, who in by_whom.items():
        print(f"{name}\n    {who or 'SURVIVES: ' + SURVIVORS.get(name, 'not listed')}")
    print(f"{len(by_whom)} faults in {len(FILES)} files, {sum(map(bool, by_whom.values()))} caught")
    print(f"of {len(SURVIVORS)} listed survivors {sum(not by_whom[name] for name in SURVIVORS)} survive")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
