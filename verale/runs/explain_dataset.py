"""Explain at scale: certificates as rows of a dataset, with the same bytes as `verale explain` writes into a folder."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from verale.datasets.certificates import certificates_schema, to_parquet, to_table
from verale.datasets.latents import Latents
from verale.errors import InputError, LatentsError
from verale.files import certificate_name
from verale.runs.parts import Explainer
from verale.runs.run import Finished, Range, Run, cut
from verale.runs.store.parquet import ExplainedDataset, StagedDataset
from verale.runs.table import Explained
from verale.runs.workers.ray import ATTEMPTS, Job, Summary, Workers, process_parts
from verale.version import __version__

if TYPE_CHECKING:
    from pyarrow import Schema

    from verale.checker.deployment import Deployment
    from verale.head import Head
    from verale.search import SearchOptions

__all__ = ["described", "explain_latents", "open_dataset", "rows_of", "split"]

_log = logging.getLogger(__name__)

_DIED = f"{ATTEMPTS} workers died of this image, perhaps because memory ran out"

_OF_IMAGES = ("image", "image_sha256")
"""The columns that say which image a row is of, where there are image files."""

_LARGEST = 128
"""About how many images a part has: so much work is done again when a worker is killed."""


def explain_latents(
    head: bytes,
    latents: Latents,
    out: str,
    options: SearchOptions,
    workers: Workers,
    overwrite: bool = False,
    deployment: Deployment | None = None,
) -> Run:
    """A run over every image of a latents file.

    Raises:
        InputError: as `StagedDataset.begin`.
        UsageError, LatentsError: as `verale.search.explain_batches`, here perhaps after some parts are done.
    """
    from verale.head import Head
    from verale.search import Batches

    read, first = Head.from_bytes(head), latents.take(0, min(1, len(latents)))
    Explainer(read, options, deployment)
    try:
        batch = Batches(read, first, replace(options, device="cpu")).size
    except LatentsError as error:
        raise InputError(latents.path, str(error)) from error
    options = replace(options, device=workers.device)
    manifest = {"head": hashlib.sha256(head).hexdigest(), "latents": latents.digest()}
    manifest |= described(options, batch, deployment)
    create_job = partial(_ExplainLatents, head, latents, options, deployment)
    return open_dataset(create_job, certificates_schema(), out, manifest, len(latents), batch, workers, overwrite)


def described(options: SearchOptions, batch: int, deployment: Deployment | None) -> dict[str, Any]:
    """What a manifest says of how images are explained."""
    how = {"options": asdict(options) | {"batch": batch, "max_memory": None}}
    return how if deployment is None else how | {"deployment": asdict(deployment)}


def open_dataset(
    create_job: Callable[[], Job],
    schema: Schema,
    out: str,
    manifest: dict[str, Any],
    total: int,
    batch: int,
    workers: Workers,
    overwrite: bool,
    is_of_same_image: Callable[[dict[str, Any]], bool] = lambda row: True,
) -> Run:
    """A run into a dataset, begun or continued. Parts consist of whole batches.

    A part of an interrupted run is kept if it has a row for each of its images, each certificate has the digest noted,
    and each row is of the image that lies there now; where latents are given, the manifest has their digest.
    """
    import torch

    made_by = {"made_by": f"verale explain {__version__}, torch {torch.__version__}"}
    staged = StagedDataset.begin(out, made_by | manifest, overwrite)
    staged.keep(total, partial(_is_whole, staged, is_of_same_image))
    if not total:
        staged.write(0, 0, to_parquet(to_table([], schema)))

    def work(left: list[Range]) -> Iterator[Finished[list[Explained]]]:
        parts = split(left, batch, workers.size)
        for part in process_parts(create_job, staged, parts, partial(_smaller, batch), workers):
            rows: list[dict[str, Any]] = [{"index": part.start, "predicted": None, "reason": _DIED}]
            if part.result is None:
                staged.write(part.start, part.stop, to_parquet(to_table(rows, schema)))
            else:
                rows = part.result["rows"]
                if undecided := ", ".join(part.result.get("undecided", [])):
                    _log.warning("CaBRNet's float32 logits name another class than the head's: %s", undecided)
            yield Finished(part.start, part.stop, [Explained(**row) for row in rows], part.seconds)

    return Run(ExplainedDataset(staged), total, work)


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


def split(ranges: list[Range], batch: int, workers: int) -> list[Range]:
    """Parts of ranges, each of whole batches counted from image 0, small enough that all workers get some."""
    images = sum(stop - start for start, stop in ranges)
    batches = max(1, min(_LARGEST // batch, math.ceil(images / (4 * workers * batch))))
    return cut(ranges, batch * batches)


def _smaller(batch: int, part: Range) -> list[Range]:
    """The batches of a part, or the images of a batch. An image alone may get another certificate than in its batch."""
    start, stop = part
    batches = cut([part], batch)
    return batches if len(batches) > 1 else cut([part], 1) if stop - start > 1 else []


class _ExplainLatents:
    """The job: rows of latents become rows of certificates."""

    def __init__(
        self, head: bytes, latents: Latents, options: SearchOptions, deployment: Deployment | None = None
    ) -> None:
        import torch

        from verale.head import Head

        torch.set_num_threads(1)
        self._head, self._latents, self._options = Head.from_bytes(head), latents, options
        self._explainer = Explainer(self._head, options, deployment)

    def __call__(self, start: int, stop: int) -> tuple[bytes, Summary]:
        try:
            labels = self._latents.labels(start, stop)
            images = self._latents.take(start, stop)
            explained, rows = rows_of(self._head, images, self._options, start, labels, self._explainer)
        except LatentsError as error:
            raise InputError(self._latents.path, f"counted from image {start}: {error}") from error
        return to_parquet(to_table(rows, certificates_schema())), {"rows": explained}


def rows_of(
    head: Head,
    latents: Any,
    options: SearchOptions,
    start: int,
    labels: Sequence[int | None] | None,
    explainer: Explainer,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Explain images; return the fields of their rows, with indices from `start` on, and the same as rows of a dataset,
    with the bytes of certificates. Raises LatentsError, which counts from there."""
    from verale.search import Batches

    explained: list[dict[str, Any]] = []
    bytes_of: dict[str, bytes] = {}
    batches = Batches(head, latents, options)
    for begin in batches.starts:
        end = begin + batches.size
        known = None if labels is None else labels[begin:end]
        rows, certificates = explainer.part(batches, batches.images[begin:end], start + begin, known)
        explained += map(asdict, rows)
        bytes_of |= certificates
    names = [certificate_name(row["index"]) for row in explained]
    each = zip(explained, names, strict=True)
    return explained, [row | {"name": name, "certificate": bytes_of.get(name)} for row, name in each]
