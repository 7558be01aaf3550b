"""Explain at scale: certificates as rows of a dataset, with the same bytes as `verale explain` writes into a folder."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from verale.datasets.certificates import certificates_schema, to_parquet, to_table
from verale.datasets.latents import Latents
from verale.errors import InputError, LatentsError, naming
from verale.files import certificate_name
from verale.runs.folder import PICTURES
from verale.runs.parts import Explainer
from verale.runs.run import ExplainRun, Finished, Range, cut
from verale.runs.store.parquet import ExplainedDataset, StagedDataset
from verale.runs.table import Explained
from verale.runs.workers.ray import ATTEMPTS, Job, Summary, Workers, process_parts
from verale.version import __version__

if TYPE_CHECKING:
    from pyarrow import Schema
    from torch import Tensor

    from verale.runs.seen import SeenPictures

__all__ = [
    "batch_of",
    "described",
    "explain_latents",
    "explain_pictures",
    "on_workers",
    "open_dataset",
    "rows_of",
    "split",
]

_log = logging.getLogger(__name__)

_DIED = f"{ATTEMPTS} workers died of this image, perhaps because memory ran out"

_OF_IMAGES = ("image", "image_sha256")
"""The columns that say which image a row is of, where there are image files."""

_LARGEST = 128
"""About how many images a part has: so much work is done again when a worker is killed."""


def explain_latents(
    explainer: Explainer,
    latents: Latents,
    out: str,
    workers: Workers,
    overwrite: bool = False,
    digest: str | None = None,
) -> ExplainRun:
    """A run over every image of a latents file, whose digest is taken now if it was not.

    Raises:
        InputError: as `StagedDataset.begin`.
        UsageError, LatentsError: as `verale.search.explain_batches`, here perhaps after some parts are done.
    """
    first = latents.take(0, min(1, len(latents)))
    with naming(latents.path, LatentsError):
        batch = batch_of(explainer, first)
    manifest = {
        "head": explainer.head.digest,
        "latents": digest or latents.digest(),
        **described(explainer, workers, batch),
    }
    create_job = partial(_ExplainLatents, on_workers(explainer, workers), latents)
    return open_dataset(create_job, certificates_schema(), out, manifest, len(latents), batch, workers, overwrite)


def explain_pictures(
    explainer: Explainer,
    seen: SeenPictures,
    labels: Sequence[int] | None,
    out: str,
    workers: Workers,
    overwrite: bool = False,
) -> ExplainRun:
    """A run over every picture; `labels` are their true classes, if known. Raises as `explain_latents`."""
    batch = batch_of(explainer, seen.pictures[:1])
    manifest = {"head": explainer.head.digest, **seen.describe(), **described(explainer, workers, batch)}
    create_job = partial(_ExplainLatents, on_workers(explainer, workers), _Pictures(seen.pictures, labels))
    return open_dataset(create_job, certificates_schema(), out, manifest, len(seen.pictures), batch, workers, overwrite)


@dataclass(frozen=True, eq=False)
class _Pictures:
    """Pictures, uint8 (N, C, H, W), and their true classes, which every worker gets as they are."""

    pictures: Tensor
    known: Sequence[int] | None
    path: str = PICTURES

    def take(self, start: int, stop: int) -> Tensor:
        return self.pictures[start:stop]

    def labels(self, start: int, stop: int) -> Sequence[int] | None:
        return None if self.known is None else self.known[start:stop]


def batch_of(explainer: Explainer, images: Any) -> int:
    """How many images a batch has, told here by some of them. Raises as `Batches`."""
    return replace(explainer, options=replace(explainer.options, device="cpu")).batches(images).size


def on_workers(explainer: Explainer, workers: Workers) -> Explainer:
    """The same on the device of the workers."""
    return replace(explainer, options=replace(explainer.options, device=workers.device))


def described(explainer: Explainer, workers: Workers, batch: int) -> dict[str, object]:
    """What a manifest says of how images are explained."""
    options = asdict(replace(explainer.options, device=workers.device)) | {"batch": batch, "max_memory": None}
    deployment = explainer.deployment
    return {"options": options} | ({} if deployment is None else {"deployment": asdict(deployment)})


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
) -> ExplainRun:
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

    return ExplainRun(ExplainedDataset(staged), total, work)


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
    """The job: latents or pictures become rows of certificates."""

    def __init__(self, explainer: Explainer, latents: Latents | _Pictures) -> None:
        import torch

        torch.set_num_threads(1)
        self._explainer, self._latents = explainer, latents

    def __call__(self, start: int, stop: int) -> tuple[bytes, Summary]:
        try:
            labels = self._latents.labels(start, stop)
            explained, rows = rows_of(self._explainer, self._latents.take(start, stop), start, labels)
        except LatentsError as error:
            raise InputError(self._latents.path, f"counted from image {start}: {error}") from error
        return to_parquet(to_table(rows, certificates_schema())), {"rows": explained}


def rows_of(
    explainer: Explainer, latents: Any, start: int, labels: Sequence[int | None] | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Explain images; return the fields of their rows, with indices from `start` on, and the same as rows of a dataset,
    with the bytes of certificates. Raises LatentsError, which counts from there."""
    explained: list[dict[str, Any]] = []
    bytes_of: dict[str, bytes] = {}
    batches = explainer.batches(latents)
    for begin in batches.starts:
        end = begin + batches.size
        known = None if labels is None else labels[begin:end]
        rows, certificates = explainer.part(batches, batches.images[begin:end], start + begin, known)
        explained += map(asdict, rows)
        bytes_of |= certificates
    names = [certificate_name(row["index"]) for row in explained]
    each = zip(explained, names, strict=True)
    return explained, [row | {"name": name, "certificate": bytes_of.get(name)} for row, name in each]
