"""Audit at scale: a dataset of certificates to a dataset of records, the same as `verale audit` tells."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.checker.file_auditor import FileAuditor, Outcome, unusable
from verale.datasets import storage
from verale.datasets.certificates import Rows, to_parquet, to_table
from verale.datasets.latents import Latents, open_latents
from verale.datasets.staging import Staged
from verale.errors import InputError
from verale.files import certificate_name
from verale.ray.explain import gaps
from verale.ray.pipeline import Crew, Made, Range, made
from verale.runs.auditor import AuditOptions, auditor_of
from verale.runs.processes import DIED

if TYPE_CHECKING:
    from pyarrow import Schema, Table
    from torch import Tensor

__all__ = ["Audited", "Auditing", "audit_rows", "records_schema"]

_FLAT = (
    "certificate",
    "sha256",
    "status",
    "reason",
    "message",
    "exit_code",
    "predicted",
    "paradigm",
    "statements",
    "margin",
    "seconds",
)


_READ = ("index", "name", "certificate")


def records_schema() -> Schema:
    """The columns of an audit log: fields of certificates/audit-log-v1.md, and the whole record as JSON."""
    import pyarrow as pa

    whole, real = ("exit_code", "predicted", "statements"), ("seconds",)
    kinds = {name: pa.int64() if name in whole else pa.float64() if name in real else pa.string() for name in _FLAT}
    return pa.schema(kinds | {"record": pa.string()})


@dataclass(frozen=True)
class Audited:
    """Rows that are audited, what is told of their certificates, and the worker's processor time."""

    start: int
    stop: int
    outcomes: list[Outcome]
    seconds: float = 0.0


@dataclass(frozen=True)
class Auditing:
    """A report that is made.

    Attributes:
        staged: where.
        total: rows of the dataset.
        begun: how many of them were audited before.
        parts: its rows in order, and what is told of their certificates.
    """

    staged: Staged
    total: int
    begun: int
    parts: Iterator[Audited]


def audit_rows(path: str, options: AuditOptions, report: str, crew: Crew, overwrite: bool = False) -> Auditing:
    """Audit the certificates of a dataset; `publish` what is staged when all parts are made.

    Args:
        path: Parquet with a column `certificate`, and `name` and `index` where they are known.
        options: as `verale.runs.audit.audit_files`; latents may be Parquet.
        report: the dataset to be made.

    Raises:
        InputError: a file that cannot be used, or as `Staged.begin`.
    """
    rows = Rows.open(path, "certificate")
    latents = None if options.latents is None else open_latents(options.latents)
    head = storage.read_bytes(options.head, "a head file (safetensors)")
    run = _Auditors(head, options, None).whole().run
    run |= {"latents": None if latents is None else latents.digest()}
    manifest = {
        "made_by": "verale audit",
        "certificates": storage.stamp(storage.files_under(path, ".parquet")),
        "run": run,
    }
    staged = Staged.begin(report, manifest, overwrite)
    there = staged.ranges()
    left = gaps(there, len(rows))
    parts = [
        (max(start, begin), min(stop, end))
        for begin, end in left
        for start, stop in rows.groups
        if start < end and begin < stop
    ]
    if not len(rows):
        staged.write(0, 0, _parquet([]))
    make = partial(_Audit, rows, head, options, latents, run)
    begun = len(rows) - sum(stop - start for start, stop in left)
    told = _in_order(_audited(make, staged, parts, rows, run, crew), parts, staged, there)
    return Auditing(staged, len(rows), begun, told)


def _audited(
    make: Any, staged: Staged, parts: list[Range], rows: Rows, run: dict[str, Any], crew: Crew
) -> Iterator[Made]:
    for one in made(make, staged, parts, _one_by_one, crew):
        if one.told is None:
            name = _names(rows, rows.take(one.start, one.stop, _READ), one.start)[0]
            record = unusable(name, DIED, run).record
            staged.write(one.start, one.stop, _parquet([record]))
            one = replace(one, told={"records": [record]})
        yield one


def _one_by_one(part: Range) -> list[Range]:
    start, stop = part
    return [(row, row + 1) for row in range(start, stop)] if stop - start > 1 else []


