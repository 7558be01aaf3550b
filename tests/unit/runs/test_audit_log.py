"""The audit log: outcomes are kept, and taken from it for the same bytes and options only."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from verale.errors import InputError
from verale.runs.audit_log import AuditLog
from verale.runs.auditor import AuditOptions, auditor_of


@pytest.fixture
def outcome(files):
    """That of the first certificate."""
    return auditor_of(AuditOptions(files.head_path)).audit(files.certificates[0])


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_an_outcome_is_known_for_the_same_bytes_and_options(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(outcome)
    log = AuditLog(tmp_path / "log")
    known = log.known(files.certificates[0], outcome.record["run"])
    assert known is not None and known.reused and known.record == outcome.record
    assert log.known(files.certificates[1], outcome.record["run"]) is None
    assert log.known(files.certificates[0], outcome.record["run"] | {"kernel": "mpmath"}) is None
    assert log.known(str(tmp_path / "nowhere"), outcome.record["run"]) is None


def test_a_known_certificate_may_have_moved(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(outcome)
    moved = Path(files.certificates[0]).rename(tmp_path / "moved.ale.json")
    known = AuditLog(tmp_path / "log").known(str(moved), outcome.record["run"])
    assert known is not None and known.record == outcome.record | {"certificate": str(moved)}


def test_a_file_that_could_not_be_used_is_audited_again(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(replace(outcome, record=outcome.record | {"status": "UNUSABLE"}))
    assert AuditLog(tmp_path / "log").known(files.certificates[0], outcome.record["run"]) is None


def test_half_a_record_at_the_end_is_dropped(outcome, tmp_path) -> None:
    (tmp_path / "log").write_text(json.dumps(outcome.record) + '\n{"certif')
    AuditLog(tmp_path / "log")
    assert lines(tmp_path / "log") == [json.dumps(outcome.record)]


def test_finishing_puts_the_outcomes_in_order(files, outcome, tmp_path) -> None:
    other = auditor_of(AuditOptions(files.head_path)).audit(files.certificates[1])
    log = AuditLog(tmp_path / "log")
    for one in (outcome, other, outcome):
        log.add(one)
    log.finish([other, outcome])
    assert lines(tmp_path / "log") == [json.dumps(one.record) for one in (other, outcome)]


@pytest.mark.parametrize("text", ["{}\n", "[]\n", "mine", '{"sha256": "a"}\n'])
def test_another_file_is_refused_and_left_alone(text, tmp_path) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(InputError, match=r"not (a record of )?an audit log; choose another file"):
        AuditLog(tmp_path / "log")
    assert (tmp_path / "log").read_text() == text
