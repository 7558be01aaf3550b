"""Small inputs cost little: each hostile file is answered or refused within the bound that docs/cli.md states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.attacks import ATTACKS
from support.measured import Measurer, measurer

SECONDS, MEGABYTES = 45, 500  # one proof may take 30; a command that tries three paradigms takes its time
"""The bound of docs/cli.md, "Limits". It is processor time, of which a loaded machine takes hardly more."""

SEARCHED = (
    "refute 58000 patches near a prototype",
    "refute 10000 patches with activations",
    "refute a patch with 2000 statements",
)
"""Attacks that are answered when the time of a search is over, or nearly."""

LONG = ("explain a picture of eight million rows", "explain a network of long numbers")
"""Left out of a short run, in which the audit of such a file takes the same way to the same limit."""


@pytest.fixture(scope="module")
def runner() -> Iterator[Measurer]:
    with measurer() as started:
        yield started


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in ATTACKS],
)
def test_is_answered_or_refused_within_the_bound(name: str, runner: Measurer, tmp_path: Path) -> None:
    codes, attack = ATTACKS[name]
    grace = {"grace": 0.2} if name in SEARCHED else {}
    cost = runner.run(tmp_path, *attack(tmp_path), timeout=300, **grace)
    assert cost.code in codes, cost
    assert cost.seconds < SECONDS and cost.megabytes < MEGABYTES, cost
    assert "Traceback" not in cost.err
    if cost.code == 9 and "folder with" not in name:
        lines = 2 if name == "audit of a device" else 1  # the other certificates are audited, and the folder is told of
        assert cost.err.startswith("error: ") and cost.err.count("\n") == lines and len(cost.err) < 1000
    if any(what in name for what in ("pipe", "device")) and cost.code == 9:
        sent = "it is a link that leads out of its folder" if name == "audit of a device" else None
        assert (sent or "it is a pipe, socket or device; write its content to a regular file") in cost.err


def test_the_measurement_counts_time_memory_and_waiting(runner: Measurer, tmp_path: Path) -> None:
    (tmp_path / "h").write_bytes(bytes(100 * 10**6))
    cost = runner.run(tmp_path, "checker", "h", "--head", "h")
    assert cost.code == 9 and 90 < cost.megabytes < 300 and cost.seconds > 0
