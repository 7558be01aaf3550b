"""Cover: which images certificates prove; a screen in float64 proposes them, and the checker proves each."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from verale.checker import Status, Verdict
from verale.checker.certificate import LARGEST
from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read
from verale.runs.arguments import HeadFile, LabelledImages, auditor_for
from verale.runs.table import csv_line

__all__ = ["COLUMNS", "Covered", "CoveringAudits", "csv_rows"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Covered:
    """The images that one certificate proves.

    Attributes:
        certificate: its file.
        predicted: the class that it proves; None where it proves none.
        verdict: the checker's, on the certificate without an image.
        images: the indices of the images that satisfy its statements, each proved by the checker.
        labels: of these images, how many have each true class, where that is known.
        unproved: the images that the screen proposed and the checker did not prove, with the reason.
    """

    certificate: str
    predicted: int | None
    verdict: Verdict
    images: tuple[int, ...] = ()
    labels: dict[int, int] | None = None
    unproved: dict[int, str] = field(default_factory=dict)

    @property
    def correct(self) -> int | None:
        """How many of the images have the proved class as their true one."""
        return None if self.labels is None or self.predicted is None else self.labels.get(self.predicted, 0)


class CoveringAudits:
    """Images of a latents file, and the checker that proves which of them certificates cover.

    Args:
        head: its file, or the path.
        latents: the path.
        kernel: see `audit`.

    Attributes:
        total: how many images there are.

    Raises:
        InputError: a file that cannot be used, or latents that do not fit the head.
    """

    def __init__(self, head: str | HeadFile, latents: str, kernel: str | None = None) -> None:
        from verale.head import digest

        file = HeadFile.of(head)
        self._head = file.head
        given = LabelledImages.load(latents, self._head)
        self._path, self._images, self._labels = latents, given.images, given.labels
        self._digests = [digest(image) for image in self._images]
        self._without_images = auditor_for(file, kernel=kernel)
        data = read(latents, "a latents file", most=LARGEST_LATENTS)
        self._auditor = auditor_for(file, data, kernel)
        self.total = len(self._images)

    def of(self, path: str) -> Covered:
        """The images that a certificate proves.

        Raises:
            InputError: a certificate that cannot be read, or that speaks of images with another number of patches.

        Soundness: each image counted satisfies the statements and has the class, because the checker proved entailment
        and instance of the certificate that names this image; the screen only saves it the others.
        """
        from verale.certificate import Certificate
        from verale.rules.coverage import coverage_of

        data = read(path, "a certificate (.ale.json)", LARGEST + 1)
        verdict = self._without_images.check(data, entailment_only=True)
        if verdict.status is not Status.PROVED:
            return Covered(path, None, verdict)
        general = replace(Certificate.from_bytes(data).of_latents(), minimal=False)
        if general.patches != self._images.shape[1]:
            raise InputError(
                self._path,
                f"holds images of {self._images.shape[1]} patches, expected {general.patches} as in {Path(path).name}",
            )
        proved, unproved = [], {}
        for index in coverage_of(self._head, self._images, general.statements).proposed:
            bound = general.of_latents(self._digests[index])
            answer = self._auditor.check(bound.to_bytes())
            if answer.status is Status.PROVED:
                proved.append(index)
            else:
                unproved[index] = answer.message
        _log.info("%s: %d images proved, %d proposed in vain", path, len(proved), len(unproved))
        labels = None if self._labels is None else dict(Counter(self._labels[index] for index in proved))
        return Covered(path, general.predicted, verdict, tuple(proved), labels, unproved)

    def label(self, index: int) -> int | None:
        """The true class of an image, where it is known."""
        return None if self._labels is None else self._labels[index]


COLUMNS = ("Certificate", "Pred Label", "Idx", "True Label")


def csv_rows(covered: Sequence[Covered], covering: CoveringAudits) -> Iterator[str]:
    """The lines of a table: one for each certificate and image that it proves."""
    yield csv_line(COLUMNS)
    for each in covered:
        for index in each.images:
            yield csv_line((each.certificate, each.predicted, index, covering.label(index)))
