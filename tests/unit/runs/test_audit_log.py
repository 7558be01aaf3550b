"""The audit log: outcomes are kept, and taken from it for the same bytes and options only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.stored import Unreadable

from verale.checker.file_auditor import unusable
from verale.errors import InputError
from verale.runs.audit import AuditSetup, auditor_of
from verale.runs.audit_log import AuditLog


@pytest.fixture
def outcome(files):
    """That of the first certificate."""
    return auditor_of(AuditSetup(files.head_path)).audit(files.certificates[0])


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_an_outcome_is_known_for_the_same_bytes_and_options(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(outcome)
    log = AuditLog(tmp_path / "log")
    known = log.known(files.certificates[0], outcome.record["run"])
    assert known is not None and known.reused and known.record == outcome.record | {"reused": True}
    assert log.known(files.certificates[1], outcome.record["run"]) is None
    assert log.known(files.certificates[0], outcome.record["run"] | {"kernel": "mpmath"}) is None
    assert log.known(str(tmp_path / "nowhere"), outcome.record["run"]) is None


def test_an_outcome_is_known_only_where_all_of_its_run_is_the_same(files, outcome, tmp_path) -> None:
    """Head, latents, every option, the checker's code, and every library."""
    AuditLog(tmp_path / "log").add(outcome)
    log, run = AuditLog(tmp_path / "log"), outcome.record["run"]
    for field in run:
        assert log.known(files.certificates[0], run | {field: "another"}) is None, field
    for part in ("checker", "libraries"):
        for field in run[part]:
            assert log.known(files.certificates[0], run | {part: run[part] | {field: "another"}}) is None, field


def test_a_record_in_the_place_of_another_is_not_known(files, outcome, tmp_path) -> None:
    """The log changed after it was read."""
    AuditLog(tmp_path / "log").add(outcome)
    log, run = AuditLog(tmp_path / "log"), outcome.record["run"]
    for other in (outcome.record | {"sha256": "0" * 64}, outcome.record | {"run": run | {"limit": 1}}, {}):
        (tmp_path / "log").write_text(json.dumps(other) + "\n")
        assert log.known(files.certificates[0], run) is None


def test_a_known_certificate_may_have_moved(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(outcome)
    moved = Path(files.certificates[0]).rename(tmp_path / "moved.ale.json")
    known = AuditLog(tmp_path / "log").known(str(moved), outcome.record["run"])
    assert known is not None and known.record == outcome.record | {"certificate": str(moved), "reused": True}


def test_a_file_that_could_not_be_used_is_audited_again(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(unusable("x", "gone", outcome.record["run"], outcome.record["sha256"]))
    assert AuditLog(tmp_path / "log").known(files.certificates[0], outcome.record["run"]) is None


@pytest.mark.parametrize(
    "change",
    [
        {"status": "REFUTED"},
        {"exit_code": 4},
        {"reason": "refuted"},
        {"claims": {}},
        {"sha256": 1},
        {"run": {}},
        {"margins": []},
        {"mine": 1},
    ],
)
def test_a_log_with_an_invalid_record_is_refused_and_left_alone(change, outcome, tmp_path) -> None:
    """To the byte, half a record at its end included."""
    text = "".join(json.dumps(record) + "\n" for record in (outcome.record, outcome.record | change)) + '{"_type'
    (tmp_path / "log").write_text(text)
    with pytest.raises(InputError, match="log: line 2 is not a record of an audit log"):
        AuditLog(tmp_path / "log")
    assert (tmp_path / "log").read_text() == text


def test_a_log_with_two_verdicts_on_the_same_bytes_is_refused_and_left_alone(outcome, tmp_path) -> None:
    """Whichever comes first: the checker gives one."""
    why = {"status": "NOT_PROVED", "reason": "entailment", "exit_code": 3, "margin": None}
    other = outcome.record | why | {"claims": dict.fromkeys(("entailment", "instance"), "not checked"), "by": {}}
    for records in ((outcome.record, other), (other, outcome.record)):
        text = "".join(json.dumps(record) + "\n" for record in records) + '{"_type'
        (tmp_path / "log").write_text(text)
        with pytest.raises(InputError, match="log: line 2 has another verdict than an earlier line, on the same bytes"):
            AuditLog(tmp_path / "log")
        assert (tmp_path / "log").read_text() == text


def test_a_stored_certificate_that_cannot_be_read_is_not_known(outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(outcome)
    assert AuditLog(tmp_path / "log").known(Unreadable("unreadable"), outcome.record["run"]) is None


def test_finishing_puts_the_outcomes_in_order(files, outcome, tmp_path) -> None:
    other = auditor_of(AuditSetup(files.head_path)).audit(files.certificates[1])
    log = AuditLog(tmp_path / "log")
    for one in (outcome, other, outcome):
        log.add(one)
    log.finish([other, outcome])
    assert lines(tmp_path / "log") == [json.dumps(one.record) for one in (other, outcome)]
