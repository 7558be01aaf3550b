"""A run: latents explained into a folder, one certificate an image and a table; an interrupted run is resumed."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from verale.errors import InputError, LatentsError
from verale.files import certificate_name
from verale.paradigms import PARADIGMS
from verale.runs.folder import RUN_FILE, SOURCE, RunFolder, locked
from verale.runs.inputs import keep_inputs, require_inputs
from verale.runs.source import SourceFile
from verale.runs.table import Explained
from verale.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

    from verale.head import Head
    from verale.search import Batches, ImageResult, NotKept, SearchOptions

__all__ = ["FolderRun", "open_run", "rows_and_certificates"]

_log = logging.getLogger(__name__)

_TYPE = "urn:verale:run:v1"


@contextmanager
def open_run(
    directory: Path,
    head: Head,
    latents: Tensor,
    options: SearchOptions,
    labels: Sequence[int] | None = None,
    overwrite: bool = False,
    files: tuple[str, str] | None = None,
) -> Iterator[FolderRun]:
    """Begin a run in a folder, or resume it.

    The same head, latents, labels, options and version make the same run. What an interrupted run has written is kept,
    batch by batch, and the bytes of a certificate do not depend on where the run was interrupted.

    The folder also gets the head and the latents, so that it can be audited on its own: see `keep_inputs`.

    Args:
        directory: where certificates, `explanations.csv` and `run.json` go; one process at a time.
        head: the head.
        latents: (N, D, H, W) or (N, L, D), float32 or float64, exact.
        options: how to explain.
        labels: N true classes, if they are known.
        overwrite: remove what the folder holds, even if it is of the same run.
        files: the paths from which head and latents were read, where they were.

    Raises:
        LatentsError: latents or labels that do not fit this head.
        UsageError: a paradigm that is not defined for the head.
        InputError: a folder that cannot be written, or holds another run, another head or other latents.
        In all these cases nothing is written or removed.
    """
    from verale.search import Batches

    batches = Batches(head, latents, options)
    if labels is not None:
        _check(labels, len(batches.images), head.classes)
    run = _description(batches, labels)
    _require_same_source(directory / SOURCE, run)
    with locked(directory):
        if not overwrite and not (directory / RUN_FILE).exists():
            require_inputs(directory, run["head"], run["latents"], labels)
        folder = RunFolder(directory, run, len(batches.images), batches.size, overwrite)
        keep_inputs(directory, head, latents, run["latents"], labels, files, overwrite)
        yield FolderRun(batches, folder, labels)


@dataclass(frozen=True, eq=False)
class FolderRun:
    """A run in a folder. Iterating over it explains the images that are left; each row comes once it is on disk."""

    batches: Batches
    folder: RunFolder
    labels: Sequence[int] | None

    @property
    def total(self) -> int:
        """How many images the run has."""
        return len(self.batches.images)

    @property
    def rows(self) -> list[Explained]:
        """The rows of images that are explained, in the images' order."""
        return [self.folder.rows[index] for index in sorted(self.folder.rows)]

    def __iter__(self) -> Iterator[Explained]:
        left = [start for start in self.batches.starts if start not in self.folder.rows]
        _log.info("%d of %d images are explained", len(self.folder.rows), self.total)
        for start in left:
            clock = perf_counter()
            results = self.batches.explain(start)
            seconds = perf_counter() - clock
            labels = None if self.labels is None else self.labels[start : start + len(results)]
            rows, certificates = rows_and_certificates(
                results, start, self.batches.head.size, round(seconds / len(results), 4), labels
            )
            self.folder.add(certificates, rows)
            _log.info("images %d to %d: %.2f s", start, start + len(results) - 1, seconds)
            yield from rows
        self.folder.finish()


def rows_and_certificates(
    results: list[ImageResult],
    first: int,
    prototypes: int,
    seconds: float,
    labels: Sequence[int | None] | None = None,
) -> tuple[list[Explained], list[tuple[str, bytes]]]:
    """The table's rows for a batch, and its certificates (name, bytes).

    Args:
        results: one for each image of the batch.
        first: the index of its first image.
        prototypes: P of the head.
        seconds: the time spent on one image.
        labels: the true classes of the batch's images, if they are known.
    """
    from verale.certificate import Certificate

    rows, certificates = [], []
    for index, (result, label) in enumerate(zip(results, labels or [None] * len(results), strict=True), first):
        explanation = result.explanation
        values: dict[str, Any] = {
            "index": index,
            "predicted": explanation.predicted,
            "seconds": seconds,
            "label": label,
            "correct": None if label is None else label == explanation.predicted,
            "others": "; ".join(map(_attempt, result.others)) or None,
            **_confidence(result.logits, explanation.predicted),
        }
        if isinstance(explanation, Certificate):
            data, name = explanation.to_bytes(), certificate_name(index)
            certificates.append((name, data))
            possible = prototypes * (explanation.patches if PARADIGMS[explanation.paradigm].spatial else 1)
            values |= {
                "size": explanation.size,
                "relative_size": round(explanation.size / possible, 6),
                "margin": float(f"{explanation.margin:.6g}"),
                "paradigm": explanation.paradigm,
                "certificate": name,
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        else:
            values["reason"] = explanation.reason
        rows.append(Explained(**values))
    return rows, certificates


def _attempt(other: NotKept) -> str:
    return f"{other.paradigm} {other.reason if other.size is None else other.size}"


def _confidence(logits: Tensor, predicted: int) -> dict[str, Any]:
    """The predicted class and the next one, by their logits (C,); None where a logit is infinite."""
    import torch

    second = next(each for each in logits.argsort(descending=True).tolist() if each != predicted)
    (score, second_score), (share, second_share) = (
        values[[predicted, second]].tolist() for values in (logits, torch.softmax(logits, dim=0))
    )
    numbers = {
        "score": score,
        "probability": share,
        "second_score": second_score,
        "second_probability": second_share,
        "score_difference": score - second_score,
        "probability_difference": share - second_share,
    }
    return {"second": second} | {key: value if math.isfinite(value) else None for key, value in numbers.items()}


def _require_same_source(path: Path, run: dict[str, Any]) -> None:
    """Raise InputError if the folder holds head and latents captured from images, and the run has others."""
    if path.exists() and not SourceFile.read(path, "choose another --out").is_of(run["head"], run["latents"]):
        raise InputError(path, "describes another head or other latents, which lie beside it; choose another --out")


def _check(labels: Sequence[int], images: int, classes: int) -> None:
    if len(labels) != images:
        raise LatentsError(
            f"there are {len(labels)} labels for {images} images: give one label for each image, or none at all"
        )
    for index, label in enumerate(labels):
        if not 0 <= label < classes:
            raise LatentsError(f"label {index} is {label}, expected one of the head's classes, 0 to {classes - 1}")


def _description(batches: Batches, labels: Sequence[int] | None) -> dict[str, Any]:
    """What the results depend on."""
    import torch

    from verale.head import digest_of_all

    options = batches.options
    return {
        "_type": _TYPE,
        "verale": __version__,
        "torch": torch.__version__,
        "head": batches.head.digest,
        "latents": digest_of_all(batches.images),
        "labels": None if labels is None else hashlib.sha256(json.dumps(list(labels)).encode()).hexdigest(),
        "images": len(batches.images),
        "paradigm": batches.paradigm,
        "paradigms": list(batches.paradigms),
        "order": options.order,
        "tolerance": options.tolerance,
        "inflate": options.inflate,
        "avoid": str(options.avoid) or None,
        "costs": str(options.costs) or None,
        "device": torch.device(options.device).type,
        "batch": batches.size,
    }
