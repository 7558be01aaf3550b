"""The audit log: a file with one record for each certificate, from which an interrupted audit continues."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verale.checker.file_auditor import UNUSABLE, Outcome, file_digest
from verale.errors import InputError
from verale.files import read, write_atomically
from verale.runs.auditor import Stored, name_of

__all__ = ["AuditLog"]


class AuditLog:
    """An audit log: one JSON object a line (certificates/audit-log-v1.md).

    Records are appended while certificates are audited, so that finished work survives an interruption.

    Raises:
        InputError: the file exists and is not an audit log.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._records: dict[str, dict[str, Any]] = {}
        lines = read(path, "an audit log").decode("utf-8", "replace").split("\n") if self._path.exists() else [""]
        for number, line in enumerate(lines[:-1]):  # after the last newline comes nothing, or half a record
            try:
                record = json.loads(line)
                self._records[_key(record["sha256"], record["run"])] = record
            except (ValueError, TypeError, KeyError):
                raise InputError(
                    path, f"line {number + 1} is not a record of an audit log; choose another file"
                ) from None
        if lines[-1] and not self._records:
            raise InputError(path, "is not an audit log; choose another file")
        self._write(self._records.values())

    def known(self, path: str | Stored, run: dict[str, Any]) -> Outcome | None:
        """The outcome for the same bytes, audited with the same options; None if there is none, or only UNUSABLE."""
        digest = file_digest(path) if isinstance(path, str) else hashlib.sha256(path.read()).hexdigest()
        record = None if digest is None else self._records.get(_key(digest, run))
        if record is None or record["status"] == UNUSABLE:
            return None
        return Outcome(record | {"certificate": name_of(path)}, reused=True)

    def add(self, outcome: Outcome) -> None:
        """Append an outcome."""
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(outcome.record) + "\n")
        except OSError as error:
            raise InputError(self._path, f"cannot be written ({error.strerror})") from error

    def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Rewrite the log with just these outcomes, in this order."""
        self._write([outcome.record for outcome in outcomes])

    def _write(self, records: Any) -> None:
        write_atomically(self._path, "".join(json.dumps(record) + "\n" for record in records).encode())


def _key(digest: str, run: dict[str, Any]) -> str:
    return json.dumps([digest, run], sort_keys=True)
