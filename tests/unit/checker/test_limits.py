"""What asks for more time or memory than anybody has is answered at once: see `benchmarks.limits`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.limits import ATTACKS, answer, certificate, head, spatial
from verale.checker import Auditor

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ATTACKS)
def test_is_answered_at_once_and_in_little_memory(name: str, tmp_path: Path) -> None:
    outcome = answer(tmp_path, name)
    assert outcome.code == ATTACKS[name][0], outcome.line
    assert outcome.megabytes < 200
    assert outcome.seconds < 10  # processor time; less than one, alone on a machine
    assert "failed" not in outcome.line and len(outcome.line) < 1000


def test_a_file_without_end_is_refused() -> None:
    for files in (["/dev/zero", "--head", "/dev/null"], [__file__, "--head", "/dev/zero"]):
        result = subprocess.run(
            [sys.executable, "-m", "verale.checker", *files],
            capture_output=True, text=True, cwd=ROOT, timeout=120, check=False, env=os.environ,
        )  # fmt: skip
        assert result.returncode == 9
        assert result.stderr.startswith("error: /dev/")


def test_the_limit_is_the_auditors_to_set() -> None:
    data = head(3)
    proof = certificate(data, spatial(1, 3))
    assert Auditor(data).check(proof).exit_code == 0
    verdict = Auditor(data, limit=1000).check(proof)
    assert (verdict.status.value, verdict.reason, verdict.exit_code) == ("NOT_PROVED", "limit", 12)
    assert "steps, expected at most 1000; raise the limit" in verdict.message
