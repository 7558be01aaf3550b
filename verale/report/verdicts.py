"""The checker's verdicts on a collection: from an audit on the spot, or read from an audit log of `verale audit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read
from verale.report.collect import Collection, Item
from verale.runs.audit import audit_files
from verale.runs.auditor import AuditOptions
from verale.runs.inputs import find_seen
from verale.runs.records import read_records

__all__ = ["audited", "with_verdicts_from"]


def audited(
    collection: Collection,
    minimality: bool = False,
    jobs: int = 1,
    advance: Callable[[int], object] = lambda done: None,
    kernel: str | None = None,
) -> Collection:
    """The collection with the verdicts of an audit that runs now; unchanged without a head.

    Args:
        minimality: whether to check that every statement is needed, where that is claimed.
        jobs: the number of processes.
        advance: called with the number of certificates audited since the last call.
        kernel: what proves; see `verale.audit`.

    Raises:
        InputError: a head or latents file that the checker cannot use, or a head that is no longer the collection's.
    """
    if collection.head_path is None:
        return collection
    latents = None if collection.latents_path is None else str(collection.latents_path)
    records = {}
    digest = None if collection.head is None else collection.head.digest
    network, pictures = find_seen(collection.folder) or (None, None)
    options = AuditOptions(str(collection.head_path), latents, kernel, minimality, network=network, pictures=pictures)
    for outcome in audit_files(collection.paths, options, jobs):
        if outcome.record["run"]["head"] != digest:
            raise InputError(collection.head_path, "changed while the report was written: run the command again")
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
    found, _ = read_records(audit_log, read(audit_log, "an audit log of verale audit", most=LARGEST_LATENTS))
    records = {(record["sha256"], record["run"]["head"]): record for record in found}

    def record_of(item: Item) -> Mapping[str, Any] | None:
        named = None if item.summary is None else item.summary.head
        return records.get((item.sha256, head or named))

    return collection.with_records(record_of, f"read from {audit_log}")
