"""Cover: which images certificates prove; a screen in float64 proposes them, and an audit proves each."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from verale.checker import AuditOptions
from verale.checker.certificate import LARGEST
from verale.checker.file_auditor import Outcome
from verale.errors import InputError
from verale.files import read
from verale.runs.arguments import HeadFile, LabelledImages
from verale.runs.audit import AuditSetup, audited_by, auditor_of
from verale.runs.listed import StoredBytes

if TYPE_CHECKING:
    from verale.certificate import Certificate
    from verale.runs.audit_log import AuditLog
    from verale.runs.options import RunOptions

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProvedImages:
    """The images of which a certificate is proved, by their indices.

    Attributes:
        images: each satisfies its statements, proved by the checker.
        unproved: those that the screen proposed and the checker did not prove, with the reason.
    """

    images: tuple[int, ...] = ()
    unproved: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Covered:
    """The images that one certificate proves.

    Attributes:
        certificate: its file.
        predicted: the class that it proves; None where it proves none.
        outcome: of its audit without an image.
        proved: the images.
        labels: of these images, how many have each true class, where that is known.
    """

    certificate: str
    predicted: int | None
    outcome: Outcome
    proved: ProvedImages = ProvedImages()
    labels: dict[int, int] | None = None

    @property
    def images(self) -> tuple[int, ...]:
        """The indices of the images that are proved."""
        return self.proved.images

    @property
    def correct(self) -> int | None:
        """How many of the images have the proved class as their true one."""
        return None if self.labels is None or self.predicted is None else self.labels.get(self.predicted, 0)


@dataclass(frozen=True)
class _OfImage:
    """A certificate that names an image."""

    name: str
    certificate: Certificate
    index: int
    digest: str

    def read(self) -> bytes:
        """Its bytes."""
        return self.certificate.of_latents(self.digest).to_bytes()


class CoveringAudits:
    """Images of a latents file, and the audits that prove which of them certificates cover.

    Args:
        head: its file, or the path.
        latents: the path.
        options: what proves.
        how: how the audits run.
        log: gets every outcome; what it has already is not audited again.

    Raises:
        InputError: a file that cannot be used, or latents that do not fit the head.
    """

    def __init__(
        self,
        head: str | HeadFile,
        latents: str,
        options: AuditOptions | None = None,
        how: RunOptions | None = None,
        log: AuditLog | None = None,
    ) -> None:
        from verale.head import digest

        self._file, self._how, self._log = HeadFile.of(head), how, log
        self.data = LabelledImages.load(latents, self._file.head)
        self._digests = [digest(image) for image in self.data.images]
        self._setup = AuditSetup(self._file.path, latents, options or AuditOptions())
        self._auditor = auditor_of(self._setup, self._file.data)
        self.total = len(self.data.images)

    def of(self, paths: Sequence[str]) -> Iterator[Covered]:
        """The images that each of some certificates proves.

        Raises:
            InputError: a certificate that cannot be read, or that speaks of images with another number of patches.
        """
        from verale.certificate import Certificate

        stored = [StoredBytes(path, read(path, "a certificate (.ale.json)", LARGEST + 1)) for path in paths]
        outcomes = list(self.entailed(stored))
        certificates = [
            Certificate.from_bytes(each.data) if outcome.is_proved else None
            for each, outcome in zip(stored, outcomes, strict=True)
        ]
        patches = self.data.images.shape[1]
        for path, certificate in zip(paths, certificates, strict=True):
            if certificate is not None and certificate.patches != patches:
                raise InputError(
                    self.data.file,
                    f"holds images of {patches} patches, expected {certificate.patches} as in {Path(path).name}",
                )
        proved = self.images_of(list(zip(paths, certificates, strict=True)))
        for path, certificate, outcome, found in zip(paths, certificates, outcomes, proved, strict=True):
            if certificate is None:
                yield Covered(path, None, outcome)
                continue
            _log.info("%s: %d images proved, %d proposed in vain", path, len(found.images), len(found.unproved))
            labels = (
                None if self.data.labels is None else dict(Counter(map(self.data.labels.__getitem__, found.images)))
            )
            yield Covered(path, certificate.predicted, outcome, found, labels)

    def entailed(self, certificates: Sequence[StoredBytes]) -> Iterator[Outcome]:
        """Of each certificate, whether its statements entail its class; of its image nothing is asked."""
        setup = replace(self._setup, latents=None, options=replace(self._setup.options, entailment_only=True))
        return audited_by(auditor_of(setup, self._file.data), certificates, setup, self._how, self._log)

    def images_of(self, certificates: Iterable[tuple[str, Certificate | None]]) -> Iterator[ProvedImages]:
        """The images that each certificate of as many patches, after its name, proves; None proves none.

        Soundness: each image counted satisfies the statements and has the class, because the checker proved entailment
        and instance of the certificate that names this image; the screen only saves it the others.
        """
        from verale.rules.coverage import coverage_of

        proposed: list[list[_OfImage]] = []
        for name, certificate in certificates:
            if certificate is None:
                proposed.append([])
                continue
            general = replace(certificate.of_latents(), minimal=False)
            of_all = coverage_of(self._file.head, self.data.images, general.statements, general.predicted)
            proposed.append(
                [_OfImage(f"{name}, image {index}", general, index, self._digests[index]) for index in of_all.proposed]
            )
        every = [one for of_certificate in proposed for one in of_certificate]
        outcomes = audited_by(self._auditor, every, self._setup, self._how, self._log)
        for of_certificate in proposed:
            said = {one.index: next(outcomes) for one in of_certificate}
            yield ProvedImages(
                tuple(index for index, outcome in said.items() if outcome.is_proved),
                {index: outcome.record["message"] for index, outcome in said.items() if not outcome.is_proved},
            )

    def label(self, index: int) -> int | None:
        """The true class of an image, where it is known."""
        return None if self.data.labels is None else self.data.labels[index]


COLUMNS = ("Certificate", "Pred Label", "Idx", "True Label")


def rows_of(covered: Sequence[Covered], covering: CoveringAudits) -> Iterator[tuple[object, ...]]:
    """The rows of a table: one for each certificate and image that it proves."""
    for each in covered:
        for index in each.images:
            yield each.certificate, each.predicted, index, covering.label(index)
