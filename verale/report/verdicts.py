"""The checker's verdicts on a collection: from an audit on the spot, or read from an audit log of `verale audit`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from verale.checker import AuditOptions, PictureError
from verale.checker.file_auditor import UNUSABLE, checker_digest, picture_files
from verale.checker.verdict import most_severe
from verale.errors import InputError, option
from verale.files import opener_of, reading
from verale.report.collect import Collection
from verale.runs.audit import AuditSetup, audited_by, auditor_of
from verale.runs.audit_log import read_records
from verale.runs.inputs import find_seen, sha256_of
from verale.runs.options import RunOptions

__all__ = ["audited", "with_verdicts_from"]

_log = logging.getLogger(__name__)


def audited(
    collection: Collection,
    options: AuditOptions | None = None,
    jobs: int = 1,
    advance: Callable[[int], object] = lambda done: None,
) -> Collection:
    """The collection with the verdicts of an audit that runs now; unchanged without a head.

    Args:
        options: of the audit.
        jobs: the number of processes.
        advance: called with the number of certificates audited since the last call.

    Raises:
        InputError: a head or latents file that the checker cannot use, or that changes while processes read it.
    """
    if collection.head_file is None:
        return collection
    records = {}
    network, pictures = find_seen(collection.folder) or (None, None)
    files = collection.head_file.path, collection.latents_path
    setup = AuditSetup(*files, options or AuditOptions(), network, pictures)
    auditor = auditor_of(setup, collection.head_file.data)
    for outcome in audited_by(auditor, collection.stored, setup, RunOptions(jobs)):
        records[outcome.record["certificate"], outcome.record["sha256"]] = outcome.record
        advance(1)
    when = "when this page was written"
    return collection.with_records(lambda item: records.get((str(item.path), item.sha256)), when, auditor.auditor)


def with_verdicts_from(collection: Collection, audit_log: str | Path) -> Collection:
    """The collection with the verdicts of an audit log (certificates/audit-log-v1.md).

    A record counts for a certificate with the same bytes if the audit used what is here: the collection's head (without
    one, the head that the certificate names), its latents, network and pictures; or no latents, or no network, and then
    the instance or the picture is not checked. Of several records the weakest counts.

    Raises:
        InputError: a file that is not an audit log, or contradicts itself.
    """
    here = _digests(collection)
    shown = {item.sha256: item.certificate for item in collection.items if item.path is not None}
    weakest: dict[str, Mapping[str, Any]] = {}
    others = set()
    with reading(audit_log, "an audit log of verale audit") as stream:
        for record, *_ in read_records(audit_log, stream):
            digest, run = record["sha256"], record["run"]
            if digest not in shown:
                continue
            certificate = shown[digest]
            head = here["head"] or (None if certificate is None else certificate.head)
            if run["head"] != head or any(run.get(name) not in (None, here[name]) for name in _CHECKED_WITH):
                others.add(digest)
                continue
            other = weakest.get(digest)
            weakest[digest] = record if other is None else _weaker(other, record, here)
    left_out = sum(item.path is not None and item.sha256 in others - weakest.keys() for item in collection.items)
    if left_out:
        _log.warning(
            "%s has verdicts on %d of these certificates with another head, or with latents, a network or pictures that"
            " are not those here: they do not count; give %s and %s of that audit, or audit again",
            *(audit_log, left_out, option("head"), option("latents")),
        )
    earlier = any(record["run"]["checker"]["sha256"] != checker_digest() for record in weakest.values())
    said = f"read from {Path(audit_log).name}{', by another version of the checker' if earlier else ''}"
    return collection.with_records(lambda item: weakest.get(item.sha256 or ""), said)


_CHECKED_WITH = ("latents", "network", "pictures")
"""What an audit may go without; `run` names each by a digest."""


def _digests(collection: Collection) -> dict[str, str | None]:
    """The digests of what an audit of the collection would use, as `run` has them; None for what is not there."""
    latents, seen = collection.latents_path, find_seen(collection.folder)
    here = dict.fromkeys(("head", *_CHECKED_WITH)) | {
        "head": None if collection.head is None else collection.head.digest,
        "latents": None if latents is None else sha256_of(latents),
    }
    if seen is not None:
        try:
            here |= {"network": sha256_of(seen[0]), "pictures": picture_files(seen[1], opener_of(seen[1]))[1]}
        except (PictureError, OSError) as error:
            raise InputError(seen[1], f"cannot be read ({error}); expected pictures") from error
    return here


def _weaker(one: Mapping[str, Any], other: Mapping[str, Any], here: Mapping[str, object]) -> Mapping[str, Any]:
    """The record that says less. A certificate's verdict comes before that it had none, and a failure before a proof;
    of proofs that with all that is here comes before one without, and then that of fewer claims, with less margin."""
    without = [record["status"] == UNUSABLE for record in (one, other)]
    if without[0] != without[1]:
        return other if without[0] else one
    if one["exit_code"] != other["exit_code"]:
        return one if most_severe([one["exit_code"], other["exit_code"]]) == one["exit_code"] else other

    def order(record: Mapping[str, Any]) -> tuple[int, int, Decimal]:
        missing = sum(record["run"].get(name) != here[name] for name in _CHECKED_WITH)
        proved = sum(state == "proved" for state in record["claims"].values())
        return missing, proved, Decimal(record["margin"] or 0)

    return min(one, other, key=order)
