"""The checker's verdicts on a collection: from an audit on the spot, or read from an audit log of `verale audit`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from verale.errors import InputError
from verale.files import read
from verale.report.collect import Collection, Item
from verale.runs.audit import audit_files
from verale.runs.auditor import AuditOptions

__all__ = ["audited", "with_verdicts_from"]

_CLAIMS = ("entailment", "instance", "minimality")
_STATUSES = ("PROVED", "NOT_PROVED", "REFUTED", "MALFORMED", "UNUSABLE")
"""What an audit log may say; NOT_REFUTED is only a status of `verale refute`."""


def audited(
    collection: Collection,
    minimality: bool = False,
    jobs: int = 1,
    advance: Callable[[int], object] = lambda done: None,
) -> Collection:
    """The collection with the verdicts of an audit that runs now; unchanged without a head.

    Args:
        minimality: whether to check that every statement is needed, where that is claimed.
        jobs: the number of processes.
        advance: called with the number of certificates audited since the last call.

    Raises:
        InputError: a head or latents file that the checker cannot use.
    """
    if collection.head_path is None:
        return collection
    latents = None if collection.latents_path is None else str(collection.latents_path)
    records = {}
    for outcome in audit_files(
        collection.paths, AuditOptions(str(collection.head_path), latents, "arb", minimality), jobs
    ):
        records[outcome.record["certificate"], outcome.record["sha256"]] = outcome.record
        advance(1)
    when = "when this page was written"
    return collection.with_records(lambda item: records.get((str(item.path), item.sha256)), when)


def with_verdicts_from(collection: Collection, audit_log: str | Path) -> Collection:
    """The collection with the verdicts of an audit log (certificates/audit-log-v1.md).

    A record counts for a certificate with the same bytes if the audit used the collection's head; without a head in the
    collection, if it used the head that the certificate names.

    Raises:
        InputError: a file that is not an audit log.
    """
    head = None if collection.head is None else collection.head.digest
    records = {}
    for number, line in enumerate(read(audit_log, "an audit log of verale audit").splitlines()):
        try:
            record = json.loads(line)
            if record["_type"] != "urn:verale:report:v1" or not _well_formed(record):
                raise ValueError
            records[record["sha256"], record["run"]["head"]] = record
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(
                audit_log,
                f"line {number + 1} is not a record of an audit log: expected a file that verale audit --log wrote",
            ) from None

    def record_of(item: Item) -> Mapping[str, Any] | None:
        named = None if item.summary is None else item.summary.head
        return records.get((item.sha256, head or named))

    return collection.with_records(record_of, f"read from {audit_log}")


def _well_formed(record: Mapping[str, Any]) -> bool:
    """Whether the fields that a report shows are present, with the types of certificates/audit-log-v1.md."""
    return (
        record["status"] in _STATUSES
        and all(isinstance(record[name], str) for name in ("reason", "message"))
        and (record["seconds"] is None or 0 <= record["seconds"] < inf)
        and set(record["claims"]) <= set(_CLAIMS)
        and set(record["claims"].values()) <= {"proved", "not checked"}
        and isinstance(record["run"]["kernel"], str)
        and isinstance(record["run"]["checker"]["sha256"], str)
    )
