"""A certificate with some statements released: what the checker still proves, and latents that show what it cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from verale.checker import AuditOptions, Auditor, Status, Verdict
from verale.checker.errors import UnprovedError
from verale.errors import CertificateError, InputError, naming
from verale.runs.arguments import HeadFile, auditor_for, certificate_bytes, named

if TYPE_CHECKING:
    from torch import Tensor

    from verale.certificate import Certificate
    from verale.head import Head

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
        latents: the bytes of a latents file with this image.
        rest: the certificate without the released statements, which the checker says that this image refutes.
    """

    image: Tensor
    latents: bytes
    rest: Certificate


@dataclass(frozen=True, eq=False)
class Released:
    """A proved certificate, of which statements are released.

    Attributes:
        head: its head.
        certificate: the certificate.
        given: (L, D) the image's latents, from which searches start; or None.
        auditor: the checker, for this head.
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

    def open_rivals(self, rest: Certificate) -> list[tuple[Fraction | None, int]]:
        """The classes that the checker does not prove to lose under a certificate's statements, with the margins that
        it proves, the lowest first; margins are None where its proof is cut short."""
        found = [(margin, c) for c, margin in enumerate(self.margins(rest)) if c != rest.predicted]
        still = [(margin, c) for margin, c in found if margin is None or margin <= 0]
        return sorted(still, key=lambda each: (each[0] is not None, each[0] or 0, each[1]))

    def proves(self, rest: Certificate) -> bool:
        """Whether the checker proves that a certificate's statements entail the class, by whatever margins."""
        verdict = self.auditor.check(rest.to_bytes(), entailment_only=True)
        return verdict.status is Status.PROVED or verdict.reason == "margin"

    def refutes(self, rest: Certificate, latents: bytes) -> bool:
        """Whether the checker says that latents refute a certificate."""
        return self.auditor.refute(rest.to_bytes(), latents).status is Status.REFUTED

    def witnesses(
        self, rest: Certificate, seconds: float, rivals: Sequence[int] | None = None, goal: int | None = None
    ) -> Iterator[Witness]:
        """Latents that refute a certificate, found within some seconds. That there are none proves nothing.

        Args:
            rest: the certificate to refute.
            seconds: how long to search.
            rivals: the classes to try, in this order.
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
    from verale.runs.refute import named_image

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


@dataclass(frozen=True)
class Deadline:
    """When to stop, and how long each of several searches may take until then."""

    until: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """That many seconds from now."""
        return cls(monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds that are left, 0 when the time is over."""
        return max(0.0, self.until - monotonic())
