"""What the checker says of certificates: asked on the spot, or read from a report of `verale audit`."""

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

__all__ = ["audited", "with_verdicts_of"]

_CLAIMS = ("entailment", "instance", "minimality")
_STATUSES = ("PROVED", "NOT_PROVED", "REFUTED", "MALFORMED", "UNUSABLE")


def audited(
    collection: Collection,
    minimality: bool = False,
    jobs: int = 1,
    advance: Callable[[int], object] = lambda done: None,
) -> Collection:
    """The collection with the checker's verdicts, given now; unchanged where no head is at hand.

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
    return collection.with_records(lambda item: records.get((str(item.path), item.sha256)), "when this report was made")


def with_verdicts_of(collection: Collection, report: str | Path) -> Collection:
    """The collection with the verdicts of an audit log (certificates/audit-log-v1.md).

    A record counts for a certificate of the same bytes, audited with the head at hand; with the head that the
    certificate names, where none is at hand.

    Raises:
        InputError: a file that is no report.
    """
    head = None if collection.head is None else collection.head.digest
    records = {}
    for number, line in enumerate(read(report, "a report of verale audit").splitlines()):
        try:
            record = json.loads(line)
            if record["_type"] != "urn:verale:report:v1" or not _well_formed(record):
                raise ValueError
            records[record["sha256"], record["run"]["head"]] = record
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(
                report, f"line {number + 1} is no record of a report: expected what verale audit --log writes"
            ) from None

    def record_of(item: Item) -> Mapping[str, Any] | None:
        named = None if item.summary is None else item.summary.head
        return records.get((item.sha256, head or named))

    return collection.with_records(record_of, f"read from {report}")


def _well_formed(record: Mapping[str, Any]) -> bool:
    """Whether the fields that a page shows are there, of the types that certificates/audit-log-v1.md gives them."""
    return (
        record["status"] in _STATUSES
        and all(isinstance(record[name], str) for name in ("reason", "message"))
        and (record["seconds"] is None or 0 <= record["seconds"] < inf)
        and set(record["claims"]) <= set(_CLAIMS)
        and set(record["claims"].values()) <= {"proved", "not checked"}
        and isinstance(record["run"]["kernel"], str)
        and isinstance(record["run"]["checker"]["sha256"], str)
    )
