"""Refute a certificate: the search for a counterexample, called on objects or on paths; the checker decides. And with
some statements released: what the checker still proves, and latents that show what it cannot."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.checker import AuditOptions, Auditor, Status, Verdict
from verale.checker.errors import UnprovedError
from verale.errors import CertificateError, InputError, LatentsError, naming
from verale.files import write_atomically
from verale.options import keywords
from verale.runs.arguments import (
    HeadFile,
    auditor_for,
    certificate_bytes,
    is_path,
    loaded_images,
    named,
    require_search,
)
from verale.runs.folder import require_output
from verale.runs.options import PROVING, audit_options

if TYPE_CHECKING:
    from torch import Tensor

    from verale.certificate import Certificate
    from verale.head import Head

_log = logging.getLogger(__name__)

SECONDS = 60.0


@keywords(AuditOptions, *PROVING)
def refute(
    certificate: str | Path | Certificate,
    head: str | Path | Head | HeadFile,
    latents: object = None,
    out: str | Path | None = None,
    seconds: float = SECONDS,
    options: AuditOptions | str | None = None,
    **fields: Any,
) -> Verdict:
    """Search for latents that satisfy every statement of a certificate but are classified otherwise.

    Args:
        certificate: the certificate, or the path of its file.
        head: the head that it is about, or the path of its file.
        latents: latents with those of its image, or the path of their file, to start from; they need not be an instance
            of the certificate.
        out: where a witness goes: a latents file of one image (1, L, D) float64.
        seconds: how long to search; a step that began may take 5 seconds more.
        options: what decides, and how long it may take.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).

    Returns:
        REFUTED: the search gave a witness, and the checker proved that it is one. NOT_REFUTED with the reason
        `witness`: the search gave none in that time, which proves nothing. MALFORMED, or NOT_REFUTED with the reason
        `subject`: the certificate cannot be read, or is about another head.

    Raises:
        InputError: a file that cannot be read or written, an invalid head, or latents that do not fit it.
        LatentsError: latents, not in a file, whose shape or values do not fit the head.
        UsageError: seconds below 0, an image too large to search, or something else than a certificate or a head.

    Soundness: REFUTED means that the checker evaluated the witness from its bytes: see `Auditor.refute`.
    """
    import torch

    from verale.certificate import Certificate
    from verale.counterexample import counterexamples
    from verale.head import latents_file

    require_search(seconds, out)
    proving = audit_options(options, fields, PROVING)
    start = time.monotonic()
    file = HeadFile.of(head)
    auditor = auditor_for(file, options=proving)
    data, target = certificate_bytes(certificate), file.head
    if out is not None:
        beside = Path(certificate).parent if is_path(certificate) else None
        require_output(out, [beside, *(given for given in (certificate, file.path, latents) if is_path(given))])

    def verdict_on(image: Tensor) -> tuple[Verdict, bytes]:
        witness = latents_file(image[None])
        return auditor.refute(data, witness), witness

    # Any latents show whether the certificate can be read and is about this head.
    verdict, _ = verdict_on(torch.zeros(1, target.depth, dtype=torch.float64))
    if verdict.status is Status.MALFORMED or verdict.reason == "subject":
        return verdict
    record = Certificate.from_bytes(data)
    given = None if latents is None else named_image(latents, target, record)
    for image in counterexamples(target, record, given, seconds):
        verdict, witness = verdict_on(image)
        took = time.monotonic() - start
        _log.info("after %.1f s the search has a candidate; the checker says %s", took, verdict.status.value)
        if verdict.status is Status.REFUTED:
            if out is not None:
                write_atomically(out, witness)
            return verdict
    took = time.monotonic() - start
    return replace(verdict, reason="witness", message=f"no counterexample found in {took:.1f} s, which proves nothing")


def named_image(latents: object, head: Head, certificate: Certificate) -> Tensor:
    """The image (L, D) that the certificate names, of latents or of a latents file; where it names none, the only one;
    where it names a picture, the only one of which its statements are true.

    Raises:
        InputError: a file that cannot be read or whose latents do not fit, or no such image.
        LatentsError: latents, not in a file, that do not fit.
    """
    from verale.bounds import check_domain
    from verale.head import digest

    path = named(latents, "latents")
    try:
        images = loaded_images(latents, head.depth)
        check_domain(head, images)
    except LatentsError as error:
        if not is_path(latents):
            raise
        raise InputError(path, str(error)) from error
    if images.shape[1] != certificate.patches:
        raise InputError(
            path, f"holds images of {images.shape[1]} patches, expected the certificate's {certificate.patches}"
        )
    if certificate.picture is not None:
        from verale.rules.coverage import coverage_of

        of_all = coverage_of(head, images, certificate.statements, certificate.predicted).proposed
        if len(of_all) != 1:
            raise InputError(
                path,
                f"holds {len(of_all)} images of which the statements are true, expected 1: the certificate names a"
                " picture, so give a file with the latents of that picture alone",
            )
        images = images[of_all]
    if certificate.latents is None:
        if len(images) != 1:
            raise InputError(path, f"holds {len(images)} images, expected 1: the certificate names none of them")
        return images[0]
    for index in range(len(images)):
        if digest(images[index]) == certificate.latents:
            image: Tensor = images[index]
            return image
    raise InputError(
        path,
        f"holds no image with the digest {certificate.latents[:16]}... that the certificate names; give the latents of"
        " its image, or none",
    )


GRACE = 1.0
"""Seconds that a climb may take beyond the search that it belongs to."""


class UnprovedInputError(InputError):
    """A certificate that the checker does not prove; `verdict` says why."""

    def __init__(self, path: str | Path, verdict: Verdict) -> None:
        super().__init__(path, f"is {verdict.status.value} ({verdict.message}); expected a proved certificate")
        self.verdict = verdict
        self.exit_code = verdict.exit_code


@dataclass(frozen=True, eq=False)
class Witness:
    """Latents that satisfy all statements but the released ones and are classified otherwise.

    Attributes:
        image: (L, D) float64.
        rest: the certificate without the released statements, which the checker says that this image refutes.
    """

    image: Tensor
    latents: bytes
    rest: Certificate


@dataclass(frozen=True, eq=False)
class Released:
    """A proved certificate, of which statements are released.

    Attributes:
        given: (L, D) the image's latents, from which searches start; or None.
    """

    head: Head
    certificate: Certificate
    given: Tensor | None
    auditor: Auditor

    def without(self, released: Collection[int]) -> Certificate:
        """The certificate without some statements, by their numbers. It claims nothing of an image."""
        kept = tuple(each for number, each in enumerate(self.certificate.statements) if number not in released)
        return replace(self.certificate.of_latents(), statements=kept, minimal=False)

    def margins(self, rest: Certificate) -> tuple[Fraction | None, ...]:
        """How far the checker proves that the predicted class leads each other under a certificate's statements, at
        least; None at the predicted class, and where its proof is cut short."""
        try:
            return self.auditor.numbers(rest.to_bytes()).margins
        except UnprovedError:
            return (None,) * self.head.classes

    def refutes(self, rest: Certificate, latents: bytes) -> bool:
        """Whether the checker says that latents refute a certificate."""
        return self.auditor.refute(rest.to_bytes(), latents).status is Status.REFUTED

    def witnesses(
        self, rest: Certificate, seconds: float, rivals: Sequence[int] | None = None, goal: int | None = None
    ) -> Iterator[Witness]:
        """Latents that refute a certificate, found within some seconds. That there are none proves nothing.

        Args:
            goal: a class that shall be ahead of all others by floats, in place of any rival.
        """
        from verale.counterexample import counterexamples
        from verale.head import latents_file

        for image in counterexamples(self.head, rest, self.given, seconds, rivals, goal, GRACE):
            latents = latents_file(image[None])
            if self.refutes(rest, latents):
                yield Witness(image, latents, rest)


def opened(
    certificate: str | Path | Certificate,
    head: str | Path | Head | HeadFile,
    latents: object,
    options: AuditOptions | None = None,
) -> Released:
    """A certificate, or that of a file, for its statements to be released; the options say what proves.

    Raises:
        InputError: a file that cannot be read, an invalid head, or latents that do not fit.
        LatentsError: latents, not in a file, whose shape or values do not fit the head.
        UnprovedInputError: a certificate that the checker does not prove; where it claims that its statements are true
            of an image, and latents are given, also one of which that is not proved.
        UsageError: something else than a certificate or a head.
    """
    from verale.certificate import Certificate
    from verale.head import latents_file

    file = HeadFile.of(head)
    data = certificate_bytes(certificate)
    auditor = auditor_for(file, options=options)
    verdict = auditor.check(data, entailment_only=True)
    if verdict.status is not Status.PROVED:
        raise UnprovedInputError(named(certificate, "certificate"), verdict)
    with naming(named(certificate, "certificate"), CertificateError):
        record = Certificate.from_bytes(data)
    target = file.head
    if latents is None:
        return Released(target, record, None, auditor)
    image = named_image(latents, target, record)
    with_image = Auditor(file.data, latents_file(image[None]), auditor.options)
    verdict = with_image.check(data)  # with the instance, where one is claimed
    if verdict.status is not Status.PROVED:
        raise UnprovedInputError(named(certificate, "certificate"), verdict)
    return Released(target, record, image, auditor)
