"""What `verale theorem` states of a certificate, as terms of Rocq: what an audit by the kernel `proved` proves."""

from __future__ import annotations

from dataclasses import dataclass

from ..certificate import Certificate, read_certificate
from ..exclusive import Exclusive
from ..head import read_head
from ..limit import LIMIT
from ..read.latents import Image, Latents
from ..steps import Given
from .audit import ProvedAudit
from .claims import ProvedClaims
from .program import find_program
from .terms import certificate_term, head_term, hints_terms, image_term, settings_term
from .text import image_text, prices_text

__all__ = ["Instance", "Prover", "Theorem"]


@dataclass(frozen=True)
class Instance:
    """Claim 2 of a certificate.

    Attributes:
        image: the latents, a term.
        settings: with which it is computed, a term.
    """

    image: str
    settings: str


@dataclass(frozen=True)
class Theorem:
    """The claims of a certificate, as terms of Rocq.

    Attributes:
        predicted: the class.
        certificate: the certificate.
        settings, hints: with which claim 1 is computed. They need not be believed.
        instance: claim 2, where there are latents.
    """

    predicted: int
    certificate: str
    settings: str
    hints: str
    instance: Instance | None


class Prover:
    """Finds how the proved checker proves certificates of a head.

    Threads that share it wait for one another, and a copy is a new one.

    Args:
        head: the bytes of the head file.
        latents: the bytes of a latents file; without it nothing is said of images.
        limit: as for an audit.

    Attributes:
        head: the head, a term.

    Raises:
        HeadError, LatentsError: a file that cannot be used.
        KernelError: there is no program to ask.
    """

    def __init__(self, head: bytes, latents: bytes | None, limit: float = LIMIT) -> None:
        self._head, self._size, self._limit = read_head(head), len(head), limit
        self._latents = None if latents is None else Latents(latents, self._head.depth)
        self._claims = _Hinted(self._head, self._size, find_program(), limit=limit)
        self._exclusive = Exclusive()
        self._files = (head, latents, limit)
        self.head = head_term(self._head)

    def __reduce__(self) -> tuple[type[Prover], tuple[bytes, bytes | None, float]]:
        """Another process makes its own, of the same bytes."""
        return Prover, self._files

    def theorem(self, data: bytes) -> Theorem:
        """The claims of a certificate's bytes, and how they are proved.

        Raises:
            FormatError, UnprovedError, RefutedError: as an audit by the kernel `proved` says it.
            ExecutableError, KernelError: the program fails, or changed.
        """
        certificate = read_certificate(data)
        with self._exclusive.alone():
            return self._theorem(certificate, len(data))

    def _theorem(self, certificate: Certificate, size: int) -> Theorem:
        given = Given(certificate, self._head, self._latents, self._limit, self._size + size)
        audit = ProvedAudit(given, claims=self._claims)
        audit.run(minimality=False)
        image = None
        if "instance" in audit.proved and self._latents is not None and certificate.latents is not None:
            image = self._latents.find(certificate.latents)
        return Theorem(
            certificate.predicted,
            certificate_term(certificate),
            *hints_terms(self._claims.hints),
            None if image is None else Instance(image_term(image), settings_term(self._claims.settings)),
        )


class _Hinted(ProvedClaims):
    """Claims that are proved by the hints which the program finds, and the latest of these.

    Attributes:
        hints: settings and hints of an entailment, as text.
        settings: of an instance.
    """

    hints = settings = ""

    def entails(self, certificate: Certificate) -> bool:
        answer = self._answer("entailment_hints", certificate, prices_text(certificate, self._head.count))
        self.hints = answer.why
        return answer.word == "hints"

    def instance(self, certificate: Certificate, image: Image) -> bool:
        answer = self._answer("instance_settings", certificate, image_text(image))
        self.settings = answer.why
        return answer.word == "hints"
