"""Explain at scale: certificates as rows, the same bytes as `verale explain` writes."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from verale.datasets.certificates import Rows, certificates_schema, to_parquet, to_table
from verale.datasets.latents import Latents
from verale.datasets.staging import Staged
from verale.errors import InputError, LatentsError
from verale.ray.pipeline import ATTEMPTS, Crew, Job, Made, Range, made
from verale.version import __version__

if TYPE_CHECKING:
    from pyarrow import Schema

    from verale.head import Head
    from verale.search import SearchOptions

__all__ = ["Explaining", "begin", "cut", "explain_latents", "gaps", "rows_of"]

_LARGEST = 128
"""Images of a part, about: what a killed worker has to do again."""


@dataclass(frozen=True)
class Explaining:
    """A dataset of certificates that is made.

    Attributes:
        staged: where.
        total: images.
        begun: how many of them were there before.
        parts: what is made, in any order.
    """

    staged: Staged
    total: int
    begun: int
    parts: Iterator[Made]

    def finish(self) -> list[int]:
        """Put the dataset in its place; the images without a certificate. Raises InputError: parts are missing."""
        self.staged.publish(self.total)
        rows = Rows.open(self.staged.path, "reason")
        tables = (rows.take(*group, ("index", "reason")) for group in rows.groups)
        return [
            index
            for table in tables
            for index, reason in zip(table["index"].to_pylist(), table["reason"].to_pylist(), strict=True)
            if reason is not None
        ]


def explain_latents(
    head: bytes, latents: Latents, out: str, options: SearchOptions, crew: Crew, overwrite: bool = False
) -> Explaining:
    """Explain every image of a latents file; `publish` what is staged when all parts are made.

    Raises:
        InputError: as `Staged.begin`.
        UsageError, LatentsError: as `verale.search.explain_batches`, which here may come after other parts are made.
    """
    from verale.head import Head
    from verale.search import Batches

    first = latents.take(0, min(1, len(latents)))
    try:
        batch = Batches(Head.from_bytes(head), first, replace(options, device="cpu")).size
    except LatentsError as error:
        raise InputError(latents.path, str(error)) from error
    options = replace(options, device=crew.device)
    manifest = {
        "head": hashlib.sha256(head).hexdigest(),
        "latents": latents.digest(),
        "options": asdict(options) | {"batch": batch, "max_memory": None},
    }
    make = partial(_OfLatents, head, latents, options)
    return begin(make, certificates_schema(), out, manifest, len(latents), batch, crew, overwrite)


def begin(
    make: Callable[[], Job],
    schema: Schema,
    out: str,
    manifest: dict[str, Any],
    total: int,
    batch: int,
    crew: Crew,
    overwrite: bool,
) -> Explaining:
    """Begin a dataset of certificates, or go on with it: parts of whole batches."""
    import torch

    made_by = {"made_by": f"verale explain {__version__}, torch {torch.__version__}"}
    staged = Staged.begin(out, made_by | manifest, overwrite)
    there = staged.ranges()
    parts = cut(gaps(there, total), batch, crew.size)
    if not total:
        staged.write(0, 0, to_parquet(to_table([], schema)))
    begun = sum(stop - start for start, stop in there)
    return Explaining(staged, total, begun, _made(make, schema, staged, parts, batch, crew))


def _made(
    make: Callable[[], Job], schema: Schema, staged: Staged, parts: list[Range], batch: int, crew: Crew
) -> Iterator[Made]:
    for one in made(make, staged, parts, partial(_smaller, batch), crew):
        if one.told is None:
            why = f"{ATTEMPTS} workers died of this image, perhaps for want of memory"
            staged.write(one.start, one.stop, to_parquet(to_table([{"index": one.start, "reason": why}], schema)))
            one = replace(one, told={})
        yield one


def gaps(there: list[Range], total: int) -> list[Range]:
    """What of [0, total) is in none of the ranges."""
    found, reached = [], 0
    for start, stop in sorted(there):
        if start > reached:
            found.append((reached, start))
        reached = max(reached, stop)
    return [*found, (reached, total)] if reached < total else found


def cut(ranges: list[Range], batch: int, workers: int) -> list[Range]:
    """Parts of ranges, each of whole batches counted from image 0; small enough that all workers have some."""
    images = sum(stop - start for start, stop in ranges)
    batches = max(1, min(_LARGEST // batch, math.ceil(images / (4 * workers * batch))))
    return [part for whole in ranges for part in _steps(whole, batch * batches)]


def _smaller(batch: int, part: Range) -> list[Range]:
    """Batches of a part, images of a batch. An image alone may get another certificate than in its batch."""
    start, stop = part
    batches = _steps(part, batch)
    return batches if len(batches) > 1 else _steps(part, 1) if stop - start > 1 else []


def _steps(part: Range, step: int) -> list[Range]:
    """A range cut at the multiples of a step."""
    start, stop = part
    cuts = [start, *range((start // step + 1) * step, stop, step), stop]
    return list(pairwise(cuts))


class _OfLatents:
    """The job: rows of latents to rows of certificates."""

    def __init__(self, head: bytes, latents: Latents, options: SearchOptions) -> None:
        import torch

        from verale.head import Head

        torch.set_num_threads(1)
        self._head, self._latents, self._options = Head.from_bytes(head), latents, options

    def __call__(self, start: int, stop: int) -> tuple[bytes, dict[str, Any]]:
        try:
            labels = self._latents.labels(start, stop)
            rows = rows_of(self._head, self._latents.take(start, stop), self._options, start, labels)
        except LatentsError as error:
            raise InputError(self._latents.path, f"counted from image {start}: {error}") from error
        return to_parquet(to_table(rows, certificates_schema())), {}


def rows_of(
    head: Head, latents: Any, options: SearchOptions, start: int, labels: Sequence[int | None] | None
) -> list[dict[str, Any]]:
    """The rows of images from `start` on. Raises LatentsError, which counts from there."""
    from verale.files import certificate_name
    from verale.runs.explain import rows_and_certificates
    from verale.search import Batches

    rows: list[dict[str, Any]] = []
    batches = Batches(head, latents, options)
    for begin in batches.starts:
        clock = time.perf_counter()
        results = batches.explain(begin)
        seconds = round((time.perf_counter() - clock) / len(results), 4)
        known = None if labels is None else labels[begin : begin + len(results)]
        explained, certificates = rows_and_certificates(results, start + begin, head.size, seconds, known)
        bytes_of = dict(certificates)
        for row in explained:
            name = certificate_name(row.index)
            rows.append(asdict(row) | {"name": name, "certificate": bytes_of.get(name)})
    return rows
