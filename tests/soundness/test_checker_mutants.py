"""Faults injected into copies of the checker, one at a time: a test that it names detects each (`support.outside`), or
an attack: the corpora, or a small property.

`PYTHONPATH=tests python -m checker_mutants.run` prints which attack detects each, and the score.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checker_mutants.attacks import detected_by, detections
from checker_mutants.faults import FAULTS, Fault, planted
from checker_mutants.generated import FILES
from checker_mutants.mutant import CHECKER, injected
from support.syntax import changed

ROOT = Path(__file__).parents[2]


@pytest.mark.long  # some ten seconds
def test_no_attack_accuses_the_checker_without_a_fault() -> None:
    assert detected_by(None) is None


@pytest.mark.parametrize("file", ["auditor.py", "least.py"])
def test_a_fault_is_detected(file: str) -> None:
    """Of each kind of attack; those of every file are tried in the long test."""
    assert detected_by(planted(file)[0])


PARTS = 4
"""So that several processes share what takes minutes. A file's faults stay together: what detects one is tried first on
the next."""


@pytest.mark.long  # a copy of the checker each
@pytest.mark.parametrize("part", range(PARTS))
def test_every_fault_is_detected(part: int) -> None:
    faults = [fault for file in [*FAULTS][part::PARTS] for fault in planted(file) if not fault.test]
    assert [str(fault) for fault, found in detections(faults) if found is None] == []


@pytest.mark.long  # some 30 copies of the checker, up to ten seconds each
@pytest.mark.parametrize("part", range(2))
def test_few_small_changes_of_the_syntax_are_not_detected(part: int) -> None:
    """A fifth of them survives: they round further outward, count steps otherwise, or search otherwise for what is
    proved afterwards. The sample is always the same one of the same sources; every file has planted faults besides."""
    command = [sys.executable, "-m", "checker_mutants.generated", "--one-in", "80", "--part", f"{3 * part}/12"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=True)
    tried, survivors = map(int, re.findall(r"(\d+) (?:changes|to be looked at)", done.stdout.splitlines()[-1]))
    assert tried >= len(FILES) // 12  # of each file at least one is drawn
    assert 2 * survivors <= tried, done.stdout


def test_every_fault_can_be_injected() -> None:
    """Otherwise the injected fault is an error, which every attack detects."""
    for file in FAULTS:
        for fault in planted(file):
            compile(fault.source, file, "exec")


DYADIC = (CHECKER / "dyadic.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("function", "change", "error"),
    [
        ("", "a_name_that_is_not_there => 0", ValueError),
        ("", "return value => return 0", ValueError),  # it is there several times
        ("", "without a_name_that_is_not_there", ValueError),
        ("no_function", "return value => return 0", ValueError),
        ("", "nothing changes", ValueError),
        ("dot", "return sum(map(mul, left, right)) => return (", SyntaxError),
    ],
)
def test_a_fault_that_cannot_be_injected_is_refused(function: str, change: str, error: type[Exception]) -> None:
    """And not reported as detected."""
    with pytest.raises(error):
        changed(DYADIC, function, change)
    with pytest.raises(SyntaxError):
        detected_by(Fault("dyadic.py", "no program", "return ("))


PROGRAM = "def f(a, b):\n    if a and b:\n        g(a, b)\n        return a + b\n\ndef h(a, b):\n    return a + b"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("never a and b", "if False:"),
        ("always a and b", "if True:"),
        ("without b", None),  # of the condition, of the call or of the sum
        ("without g(a, b)", "if a and b:\n        return a + b"),
        ("a + b => a - b", "g(a, b)\n        return a - b"),
    ],
)
def test_a_change_is_of_one_function_and_of_one_place(change: str, found: str | None) -> None:
    if found is None:
        with pytest.raises(ValueError, match="expected once"):
            changed(PROGRAM, "f", change)
    else:
        other = changed(PROGRAM, "f", change)
        assert found in other and other.endswith("def h(a, b):\n    return a + b")
    assert changed(PROGRAM, "h", "without b").endswith("def h(a, b):\n    return a")


def test_a_fault_is_in_the_copy_alone() -> None:
    from verale.checker import dyadic

    source = changed(DYADIC, "dot", "sum(map(mul, left, right)) => -1")
    with injected({"dyadic.py": source}) as module:
        assert module("dyadic").dot([2], [3]) == -1
        assert dyadic.dot([2], [3]) == 6


def test_every_file_of_the_checker_has_faults() -> None:
    """But for those that only define names."""
    assert set(FILES) - set(FAULTS) <= {"errors.py", *(file for file in FILES if file.endswith("__init__.py"))}
    names = [(file, wrong) for file, faults in FAULTS.items() for _, wrong, *_ in faults]
    assert len(set(names)) == len(names)
