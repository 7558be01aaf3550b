"""Faults of the checker are changes of one place of its sources, injected into a copy, and each file has some.

That each can be, and is detected by the test that it names, shows test_outside_faults.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checker_mutants.faults import FAULTS
from checker_mutants.generated import FILES
from checker_mutants.mutant import CHECKER, injected
from support.syntax import changed

ROOT = Path(__file__).parents[2]


@pytest.mark.long  # some copies of the checker, up to ten seconds each
def test_few_small_changes_of_the_syntax_are_not_detected() -> None:
    """A fifth of them survives: they round further outward, count steps otherwise, or search otherwise for what is
    proved afterwards. The sample is always the same one of the same sources; every file has planted faults besides."""
    command = [sys.executable, "-m", "checker_mutants.generated", "--one-in", "80", "--part", "0/32"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=True)
    tried, survivors = map(int, re.findall(r"(\d+) (?:changes|to be looked at)", done.stdout.splitlines()[-1]))
    assert tried >= len(FILES) // 32  # of each file at least one is drawn
    assert 2 * survivors <= tried, done.stdout


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
