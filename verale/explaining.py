"""Explain latents into a folder: a certificate an image, and a table."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verale.files import write_atomically

if TYPE_CHECKING:
    from torch import Tensor

    from verale.certificate import Certificate
    from verale.head import Head
    from verale.search import Options, Unexplained

__all__ = ["SUMMARY", "Explained", "explain_to"]

SUMMARY = "explanations.csv"

COLUMNS = (
    "Idx",
    "Pred Label",
    "Exp Size",
    "Relative Size",
    "Margin",
    "Runtime (s)",
    "Paradigm",
    "Certificate",
    "Reason",
)


@dataclass(frozen=True)
class Explained:
    """One image's outcome.

    Attributes:
        index: its place among the latents.
        result: the certificate, or why there is none.
        path: where the certificate is.
        seconds: the time its explanation took: its batch's, divided by the images in it.
        pairs: how many statements could have been made: L * P, or P where they are about activations.
    """

    index: int
    result: Certificate | Unexplained
    path: Path
    seconds: float
    pairs: int

    @property
    def certificate(self) -> Certificate | None:
        """The certificate, if there is one."""
        from verale.certificate import Certificate

        return self.result if isinstance(self.result, Certificate) else None

    @property
    def relative_size(self) -> float | None:
        """Statements made over statements that could have been made."""
        return None if self.certificate is None else self.certificate.size / self.pairs

    def row(self) -> tuple[object, ...]:
        """The line of the summary; empty where there is no certificate."""
        certificate = self.certificate
        if certificate is None:
            reason = getattr(self.result, "reason", "")
            return (self.index, self.result.predicted, "", "", "", f"{self.seconds:.4f}", "", "", reason)
        size, share = certificate.size, f"{self.relative_size:.6f}"
        return (
            *(self.index, certificate.predicted, size, share, f"{certificate.margin:.6g}", f"{self.seconds:.4f}"),
            *(certificate.paradigm, self.path.name, ""),
        )


def explain_to(directory: Path, head: Head, latents: Tensor, options: Options) -> Iterator[Explained]:
    """Explain every image and write `NNNNNN.ale.json` for each, then `explanations.csv`; what is made of each, in turn.

    Certificates of an earlier run that this one did not write again are removed: the folder is one run's.

    Raises:
        LatentsError: latents of another network; nothing is written.
        UsageError: a paradigm that is not defined for the head; nothing is written.
    """
    from verale.certificate import Certificate
    from verale.head import as_patches
    from verale.search import explain_batches

    patches = as_patches(latents)
    explained: list[Explained] = []
    start = time.perf_counter()
    for results in explain_batches(head, patches, options):
        seconds = (time.perf_counter() - start) / len(results)
        for result in results:
            path = directory / f"{len(explained):06d}.ale.json"
            if isinstance(result, Certificate):
                result.save(path)
            explained.append(Explained(len(explained), result, path, seconds, _pairs(result, head, patches)))
            yield explained[-1]
        start = time.perf_counter()
    written = {one.path for one in explained if one.certificate is not None}
    for stale in set(directory.glob("*.ale.json")) - written:
        stale.unlink()
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(one.row() for one in explained)
    write_atomically(directory / SUMMARY, table.getvalue().encode())


def _pairs(result: Certificate | Unexplained, head: Head, patches: Tensor) -> int:
    return head.size if getattr(result, "paradigm", None) in ("top_k", "sparse") else head.size * patches.shape[1]
