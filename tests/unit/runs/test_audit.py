"""Audits of files: verdicts, and outcomes in order, in one process or in several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import verale
from verale.checker import AuditOptions
from verale.errors import InputError
from verale.runs.audit import AuditSetup, audit_files
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
