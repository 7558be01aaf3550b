"""The audit log: a file with one record for each certificate, from which an interrupted audit continues."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from verale.checker.file_auditor import UNUSABLE, Outcome, file_digest
from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read, write_atomically
from verale.runs.auditor import Stored, certificate_digest, name_of
from verale.runs.outputs import require_output
from verale.runs.records import read_records

__all__ = ["AuditLog"]


class AuditLog:
    """An audit log: one JSON object a line (certificates/audit-log-v1.md).

    Records are appended while certificates are audited, so that finished work survives an interruption.

    Args:
        path: the file.
        inputs: what the audit reads.

    Raises:
        InputError: the file exists and is not an audit log, or contradicts itself; then it stays as it is.
    """

    def __init__(self, path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
        self._path = Path(path)
        data = read(path, "an audit log", most=LARGEST_LATENTS) if self._path.exists() else b""
        records, length = read_records(path, data)
        require_output(path, inputs)
        self._verdicts = _verdicts(path, records)
        write_atomically(self._path, data[:length])  # without half a record; and so it is known that it can be written

    def require_empty(self, why: str) -> None:
        """Raise InputError if it holds verdicts of an earlier audit."""
        if self._verdicts:
            raise InputError(self._path, f"holds verdicts of an earlier audit: {why}")

    def known(self, path: str | Stored, run: dict[str, Any]) -> Outcome | None:
        """The verdict on the same bytes, audited with the same head, latents, options and checker; None without one."""
        if not self._verdicts:
            return None
        digest = _digest(path)
        record = None if digest is None else self._verdicts.get(_key(digest, run))
        return None if record is None else Outcome(record | {"certificate": name_of(path), "reused": True})

    def add(self, outcome: Outcome) -> None:
        """Append an outcome."""
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(outcome.record) + "\n")
        except OSError as error:
            raise InputError(self._path, f"cannot be written ({error.strerror})") from error

    def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Rewrite the log with just these outcomes, in this order."""
        write_atomically(self._path, "".join(json.dumps(outcome.record) + "\n" for outcome in outcomes).encode())


def _digest(path: str | Stored) -> str | None:
    """`certificate_digest` of a certificate; None if it cannot be read, which its audit then reports."""
    if isinstance(path, str):
        return file_digest(path)
    try:
        return certificate_digest(path.read())
    except InputError:
        return None


def _verdicts(path: str | Path, records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The records with a verdict, by what it is about. Raises InputError: two verdicts are about the same."""
    verdicts: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(records, 1):
        if record["status"] == UNUSABLE or record["sha256"] is None:
            continue
        other = verdicts.setdefault(_key(record["sha256"], record["run"]), record)
        if any(other[field] != record[field] for field in ("status", "reason", "claims", "margins")):
            raise InputError(
                path, f"line {number} has another verdict than an earlier line, on the same bytes; remove this file"
            )
    return verdicts


def _key(digest: str, run: dict[str, Any]) -> str:
    return json.dumps([digest, run], sort_keys=True)
