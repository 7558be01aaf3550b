"""What asks for more time or memory than anybody has is answered at once: see `benchmarks.limits`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import files

from benchmarks import demands, demands_of_pictures
from benchmarks.limits import ATTACKS, answer, certificate, head, spatial
from verale.checker import Auditor, limit
from verale.checker.errors import UnprovedError

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("seconds", [1e-4, 30.0])
def test_no_machine_is_so_fast_that_a_limit_is_not_kept(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time stands still for the wall until a tenth of the limit, or 20 ms, has passed; then it is asked again."""
    now = {"wall": 5.0, "thread": 7.0}
    monkeypatch.setattr(limit, "monotonic", lambda: now["wall"])
    monkeypatch.setattr(limit, "thread_time", lambda: now["thread"])
    clock = limit.Clock()
    clock.start(seconds)
    clock.look()
    now["thread"] += 2 * seconds
    clock.look()
    now["wall"] += min(0.02, seconds / 10)
    with pytest.raises(UnprovedError, match="of processor time"):
        clock.look()


def test_larger_files_may_take_longer() -> None:
    for size, times in ((0, 1), (1, 1), (2**20, 1), (2**20 + 1, 2), (5 * 2**20, 5)):
        assert limit.allowed(0.5, size) == 0.5 * times
    assert limit.LIMIT == 30


def test_what_was_taken_since_the_start_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the time allows twice the memory."""
    now = {"thread": 100.0, "memory": 0}
    monkeypatch.setattr(limit, "_BETWEEN", 0)
    monkeypatch.setattr(limit, "thread_time", lambda: now["thread"])
    monkeypatch.setattr(limit, "_resident", lambda: now["memory"])
    clock = limit.Clock()
    now["thread"] += 10.0**9
    clock.look()
    clock.start(30)
    now["thread"] += 29
    clock.look()
    assert clock.taken == 29
    clock.keep(2**20)
    with pytest.raises(UnprovedError, match="of memory"):
        clock.keep(2**24)
    now["thread"] += 2
    with pytest.raises(UnprovedError, match="of processor time"):
        clock.look()
    clock.start(60)
    now["memory"] = 2**31 - 1
    clock.look()
    now["memory"] = 2**31 + 1
    with pytest.raises(UnprovedError, match="of memory"):
        clock.look()


SECONDS, LITTLE, MOST = 1, 0.1, 20
"""The limits of these tests, LITTLE where it is to end, and the most that they allow: a proof overruns by as long as
one operation takes."""
LIKE_ANOTHER = (
    '8 MiB of ""',
    "8 MiB of escapes",
    "8 MiB of [],",
    "8 MiB of digits",
    "a header of 4 MiB of [",
    "130,000 empty objects in extensions",
    "the same, top_mean of 10^18 - 1",
    "the same, max_minus_mean",
    "the same, max_minus_mean_distance",
    "epsilon 0x1p-1074 under exp_distance",
    "20,000 patches stated, P = 2000, top_mean",
    "a shape of 10^17 by 0",
    "38,000 statements, P = 2000, D = 64",
)
"""Attacks that end where one that is tried in the short run ends, too: in the same reader, pooling, count or grid."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in LIKE_ANOTHER)) for name in ATTACKS]
)
def test_is_answered_at_once_and_in_little_memory(name: str, tmp_path: Path) -> None:
    outcome = answer(tmp_path, name, LITTLE if ATTACKS[name][0] == 12 else SECONDS)
    assert outcome.code == ATTACKS[name][0], outcome.line
    assert outcome.megabytes < 1200
    assert outcome.seconds < MOST  # processor time
    assert "failed" not in outcome.line and len(outcome.line) < 1000


QUICK = (
    "1800 prototypes, one of them 5e-324",
    "a soft tree of 6000 nodes, 20 classes",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name not in QUICK)) for name in demands.DEMANDS]
)
def test_the_longest_proofs_of_small_files_end_at_the_limit(name: str, tmp_path: Path) -> None:
    outcome = demands.answer(tmp_path, name, "arb", LITTLE)
    assert outcome.size < 10**6
    assert outcome.code in (0, 3, 4, 8, 12, 14), outcome.line
    assert (" limit: " in outcome.line) == (outcome.code == 12)
    assert outcome.megabytes < 1200
    assert outcome.seconds < MOST


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * ("150 convolutions" not in name))
        for name in demands_of_pictures.DEMANDS
    ],
)
def test_what_small_networks_and_pictures_ask_for_ends_at_the_limit(name: str, tmp_path: Path) -> None:
    outcome = demands_of_pictures.answer(tmp_path, name, "arb", LITTLE)
    assert outcome.size < 10**6
    assert outcome.code in (0, 7, 12), outcome.line
    assert outcome.megabytes < 1200
    assert outcome.seconds < MOST


def test_a_refutation_has_no_limit() -> None:
    data, latents = head(3), files.latents([[[0.5, 1.0]]])
    document = certificate(data, spatial(1, 3))
    auditor = Auditor(data, None, "arb", limit=1e-6)
    assert auditor.check(document, entailment_only=True).exit_code == 12
    assert auditor.refute(document, latents).reason == "witness"


def test_a_file_without_end_is_refused() -> None:
    for paths in (["/dev/zero", "--head", "/dev/null"], [__file__, "--head", "/dev/zero"]):
        result = subprocess.run(
            [sys.executable, "-m", "verale.checker", *paths],
            capture_output=True, text=True, cwd=ROOT, timeout=120, check=False, env=os.environ,
        )  # fmt: skip
        assert result.returncode == 9
        assert result.stderr.startswith("error: ")
        assert "it is a pipe, socket or device" in result.stderr and "/dev/" in result.stderr


def test_the_limit_is_the_auditors_to_set() -> None:
    data = head(3)
    proof = certificate(data, spatial(1, 3))
    assert Auditor(data).check(proof, entailment_only=True).exit_code == 0
    verdict = Auditor(data, kernel="arb", limit=2.5e-05).check(proof, entailment_only=True)
    assert (verdict.status.value, verdict.reason, verdict.exit_code) == ("NOT_PROVED", "limit", 12)
    assert "it takes more than 2.5e-05 s of processor time, the most for files of this size" in verdict.message
    assert "raise the limit" in verdict.message
