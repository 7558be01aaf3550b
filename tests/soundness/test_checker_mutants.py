"""Faults injected into copies of the checker, one at a time: the corpora or a small property detects each.

`python -m verale.soundness.checker_mutants.run` prints which attack detects each, and the score.
"""

from __future__ import annotations

import pytest

from verale.soundness.checker_mutants.attacks import ATTACKS, OF_LEAST, OF_PROVED, detected_by, detections
from verale.soundness.checker_mutants.faults import FAULTS, SURVIVORS
from verale.soundness.checker_mutants.mutant import CHECKER, Fault, injected

FILES = sorted({fault.file for fault in FAULTS})
EVERY_ATTACK = (*ATTACKS, *OF_PROVED, *OF_LEAST)
SLOW = {"margins", "activations", "containment", "within"}
"""What the rules prove of every part against rational arithmetic; `contract/test_bounds_and_rules.py` and
`unit/checker/rules` ask the same of fewer."""


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.long)])
def test_no_attack_accuses_the_checker_without_a_fault(slow: bool) -> None:
    assert detected_by(None, [attack for attack in EVERY_ATTACK if (attack[0] in SLOW) is slow]) is None


@pytest.mark.parametrize("file", ["auditor.py", "rules/top_k.py", "rules/joint.py", "proved/claims.py", "least.py"])
def test_a_fault_is_detected(file: str) -> None:
    """Of each kind of attack; those of every file are tried in the long test."""
    first = next(fault for fault in FAULTS if fault.file == file and str(fault) not in SURVIVORS)
    assert detected_by(first)


@pytest.mark.long  # some 1,050 copies of the checker, up to twelve seconds each
@pytest.mark.parametrize("file", FILES)
def test_every_fault_is_detected_but_those_listed(file: str) -> None:
    faults = [fault for fault in FAULTS if fault.file == file and str(fault) not in SURVIVORS]
    assert [str(fault) for fault, found in detections(faults) if found is None] == []


def test_every_fault_can_be_injected() -> None:
    """Otherwise the injected fault is an error, which every attack detects."""
    for fault in FAULTS:
        fault.code()


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("a text that is not there", "", ValueError),
        ("return", "return 0 *", ValueError),  # it is there several times
        ("return sum(map(mul, left, right))", "return (", SyntaxError),
    ],
)
def test_a_fault_that_cannot_be_injected_is_refused(old: str, new: str, error: type[Exception]) -> None:
    """And not reported as detected."""
    with pytest.raises(error):
        detected_by(Fault("dyadic.py", "no fault", old, new))


def test_a_fault_is_in_the_copy_alone() -> None:
    from verale.checker import dyadic

    with injected(Fault("dyadic.py", "wrong", "return sum(map(mul, left, right))", "return -1")) as module:
        assert module("dyadic").dot([2], [3]) == -1
        assert dyadic.dot([2], [3]) == 6


def test_every_rule_and_kernel_has_faults_and_survivors_are_among_them() -> None:
    files = [*CHECKER.glob("rules/**/*.py"), *CHECKER.glob("kernel/*_kernel.py"), CHECKER / "dyadic.py"]
    names_of_files = {file.relative_to(CHECKER).as_posix() for file in files if file.name != "__init__.py"}
    assert names_of_files <= set(FILES)
    names = [str(fault) for fault in FAULTS]
    assert len(set(names)) == len(names)
    assert set(SURVIVORS) <= set(names)
    assert len(SURVIVORS) < len(FAULTS) / 10