def _in_order(found: Iterator[Made], parts: list[Range], staged: Staged, there: list[Range]) -> Iterator[Audited]:
    """What is found, as soon as everything before it has been; what was there before, in its place."""
    waiting: dict[int, Made] = {}
    earlier, todo = dict(there), dict(sorted([*parts, *there]))
    for one in chain([None], found):
        if one is not None:
            waiting[one.start] = one
        while todo:
            start = next(iter(todo))
            if start in earlier:
                stop = todo.pop(start)
                told = staged.read(start, stop, "record")
                yield Audited(start, stop, [Outcome(json.loads(record), reused=True) for record in told])
            elif start in waiting:
                first, stop = waiting.pop(start), todo.pop(start)
                if first.stop < stop:  # a part that was split
                    todo = {first.stop: stop} | todo
                outcomes = [Outcome(record) for record in (first.told or {})["records"]]
                yield Audited(start, first.stop, outcomes, first.seconds)
            else:
                break


class _Audit:
    """The job: rows of certificates to records."""

    def __init__(
        self, rows: Rows, head: bytes, options: AuditOptions, latents: Latents | None, run: dict[str, Any]
    ) -> None:
        self._rows, self._run = rows, run
        self._auditors = _Auditors(head, options, latents)

    def __call__(self, start: int, stop: int) -> tuple[bytes, dict[str, Any]]:
        table = self._rows.take(start, stop, _READ)
        names = _names(self._rows, table, start)
        indexes = table["index"].to_pylist() if "index" in table.column_names else [None] * len(table)
        there = [
            (name, index, data)
            for name, index, data in zip(names, indexes, table["certificate"].to_pylist(), strict=True)
            if data is not None  # an image without a certificate
        ]
        near = self._auditors.near([index for _, index, _ in there if index is not None])
        records = []
        for name, _, data in there:
            record = near.audit(name, data).record
            if record["reason"] == "subject" and self._auditors.latents is not None:
                record = self._auditors.whole().audit(name, data).record  # its image may be anywhere
            records.append(record | {"run": self._run})
        return _parquet(records), {"records": records}


class _Auditors:
    """Auditors of one head, each of some of the latents: of a million images, a worker reads those it needs."""

    def __init__(self, head: bytes, options: AuditOptions, latents: Latents | None) -> None:
        self._head, self._options, self.latents = head, options, latents
        self._whole: FileAuditor | None = None

    def near(self, indexes: list[int]) -> FileAuditor:
        """One that has the images of these indexes, where they are there."""
        import torch

        latents = self.latents
        if latents is None:
            return self.whole()
        found = sorted({index for index in indexes if 0 <= index < len(latents)})
        if not found:
            return self.whole()
        at_once = found[-1] - found[0] < len(found)
        runs = [(found[0], found[-1] + 1)] if at_once else [(index, index + 1) for index in found]
        return self._with(latents, torch.cat([latents.take(*each) for each in runs]))

    def whole(self) -> FileAuditor:
        """One that has all images, or checks no instance."""
        if self._whole is None:
            self._whole = self._with(self.latents, None if self.latents is None else self.latents.whole())
        return self._whole

    def _with(self, latents: Latents | None, some: Tensor | None) -> FileAuditor:
        with tempfile.TemporaryDirectory() as folder:
            head, images = Path(folder) / "head", Path(folder) / "latents"
            head.write_bytes(self._head)
            if some is not None:
                from verale.head import save_latents

                save_latents(images, some)
            try:
                return auditor_of(replace(self._options, head=str(head), latents=None if some is None else str(images)))
            except InputError as error:
                given = latents.path if latents is not None and error.path == str(images) else self._options.head
                raise InputError(given, error.problem) from error


def _names(rows: Rows, table: Table, start: int) -> list[str]:
    names = table["name"].to_pylist() if "name" in table.column_names else [None] * len(table)
    return [storage.beneath(rows.path, name or certificate_name(place)) for place, name in enumerate(names, start)]


def _parquet(records: list[dict[str, Any]]) -> bytes:
    rows = [{name: record[name] for name in _FLAT} | {"record": json.dumps(record)} for record in records]
    return to_parquet(to_table(rows, records_schema()))
