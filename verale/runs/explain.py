"""Explain latents into a folder: a certificate an image and a table, resumed where an earlier run was interrupted."""

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
from verale.files import read
from verale.runs.folder import SOURCE, RunFolder, certificate_name, locked
from verale.runs.table import Explained
from verale.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

    from verale.certificate import Certificate
    from verale.head import Head
    from verale.search import Batches, SearchOptions, Unexplained

__all__ = ["Explaining", "explaining", "told"]

_log = logging.getLogger(__name__)

_TYPE = "urn:verale:run:v1"


@contextmanager
def explaining(
    directory: Path,
    head: Head,
    latents: Tensor,
    options: SearchOptions,
    labels: Sequence[int] | None = None,
    overwrite: bool = False,
) -> Iterator[Explaining]:
    """Begin to explain into a folder, or go on.

    The same head, latents, labels, options and version make the same run. What an interrupted one left is kept, batch
    by batch, and the bytes of a certificate do not depend on where it was interrupted.

    Args:
        directory: where certificates, `explanations.csv` and `run.json` go; one process at a time.
        head: the head.
        latents: (N, D, H, W) or (N, L, D), float32 or float64, exact.
        options: how to explain.
        labels: N true classes, if they are known.
        overwrite: remove what is there, even if it is the same run's.

    Raises:
        LatentsError: latents or labels that are none of this head.
        UsageError: a paradigm that is not defined for the head.
        InputError: a folder that cannot be written, or holds another run.
        Of these, nothing is written or removed.
    """
    from verale.search import Batches

    batches = Batches(head, latents, options)
    if labels is not None:
        _check(labels, len(batches.images), head.classes)
    run = _run(batches, labels)
    _require_same_source(directory / SOURCE, run)
    with locked(directory):
        folder = RunFolder(directory, run, len(batches.images), batches.size, overwrite)
        yield Explaining(batches, folder, labels)


@dataclass(frozen=True, eq=False)
class Explaining:
    """A run. Iterated, it explains what is left, and gives what is told of each image as soon as that is on disk."""

    batches: Batches
    folder: RunFolder
    labels: Sequence[int] | None

    @property
    def total(self) -> int:
        """How many images the run has."""
        return len(self.batches.images)

    @property
    def found(self) -> list[Explained]:
        """What is told of images that are explained, in their order."""
        return [self.folder.found[index] for index in sorted(self.folder.found)]

    def __iter__(self) -> Iterator[Explained]:
        left = [start for start in self.batches.starts if start not in self.folder.found]
        _log.info("%d of %d images are explained", len(self.folder.found), self.total)
        for start in left:
            clock = perf_counter()
            results = self.batches.explain(start)
            seconds = perf_counter() - clock
            rows, certificates = told(self.batches, start, results, round(seconds / len(results), 4), self.labels)
            self.folder.add(certificates, rows)
            _log.info("images %d to %d: %.2f s", start, start + len(results) - 1, seconds)
            yield from rows
        self.folder.finish()


def told(
    batches: Batches,
    start: int,
    results: list[Certificate | Unexplained],
    seconds: float,
    labels: Sequence[int | None] | None = None,
    first: int = 0,
) -> tuple[list[Explained], list[tuple[str, bytes]]]:
    """What is told of a batch, and its certificates (name, bytes).

    Args:
        start: where the batch begins in `batches`.
        seconds: an image.
        labels: of all images of `batches`, if they are known.
        first: which image of the run the first of `batches` is.
    """
    from verale.certificate import Certificate

    prototypes = batches.head.size
    rows, certificates = [], []
    for place, result in enumerate(results, start):
        label = None if labels is None else labels[place]
        known: dict[str, Any] = {
            "index": first + place,
            "predicted": result.predicted,
            "seconds": seconds,
            "label": label,
            "correct": None if label is None else label == result.predicted,
            **_confidence(batches.logits(place), result.predicted),
        }
        if isinstance(result, Certificate):
            data, name = result.to_bytes(), certificate_name(first + place)
            certificates.append((name, data))
            pairs = prototypes if result.paradigm in ("top_k", "sparse") else prototypes * result.patches
            known |= {
                "size": result.size,
                "relative_size": round(result.size / pairs, 6),
                "margin": float(f"{result.margin:.6g}"),
                "paradigm": result.paradigm,
                "certificate": name,
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        else:
            known["reason"] = result.reason
        rows.append(Explained(**known))
    return rows, certificates


def _confidence(logits: Tensor, predicted: int) -> dict[str, Any]:
    """The predicted class and the next one, by their logits (C,); None where a logit is infinite."""
    import torch

    second = next(each for each in logits.argsort(descending=True).tolist() if each != predicted)
    (score, other), (share, rest) = (
        values[[predicted, second]].tolist() for values in (logits, torch.softmax(logits, dim=0))
    )
    numbers = {
        "score": score,
        "probability": share,
        "second_score": other,
        "second_probability": rest,
        "score_difference": score - other,
        "probability_difference": share - rest,
    }
    return {"second": second} | {key: value if math.isfinite(value) else None for key, value in numbers.items()}


def _require_same_source(path: Path, run: dict[str, Any]) -> None:
    """Raise InputError if the folder has head and latents that images were seen with, and the run has others."""
    if not path.exists():
        return
    try:
        there = json.loads(read(path, "the source of latents"))
        same = (there["head_sha256"], there["latents_digest"]) == (run["head"], run["latents"])
    except (ValueError, TypeError, KeyError):
        same = False
    if not same:
        raise InputError(path, "speaks of another head or other latents, which lie beside it; choose another --out")


def _check(labels: Sequence[int], images: int, classes: int) -> None:
    if len(labels) != images:
        raise LatentsError(f"there are {len(labels)} labels of {images} images: leave them out, or give one an image")
    for index, label in enumerate(labels):
        if not 0 <= label < classes:
            raise LatentsError(f"label {index} is {label}, expected one of the head's classes, 0 to {classes - 1}")


def _run(batches: Batches, labels: Sequence[int] | None) -> dict[str, Any]:
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
        "order": options.order,
        "tolerance": options.tolerance,
        "device": torch.device(options.device).type,
        "batch": batches.size,
    }
