"""Audit at scale: a dataset of certificates becomes a dataset of the records that `verale audit` gives."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.checker.file_auditor import FileAuditor, Outcome, certificate_digest, unusable
from verale.datasets import storage
from verale.datasets.certificates import ParquetRows, RowNames, certificate_rows, to_parquet, to_table
from verale.datasets.latents import Latents, open_latents
from verale.errors import InputError, LatentsError, naming
from verale.runs.auditor import AuditSetup, auditor_of
from verale.runs.processes import DIED
from verale.runs.records import Verdicts, read_record
from verale.runs.run import Finished, Range, gaps, in_order
from verale.runs.store.parquet import StagedDataset
from verale.runs.workers.ray import Job, Summary, Workers, process_parts

if TYPE_CHECKING:
    from pyarrow import Schema
    from torch import Tensor

__all__ = ["AuditRun", "audit_rows", "records_schema"]

_FLAT = (
    "certificate",
    "sha256",
    "status",
    "reason",
    "message",
    "exit_code",
    "predicted",
    "paradigm",
    "arithmetic",
    "statements",
    "margin",
    "seconds",
)
"""The fields of a record that have a column of their own."""

_READ = ("index", "name", "certificate")
"""The columns that an audit reads."""


def records_schema() -> Schema:
    """The columns of an audit log in Parquet: fields of certificates/audit-log-v1.md, and the whole record as JSON."""
    import pyarrow as pa

    whole, real = ("exit_code", "predicted", "statements"), ("seconds",)
    kinds = {name: pa.int64() if name in whole else pa.float64() if name in real else pa.string() for name in _FLAT}
    return pa.schema(kinds | {"record": pa.string()})


@dataclass(frozen=True)
class AuditRun:
    """An audit log in Parquet while it is being written.

    Attributes:
        head: the digest of the head that every verdict is about.
        network: that of the network; None without one.
        staged: the audit log.
        total: how many rows the dataset of certificates has.
        parts: the dataset's rows in order, with their outcomes; iterating does the work.
    """

    head: str
    network: str | None
    staged: StagedDataset
    total: int
    parts: Iterator[Finished[list[Outcome]]]


def audit_rows(path: str, setup: AuditSetup, log: str, workers: Workers, overwrite: bool = False) -> AuditRun:
    """Audit the certificates of a dataset. Publish the run's staged dataset when all its parts are done.

    What an interrupted run has audited is taken over where the records are about the bytes that lie there now.

    Args:
        path: Parquet with a column `certificate`, and `name` and `index` where they are known.
        setup: as for `verale.runs.audit.audit_files`; latents may be Parquet.
        log: the dataset to write.
        workers: who does the work.
        overwrite: as for `StagedDataset.begin`.

    Raises:
        InputError: a file that cannot be used, or as `StagedDataset.begin`.
    """
    rows = certificate_rows(path)
    names = RowNames.of(rows)
    latents = None if setup.latents is None else open_latents(setup.latents)
    head = storage.read_bytes(setup.head, "a head file (safetensors)")
    run = _Auditors(head, setup, None).whole().run
    run |= {"latents": None if latents is None else latents.digest()}
    layout = hashlib.sha256(json.dumps(rows.files).encode()).hexdigest()
    manifest = {"made_by": "verale audit", "certificates": {"rows": len(rows), "layout": layout}, "run": run}
    staged = StagedDataset.begin(log, manifest, overwrite)
    written = staged.keep(len(rows), partial(_is_still_true, staged, rows, names, run, Verdicts()))
    parts = [
        (max(start, begin), min(stop, end))
        for begin, end in gaps(written, len(rows))
        for start, stop in rows.groups
        if start < end and begin < stop
    ]
    if not len(rows):
        staged.write(0, 0, _parquet([]))
    create_job = partial(_AuditRows, rows, names, head, setup, latents, run)
    earlier: Iterator[Finished[list[Outcome] | None]] = (Finished(*part, None) for part in written)
    audited = chain(earlier, _finished(create_job, staged, parts, rows, names, run, workers))
    told = map(partial(_read, staged), in_order(audited, [(0, len(rows))]))
    network = str(run["network"]) if "network" in run else None
    return AuditRun(str(run["head"]), network, staged, len(rows), _unless_changed(told, latents, run, staged))


def _is_still_true(
    staged: StagedDataset,
    rows: ParquetRows,
    names: RowNames,
    run: dict[str, Any],
    verdicts: Verdicts,
    start: int,
    stop: int,
) -> bool:
    """Whether a part holds exactly the verdicts on its rows: by name, by the digest of their bytes now, of this run;
    and the same on the same bytes.

    If it does, it is written again, from those records alone, and they say that they were taken over.
    """
    try:
        records = [read_record(row["record"]) for row in staged.read(start, stop, ("record",))]
    except (InputError, ValueError, TypeError):  # damaged, or not what an audit writes
        return False
    if any(record["run"] != run or not verdicts.agree(record) for record in records):
        return False
    now = [(label, certificate_digest(data)) for label, _, data in _certificates(rows, names, start, stop)]
    if [(record["certificate"], record["sha256"]) for record in records] != now:
        return False
    staged.write(start, stop, _parquet([record | {"reused": True} for record in records]))
    return True


def _unless_changed(
    parts: Iterator[Finished[list[Outcome]]], latents: Latents | None, run: dict[str, Any], staged: StagedDataset
) -> Iterator[Finished[list[Outcome]]]:
    """The parts. Raises InputError after the last one: the latents are no longer those whose digest all records have.

    Workers read parts of the latents, long after the digest was taken.
    """
    yield from parts
    if latents is not None and latents.digest() != run["latents"]:
        staged.discard()
        raise InputError(latents.path, "changed while certificates were audited; run the command again")


def _finished(
    create_job: Callable[[], Job],
    staged: StagedDataset,
    parts: list[Range],
    rows: ParquetRows,
    names: RowNames,
    run: dict[str, Any],
    workers: Workers,
) -> Iterator[Finished[list[Outcome] | None]]:
    """The parts; a certificate that kills its workers gets a record that says so."""
    for part in process_parts(create_job, staged, parts, _single_rows, workers):
        if part.result is None:
            given = _certificates(rows, names, part.start, part.stop)
            records = [unusable(label, DIED, run, certificate_digest(data)).record for label, _, data in given]
            staged.write(part.start, part.stop, _parquet(records))
        else:
            records = part.result["records"]
        yield Finished(part.start, part.stop, list(map(Outcome, records)), part.seconds)


def _read(staged: StagedDataset, part: Finished[list[Outcome] | None]) -> Finished[list[Outcome]]:
    """The part with its outcomes; those that an earlier run wrote are read only now."""
    if part.result is not None:
        return Finished(part.start, part.stop, part.result, part.seconds)
    records = [json.loads(row["record"]) for row in staged.read(part.start, part.stop, ("record",))]
    return Finished(part.start, part.stop, list(map(Outcome, records)))


def _single_rows(part: Range) -> list[Range]:
    start, stop = part
    return [(row, row + 1) for row in range(start, stop)] if stop - start > 1 else []


class _AuditRows:
    """The job: rows of certificates become records."""

    def __init__(
        self,
        rows: ParquetRows,
        names: RowNames,
        head: bytes,
        setup: AuditSetup,
        latents: Latents | None,
        run: dict[str, Any],
    ) -> None:
        self._rows, self._names, self._run = rows, names, run
        self._auditors = _Auditors(head, setup, latents)

    def __call__(self, start: int, stop: int) -> tuple[bytes, Summary]:
        certificates = list(_certificates(self._rows, self._names, start, stop))
        near = self._auditors.near([index for _, index, _ in certificates if index is not None])
        records = []
        for label, _, data in certificates:
            record = near.audit(label, data).record
            if record["reason"] == "subject" and self._auditors.latents is not None:
                record = self._auditors.whole().audit(label, data).record  # its image may have any index
            # Head, checker and libraries are this worker's own; the latents are those that it has read a part of.
            records.append(record | {"run": record["run"] | {"latents": self._run["latents"]}})
        return _parquet(records), {"records": records}


class _Auditors:
    """Auditors of one head, each with some of the latents: of a million images, a worker reads only those it needs."""

    def __init__(self, head: bytes, setup: AuditSetup, latents: Latents | None) -> None:
        self._head, self._setup, self.latents = head, setup, latents
        self._whole: FileAuditor | None = None

    def near(self, indexes: list[int]) -> FileAuditor:
        """An auditor with the images of these indices, as far as they exist."""
        import torch

        latents = self.latents
        if latents is None or self._setup.network is not None:  # pictures are looked for among all of them
            return self.whole()
        existing = sorted({index for index in indexes if 0 <= index < len(latents)})
        if not existing:
            return self.whole()
        consecutive = existing[-1] - existing[0] < len(existing)
        runs = [(existing[0], existing[-1] + 1)] if consecutive else [(index, index + 1) for index in existing]
        return self._with(latents, torch.cat([latents.take(*each) for each in runs]))

    def whole(self) -> FileAuditor:
        """An auditor with all images; without latents it checks no instance."""
        if self._whole is None:
            self._whole = self._with(self.latents, None if self.latents is None else self.latents.whole())
        return self._whole

    def _with(self, latents: Latents | None, some: Tensor | None) -> FileAuditor:
        with tempfile.TemporaryDirectory() as folder:
            head, images = Path(folder) / "head", Path(folder) / "latents"
            head.write_bytes(self._head)
            if latents is not None and some is not None:
                from verale.head import save_latents

                with naming(latents.path, LatentsError):
                    save_latents(images, some)
            try:
                return auditor_of(replace(self._setup, head=str(head), latents=None if some is None else str(images)))
            except InputError as error:
                given = latents.path if latents is not None and error.path == str(images) else self._setup.head
                raise InputError(given, error.problem) from error


def _certificates(rows: ParquetRows, names: RowNames, start: int, stop: int) -> Iterator[tuple[str, int | None, bytes]]:
    """The certificates of rows: label, index among the images where known, bytes. Rows without one are left out."""
    table = rows.take(start, stop, _READ)
    given = table["name"].to_pylist() if "name" in table.column_names else [None] * len(table)
    indexes = table["index"].to_pylist() if "index" in table.column_names else [None] * len(table)
    for row, (name, index, data) in enumerate(
        zip(given, indexes, table["certificate"].to_pylist(), strict=True), start
    ):
        if data is not None:
            yield names.label(row, name), index, data


def _parquet(records: list[dict[str, Any]]) -> bytes:
    rows = [{name: record[name] for name in _FLAT} | {"record": json.dumps(record)} for record in records]
    return to_parquet(to_table(rows, records_schema()))
