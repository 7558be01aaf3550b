"""The audit log: a file with one record for each certificate, from which an interrupted audit continues."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from os.path import lexists
from pathlib import Path
from typing import Any, BinaryIO

from verale.checker.file_auditor import UNUSABLE, Outcome, certificate_digest, file_digest
from verale.errors import InputError
from verale.files import opener_of, reading, write_atomically
from verale.runs.auditor import Stored, name_of
from verale.runs.outputs import require_output
from verale.runs.records import read_record, read_records, subject_of

__all__ = ["AuditLog"]

_PIECE = 2**20
"""Bytes of a file that are copied at once."""


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
        self._places: dict[bytes, int] = {}
        """Where in the file the record about a subject begins."""
        with reading(self._path, "an audit log") if lexists(self._path) else BytesIO() as stream:
            length = 0
            for record, start, stop in read_records(path, stream):
                length = stop
                subject = subject_of(record["sha256"], record["run"])
                if record["status"] != UNUSABLE and subject is not None:
                    self._places.setdefault(subject, start)
            require_output(path, inputs)
            stream.seek(0)
            # Without half a record; and so it is known that it can be written.
            write_atomically(self._path, _beginning(stream, length))

    def require_empty(self, why: str) -> None:
        """Raise InputError if it holds verdicts of an earlier audit."""
        if self._places:
            raise InputError(self._path, f"holds verdicts of an earlier audit: {why}")

    def known(self, path: str | Stored, run: dict[str, Any]) -> Outcome | None:
        """The verdict on the same bytes, audited with the same head, latents, options and checker; None without one."""
        if not self._places:
            return None
        subject = subject_of(_digest(path), run)
        place = None if subject is None else self._places.get(subject)
        if place is None:
            return None
        with reading(self._path, "an audit log") as stream:
            stream.seek(place)
            try:
                record = read_record(stream.readline().removesuffix(b"\n"))
            except ValueError:
                return None  # the file was changed meanwhile
        if subject_of(record["sha256"], record["run"]) != subject:
            return None
        return Outcome(record | {"certificate": name_of(path), "reused": True})

    def add(self, outcome: Outcome) -> None:
        """Append an outcome."""
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(outcome.record) + "\n")
        except OSError as error:
            raise InputError(self._path, f"cannot be written ({error.strerror})") from error

    def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Rewrite the log with just these outcomes, in this order."""
        write_atomically(self._path, (json.dumps(outcome.record).encode() + b"\n" for outcome in outcomes))


def _digest(path: str | Stored) -> str | None:
    """`certificate_digest` of a certificate; None if it cannot be read, which its audit then reports."""
    if isinstance(path, str):
        return file_digest(path, opener_of(path))
    try:
        return certificate_digest(path.read())
    except InputError:
        return None


def _beginning(stream: BinaryIO, length: int) -> Iterator[bytes]:
    """The first bytes of a file, in pieces."""
    while length and (piece := stream.read(min(length, _PIECE))):
        length -= len(piece)
        yield piece
