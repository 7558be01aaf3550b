"""Faults outside the checker: the tests of the file that has one detect it (`support.outside`)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.outside import FAULTS, ROOT, SURVIVORS, TESTS


def test_every_fault_can_be_injected_and_has_tests() -> None:
    for fault in FAULTS:
        compile(fault.source(), fault.file, "exec")
        for test in fault.tests:
            file, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")
    assert set(TESTS) == {fault.file for fault in FAULTS if fault.file in TESTS}, "a file without faults"
    names = [str(fault) for fault in FAULTS]
    assert len(set(names)) == len(names)
    assert set(SURVIVORS) <= set(names)


@pytest.mark.long  # every fault takes a copy of the package and a run of pytest: some 2 seconds
@pytest.mark.parametrize("file", sorted(TESTS))
def test_every_fault_is_detected_but_those_listed(file: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "support.outside", file]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
