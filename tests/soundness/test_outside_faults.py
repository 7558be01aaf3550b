"""Faults outside the checker: the test that each names detects it (`support.outside`)."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache

import pytest
from support.outside import FAULTS, ROOT, OutsideFault, chosen, of_commit

_PARTS = range(8)
"""Of 32 groups of faults eight are tried, which ones by the commit; `make release-check` tries all of them. Small
groups: at the end of a run, a process keeps two tests that no other may take."""
_ROOMS = {"certificate", "cli", "report", "runs"}
"""What stands between a verdict and a user."""


@cache
def _tests_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_fault_can_be_injected_and_names_a_test() -> None:
    for fault in FAULTS:
        assert fault.source()
        file, *_, name = fault.test.partition("[")[0].split("::")
        assert name.startswith("test_") and name in _tests_in(file), fault
    names = [str(fault) for fault in FAULTS]
    assert len(set(names)) == len(names)


def test_every_room_has_faults() -> None:
    assert {fault.file.split("/")[0] for fault in FAULTS} >= _ROOMS


def test_the_groups_are_all_faults() -> None:
    assert {fault for group in range(1, 33) for fault in chosen([f"{group}/32"])} == {*FAULTS}


@pytest.mark.parametrize(
    "text",
    [
        "files.py: no test\n    a => b",
        "files.py: nothing new\n    a\n    unit/test_files.py::test_a",
        "nothing is wrong\n    a => b\n    unit/test_files.py::test_a",
    ],
)
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a fault|no change"):
        OutsideFault.of(text).source()


@pytest.mark.long  # a copy of the package and a run of pytest for each fault: some 2 seconds
@pytest.mark.parametrize("part", _PARTS)  # each of which imports once what is heavy
def test_faults_are_detected(part: int) -> None:
    group = f"{4 * part + of_commit(4) + 1}/32"
    done = _python("-m", "support.outside", group)
    again = f"it is this commit's turn to try them; again: PYTHONPATH=tests python -m support.outside {group}"
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{again}"


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
