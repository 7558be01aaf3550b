"""Audits of files: verdicts, and outcomes in order, in one process or in several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.small import small_head, small_latents
from support.stored import Deadly, Stored, Unreadable

import verale
from verale.checker import AuditOptions
from verale.checker.file_auditor import unusable
from verale.errors import InputError
from verale.head import save_latents
from verale.runs import audit as processes
from verale.runs.audit import DIED, AuditSetup, audit_files, auditor_of, in_processes
from verale.runs.audit_log import AuditLog

CORPORA = Path(__file__).parents[3] / "certificates"


def test_the_log_ends_with_this_run_in_its_order(files, tmp_path) -> None:
    """What an earlier run audited besides is not in it."""
    options = AuditSetup(files.head_path)
    first, second, third = files.certificates[:3]
    for paths in ([first, second], [third, second]):
        list(audit_files(paths, options, log=AuditLog(tmp_path / "log")))
        records = map(json.loads, (tmp_path / "log").read_text().splitlines())
        assert [record["certificate"] for record in records] == paths


def test_a_certificate_without_an_instance_claim_is_accepted_only_where_that_is_asked() -> None:
    named = str(CORPORA / "accept" / "contradiction-without-an-image")
    certificate, head = f"{named}.ale.json", f"{named}.head.safetensors"
    for asked, code in ((False, 14), (True, 0)):
        assert verale.audit(certificate, head, entailment_only=asked).exit_code == code
        (outcome,) = audit_files([certificate], AuditSetup(head, options=AuditOptions(entailment_only=asked)))
        assert outcome.exit_code == code


def test_an_unusable_head_is_refused_before_anything_is_audited(files, tmp_path) -> None:
    with pytest.raises(InputError, match="nowhere: cannot be read"):
        next(audit_files(files.certificates, AuditSetup(str(tmp_path / "nowhere"))))
    with pytest.raises(InputError, match="latents file"):
        next(audit_files(files.certificates, AuditSetup(files.head_path, files.certificates[0])))


def test_a_process_that_dies_costs_one_certificate(files) -> None:
    options = AuditSetup(files.head_path)
    run = auditor_of(options).run
    first, second, third = files.certificates
    outcomes = list(in_processes([first, Deadly("deadly"), second, third], options, 2, run))
    assert [outcome.record["certificate"] for outcome in outcomes] == [first, "deadly", second, third]
    assert [outcome.record["status"] for outcome in outcomes] == ["PROVED", "UNUSABLE", "PROVED", "PROVED"]
    assert [outcome.exit_code for outcome in outcomes] == [0, 9, 0, 0]
    assert outcomes[1].record["message"] == DIED and outcomes[1].record["run"] == run


@pytest.mark.parametrize("field", ["head", "latents"])
@pytest.mark.parametrize("other", [b"{", None], ids=["invalid", "valid"])
def test_a_head_or_latents_that_change_before_a_process_reads_them_end_the_audit(field, other, files) -> None:
    """Otherwise verdicts on two heads would look like one audit."""
    options = AuditSetup(files.head_path, files.latents_path)
    run = auditor_of(options).run
    path = Path(options.head if field == "head" else files.latents_path)
    if other is None and field == "head":
        small_head("euclidean", seed=7).save(path)
    elif other is None:
        save_latents(path, small_latents(files.head, images=2))
    else:
        path.write_bytes(other)
    with pytest.raises(
        InputError, match="head: or the latents changed while certificates were audited; run the command"
    ):
        list(in_processes(files.certificates, options, 1, run))


def test_a_certificate_that_is_audited_alone_has_the_same_head(files) -> None:
    """Its process starts late, after another one died."""
    options = AuditSetup(files.head_path)
    run = auditor_of(options).run
    small_head("euclidean", seed=7).save(files.head_path)
    with pytest.raises(InputError, match="head: or the latents changed while certificates were audited"):
        list(in_processes([Deadly("deadly"), files.certificates[0]], options, 1, run))
    with pytest.raises(InputError, match="head: or the latents changed while certificates were audited"):
        processes._alone(files.certificates[0], options, run)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stored_certificate_is_its_bytes_whatever_file_has_its_name(jobs, files) -> None:
    """The name is that of a good certificate's file."""
    stored = Stored(files.certificates[0], b"{")
    (outcome,) = audit_files([stored], AuditSetup(files.head_path), jobs)
    assert (outcome.record["certificate"], outcome.exit_code) == (stored.name, 5)


def test_a_stored_certificate_that_cannot_be_read_stops_nothing(files) -> None:
    options = AuditSetup(files.head_path)
    outcomes = list(in_processes([Unreadable("x"), files.certificates[0]], options, 1, auditor_of(options).run))
    assert [outcome.record["status"] for outcome in outcomes] == ["UNUSABLE", "PROVED"]
    assert [outcome.exit_code for outcome in outcomes] == [9, 0]
    assert outcomes[0].record["message"] == "x.parquet: cannot be read"


def test_processes_have_the_options_that_are_given(files) -> None:
    options = AuditSetup(files.head_path, files.latents_path, AuditOptions("mpmath", minimality=True, limit=2**20))
    (outcome,) = audit_files(files.certificates[:1], options, jobs=2)
    assert (outcome.exit_code, outcome.record["run"]) == (0, auditor_of(options).run)


@pytest.fixture
def outcome(files):
    """That of the first certificate."""
    return auditor_of(AuditSetup(files.head_path)).audit(files.certificates[0])


def test_an_outcome_is_known_for_the_same_bytes_and_options(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(outcome)
    log = AuditLog(tmp_path / "log")
    known = log.known(files.certificates[0], outcome.record["run"])
    assert known is not None and known.reused and known.record == outcome.record | {"reused": True}
    assert log.known(files.certificates[1], outcome.record["run"]) is None
    assert log.known(files.certificates[0], outcome.record["run"] | {"kernel": "mpmath"}) is None
    assert log.known(str(tmp_path / "nowhere"), outcome.record["run"]) is None
    assert log.known(Unreadable("unreadable"), outcome.record["run"]) is None
    AuditLog(tmp_path / "other").add(unusable("x", "gone", outcome.record["run"], outcome.record["sha256"]))
    assert AuditLog(tmp_path / "other").known(files.certificates[0], outcome.record["run"]) is None, "audited again"


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
