"""Audits in several processes: one that dies takes a single certificate with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.small import small_head, small_latents
from support.stored import Deadly, Stored, Unreadable

from verale.checker import AuditOptions
from verale.errors import InputError
from verale.head import save_latents
from verale.runs import audit as processes
from verale.runs.audit import DIED, AuditSetup, audit_files, auditor_of, in_processes


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
