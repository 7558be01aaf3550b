"""Audits in several processes: one that dies takes a single certificate with it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from verale.runs.auditor import AuditOptions, auditor_of
from verale.runs.processes import DIED, in_processes


@dataclass(frozen=True)
class Deadly:
    """A stored certificate; whoever reads it dies."""

    name: str

    def read(self) -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return b""


def test_a_process_that_dies_costs_one_certificate(files) -> None:
    options = AuditOptions(files.head_path)
    run = auditor_of(options).run
    first, second, third = files.certificates
    outcomes = list(in_processes([first, Deadly("deadly"), second, third], options, 2, run))
    assert [outcome.record["certificate"] for outcome in outcomes] == [first, "deadly", second, third]
    assert [outcome.record["status"] for outcome in outcomes] == ["PROVED", "UNUSABLE", "PROVED", "PROVED"]
    assert outcomes[1].record["message"] == DIED and outcomes[1].record["run"] == run


def test_nothing_to_audit(files) -> None:
    options = AuditOptions(files.head_path)
    assert list(in_processes([], options, 2, auditor_of(options).run)) == []
