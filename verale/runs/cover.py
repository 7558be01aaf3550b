"""Cover: which images certificates prove; a screen in float64 proposes them, and the checker proves each."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from verale.checker import Auditor, Status, Verdict
from verale.checker.certificate import LARGEST
from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read
from verale.runs.arguments import HeadFile, LabelledImages, auditor_for
from verale.runs.auditor import AuditOptions
from verale.runs.table import csv_line

if TYPE_CHECKING:
    from verale.certificate import Certificate

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
        options: what proves.

    Attributes:
        data: the images.
        total: how many there are.
        auditor: the checker, with the images' latents.

    Raises:
        InputError: a file that cannot be used, or latents that do not fit the head.
    """

    def __init__(self, head: str | HeadFile, latents: str, options: AuditOptions | None = None) -> None:
        from verale.head import digest

        self._file, self._options = HeadFile.of(head), options
        self.data = LabelledImages.load(latents, self._file.head)
        self._digests = [digest(image) for image in self.data.images]
        self.auditor = auditor_for(self._file, read(latents, "a latents file", most=LARGEST_LATENTS), options)
        self.total = len(self.data.images)

    @cached_property
    def _without_images(self) -> Auditor:
        """The checker of certificates that name other images, of which nothing is asked."""
        return auditor_for(self._file, options=self._options)

    def of(self, path: str) -> Covered:
        """The images that a certificate proves.

        Raises:
            InputError: a certificate that cannot be read, or that speaks of images with another number of patches.
        """
        from verale.certificate import Certificate

        data = read(path, "a certificate (.ale.json)", LARGEST + 1)
        verdict = self._without_images.check(data, entailment_only=True)
        if verdict.status is not Status.PROVED:
            return Covered(path, None, verdict)
        certificate, patches = Certificate.from_bytes(data), self.data.images.shape[1]
        if certificate.patches != patches:
            raise InputError(
                self.data.file,
                f"holds images of {patches} patches, expected {certificate.patches} as in {Path(path).name}",
            )
        proved, unproved = self.images_of(certificate)
        _log.info("%s: %d images proved, %d proposed in vain", path, len(proved), len(unproved))
        labels = None if self.data.labels is None else dict(Counter(map(self.data.labels.__getitem__, proved)))
        return Covered(path, certificate.predicted, verdict, proved, labels, unproved)

    def images_of(self, certificate: Certificate) -> tuple[tuple[int, ...], dict[int, str]]:
        """The images that a certificate of as many patches proves, and why others that seemed to be are not proved.

        Soundness: each image counted satisfies the statements and has the class, because the checker proved entailment
        and instance of the certificate that names this image; the screen only saves it the others.
        """
        from verale.rules.coverage import coverage_of

        general = replace(certificate.of_latents(), minimal=False)
        proved, unproved = [], {}
        of_all = coverage_of(self._file.head, self.data.images, general.statements, general.predicted)
        for index in of_all.proposed:
            answer = self.auditor.check(general.of_latents(self._digests[index]).to_bytes())
            if answer.status is Status.PROVED:
                proved.append(index)
            else:
                unproved[index] = answer.message
        return tuple(proved), unproved

    def label(self, index: int) -> int | None:
        """The true class of an image, where it is known."""
        return None if self.data.labels is None else self.data.labels[index]


COLUMNS = ("Certificate", "Pred Label", "Idx", "True Label")


def csv_rows(covered: Sequence[Covered], covering: CoveringAudits) -> Iterator[str]:
    """The lines of a table: one for each certificate and image that it proves."""
    yield csv_line(COLUMNS)
    for each in covered:
        for index in each.images:
            yield csv_line((each.certificate, each.predicted, index, covering.label(index)))
