"""Explain at scale: certificates as rows of a dataset, with the same bytes as `verale explain` writes."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from verale.datasets.certificates import ParquetRows, certificates_schema, to_parquet, to_table
from verale.datasets.latents import Latents
from verale.datasets.staging import StagedDataset
from verale.errors import InputError, LatentsError
from verale.ray.pipeline import ATTEMPTS, FinishedPart, Job, Range, Workers, process_parts
from verale.version import __version__

if TYPE_CHECKING:
    from pyarrow import Schema

    from verale.head import Head
    from verale.runs.affordable import DefaultAudits
    from verale.search import SearchOptions

__all__ = ["ExplainRun", "audits_of", "begin_run", "explain_latents", "gaps", "rows_of", "split"]

_DIED = f"{ATTEMPTS} workers died of this image, perhaps because memory ran out"

_OF_IMAGES = ("image", "image_sha256")
"""The columns that say which image a row is of, where there are image files."""

_LARGEST = 128
"""About how many images a part has: so much work is done again when a worker is killed."""


@dataclass(frozen=True)
class ExplainRun:
    """A dataset of certificates while it is being written.

    Attributes:
        staged: the dataset.
        total: how many images it will have.
        begun: how many of them an earlier, interrupted run wrote.
        parts: the parts in the order in which they are finished; iterating does the work.
    """

    staged: StagedDataset
    total: int
    begun: int
    parts: Iterator[FinishedPart]

    def finish(self) -> list[int]:
        """Publish the dataset; return the images without a certificate. Raises InputError: parts are missing."""
        self.staged.publish(self.total)
        rows = ParquetRows.open(self.staged.path, "reason")
        tables = (rows.take(*group, ("index", "reason")) for group in rows.groups)
        return [
            index
            for table in tables
            for index, reason in zip(table["index"].to_pylist(), table["reason"].to_pylist(), strict=True)
            if reason is not None
        ]


def audits_of(path: str) -> tuple[int, list[int]]:
    """How many certificates of a dataset do not claim minimality because an audit has too few steps to prove it by
    default; and the limits that audits need, of those that need one."""
    rows = ParquetRows.open(path, "reason")
    tables = [rows.take(*group, ("unclaimed", "audit_limit")) for group in rows.groups]
    unclaimed, limits = (
        [one for table in tables for one in table[name].to_pylist() if one is not None]
        for name in ("unclaimed", "audit_limit")
    )
    return len(unclaimed), limits


def explain_latents(
    head: bytes, latents: Latents, out: str, options: SearchOptions, workers: Workers, overwrite: bool = False
) -> ExplainRun:
    """Explain every image of a latents file. Call `finish` on the run when all its parts are done.

    Raises:
        InputError: as `StagedDataset.begin`.
        UsageError, LatentsError: as `verale.search.explain_batches`, here perhaps after some parts are done.
    """
    from verale.head import Head
    from verale.search import Batches

    first = latents.take(0, min(1, len(latents)))
    try:
        batch = Batches(Head.from_bytes(head), first, replace(options, device="cpu")).size
    except LatentsError as error:
        raise InputError(latents.path, str(error)) from error
    options = replace(options, device=workers.device)
    manifest = {
        "head": hashlib.sha256(head).hexdigest(),
        "latents": latents.digest(),
        "options": asdict(options) | {"batch": batch, "max_memory": None},
    }
    create_job = partial(_ExplainLatents, head, latents, options)
    return begin_run(create_job, certificates_schema(), out, manifest, len(latents), batch, workers, overwrite)


def begin_run(
    create_job: Callable[[], Job],
    schema: Schema,
    out: str,
    manifest: dict[str, Any],
    total: int,
    batch: int,
    workers: Workers,
    overwrite: bool,
    is_of_same_image: Callable[[dict[str, Any]], bool] = lambda row: True,
) -> ExplainRun:
    """Begin a dataset of certificates, or continue one. Parts consist of whole batches.

    A part of an interrupted run is kept if it has a row for each of its images, each certificate has the digest noted,
    and each row is of the image that lies there now; where latents are given, the manifest has their digest.
    """
    import torch

    made_by = {"made_by": f"verale explain {__version__}, torch {torch.__version__}"}
    staged = StagedDataset.begin(out, made_by | manifest, overwrite)
    written = staged.keep(total, partial(_is_whole, staged, is_of_same_image))
    parts = split(gaps(written, total), batch, workers.size)
    if not total:
        staged.write(0, 0, to_parquet(to_table([], schema)))
    begun = sum(stop - start for start, stop in written)
    return ExplainRun(staged, total, begun, _finished(create_job, schema, staged, parts, batch, workers))


def _is_whole(staged: StagedDataset, is_of_same_image: Callable[[dict[str, Any]], bool], start: int, stop: int) -> bool:
    try:
        rows = staged.read(start, stop, ("index", "certificate", "sha256", "reason", *_OF_IMAGES))
    except InputError:  # damaged
        return False
    return [row["index"] for row in rows] == list(range(start, stop)) and all(
        _is_noted(row) and (row.get("reason") == _DIED or is_of_same_image(row)) for row in rows
    )


def _is_noted(row: dict[str, Any]) -> bool:
    """Whether a row has a certificate with the digest noted, or a reason why it has none."""
    data = row.get("certificate")
    if data is None:
        return row.get("reason") is not None
    return isinstance(data, bytes) and hashlib.sha256(data).hexdigest() == row.get("sha256")


def _finished(
    create_job: Callable[[], Job],
    schema: Schema,
    staged: StagedDataset,
    parts: list[Range],
    batch: int,
    workers: Workers,
) -> Iterator[FinishedPart]:
    """The parts; an image that kills its workers gets a row with the reason."""
    for part in process_parts(create_job, staged, parts, partial(_smaller, batch), workers):
        if part.summary is None:
            row = {"index": part.start, "reason": _DIED}
            staged.write(part.start, part.stop, to_parquet(to_table([row], schema)))
            part = replace(part, summary={})
        yield part


def gaps(ranges: list[Range], total: int) -> list[Range]:
    """The ranges of [0, total) that no range covers."""
    uncovered, reached = [], 0
    for start, stop in sorted(ranges):
        if start > reached:
            uncovered.append((reached, start))
        reached = max(reached, stop)
    return [*uncovered, (reached, total)] if reached < total else uncovered


def split(ranges: list[Range], batch: int, workers: int) -> list[Range]:
    """Parts of ranges, each of whole batches counted from image 0, small enough that all workers get some."""
    images = sum(stop - start for start, stop in ranges)
    batches = max(1, min(_LARGEST // batch, math.ceil(images / (4 * workers * batch))))
    return [part for whole in ranges for part in _steps(whole, batch * batches)]


def _smaller(batch: int, part: Range) -> list[Range]:
    """The batches of a part, or the images of a batch. An image alone may get another certificate than in its batch."""
    start, stop = part
    batches = _steps(part, batch)
    return batches if len(batches) > 1 else _steps(part, 1) if stop - start > 1 else []


def _steps(part: Range, step: int) -> list[Range]:
    """A range split at the multiples of a step."""
    start, stop = part
    cuts = [start, *range((start // step + 1) * step, stop, step), stop]
    return list(pairwise(cuts))


class _ExplainLatents:
    """The job: rows of latents become rows of certificates."""

    def __init__(self, head: bytes, latents: Latents, options: SearchOptions) -> None:
        import torch

        from verale.head import Head
        from verale.runs.affordable import DefaultAudits

        torch.set_num_threads(1)
        self._head, self._latents, self._options = Head.from_bytes(head), latents, options
        self._audits = DefaultAudits(self._head)

    def __call__(self, start: int, stop: int) -> tuple[bytes, dict[str, Any]]:
        try:
            labels = self._latents.labels(start, stop)
            images = self._latents.take(start, stop)
            rows = rows_of(self._head, images, self._options, start, labels, self._audits)
        except LatentsError as error:
            raise InputError(self._latents.path, f"counted from image {start}: {error}") from error
        return to_parquet(to_table(rows, certificates_schema())), {}


def rows_of(
    head: Head,
    latents: Any,
    options: SearchOptions,
    start: int,
    labels: Sequence[int | None] | None,
    audits: DefaultAudits,
) -> list[dict[str, Any]]:
    """Explain images; return their rows, with indices from `start` on. Raises LatentsError, which counts from there."""
    from verale.files import certificate_name
    from verale.runs.rows import rows_and_certificates
    from verale.search import Batches

    rows: list[dict[str, Any]] = []
    batches = Batches(head, latents, options)
    for begin in batches.starts:
        clock = time.perf_counter()
        results = batches.explain(begin)
        seconds = round((time.perf_counter() - clock) / len(results), 4)
        known = None if labels is None else labels[begin : begin + len(results)]
        images = batches.images[begin : begin + len(results)]
        emitted = audits.emitted(
            images, [result.explanation for result in results], [result.exact for result in results]
        )
        explained, certificates = rows_and_certificates(results, emitted, start + begin, head.size, seconds, known)
        bytes_of = dict(certificates)
        for row in explained:
            name = certificate_name(row.index)
            rows.append(asdict(row) | {"name": name, "certificate": bytes_of.get(name)})
    return rows
