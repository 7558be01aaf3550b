"""The steps of certificates/v1.md with the kernel `proved`, from 5 on: every claim is left to the program.

What it does not cover is refused by name. No rule of this package is asked instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import RefutedError, UnprovedError
from ..read.latents import Image
from ..subject import Proof, Subject
from .claims import ProvedClaims

if TYPE_CHECKING:
    from ..numbers import Numbers
    from ..read.pictures import Picture


class ProvedAudit:
    """A subject in the kernel `proved`, whose processor time is limited.

    Args:
        subject: the subject.
        claims: proves what is claimed of its head.
    """

    def __init__(self, subject: Subject, *, claims: ProvedClaims) -> None:
        self.proof = Proof()
        self._subject, self._certificate, self._claims = subject, subject.certificate, claims
        claims.allow(subject.seconds)

    def prove(self) -> None:
        subject, certificate = self._subject, self._certificate
        if subject.image is not None:  # 5. Instance
            self._require_instance(subject.image)
            self.proof.claims.add("instance")
        if not self._claims.entails(certificate):
            if subject.image is not None:  # 6. What is refuted cannot be entailed: tried only where the proof fails.
                self._require_not_refuted(subject.image)
            raise self._not_entailed()
        self.proof.margins = certificate.margins
        self.proof.claims.add("entailment")  # 7.
        uncovered = self._uncovered_minimality() if subject.minimality else None  # 8. Minimality
        if subject.minimality and uncovered is None:
            self.proof.claims.add("minimality")
        if subject.picture is not None:  # 5.
            self._require_pictured(subject.picture)
            self.proof.claims.add("picture")
        if subject.minimality:
            self._require_none_spare()
        if uncovered is not None:
            raise uncovered
        if subject.deployment is not None:  # 9.
            raise _uncovered("deployment", "do not ask for it, or audit it with another kernel, such as arb")

    def numbers(self) -> Numbers:
        return self._claims.numbers(self._certificate)

    def refute(self, witness: Image) -> None:
        if self._claims.refuted(self._certificate, witness):  # 5. and 6.
            raise self._refuted()
        self._require_instance(witness)
        raise UnprovedError(
            "witness",
            "the witness satisfies every statement, and no rival's logit is proved to be at least that of class"
            f" {self._certificate.predicted}: it is no counterexample, which proves nothing",
        )

    def _statement(self, number: int) -> str:
        return f"statement {number} ({self._certificate.statements[number]})"

    def _require_instance(self, image: Image) -> None:
        if self._claims.instance(self._certificate, image):
            return
        number = self._claims.first_untrue(self._certificate, image)
        if number is None:
            what = "the latents have another number of patches, or lie outside the head's domain"
        else:
            what = f"{self._statement(number)} is false, or cannot be decided"
        raise UnprovedError("instance", f"{what}; it is not proved of these latents")

    def _require_pictured(self, picture: Picture) -> None:
        if self._certificate.arithmetic != "real":
            remedy = "audit it with another kernel, such as arb, or without the network"
            raise _uncovered("picture in float32", remedy)
        if not self._claims.pictured(self._certificate, picture):
            raise UnprovedError("picture", self._not_pictured(picture))

    def _not_pictured(self, picture: Picture) -> str:
        """Why a picture is not proved."""
        latents = "the latents that the network gives for the picture"
        try:
            number = self._claims.first_untrue(self._certificate, picture)
        except UnprovedError as error:  # to find the statement takes more than is left of the limit
            return (
                f"{latents} are not proved to lie in the head's domain and to satisfy every statement; which one fails"
                f" was not found: {error}"
            )
        if number is None:
            return f"{latents} have another number of patches, or are not proved to lie in the head's domain"
        return (
            f"{self._statement(number)} is not proved to hold for {latents}; state an interval that holds the"
            " observable's whole range"
        )

    def _uncovered_minimality(self) -> UnprovedError | None:
        """None where every statement is proved to be needed, by the reference ranges; the error where that is not
        covered. Raises UnprovedError."""
        try:
            number = None if self._claims.minimal(self._certificate) else self._claims.first_unneeded(self._certificate)
        except UnprovedError as error:
            if error.reason != "uncovered":
                raise
            return error
        if number is not None:
            raise UnprovedError(
                "minimality",
                f"{self._statement(number)} is not proved to be needed: drop it, or withdraw the claim",
            )
        return None

    def _require_none_spare(self) -> None:
        """Raises UnprovedError: the class is proved without a statement that the reference ranges need. What is left of
        the limit is spent on this; it cannot show that there is none, and minimality does not say so."""
        try:
            number = self._claims.first_spare(self._certificate)
        except UnprovedError:
            return
        if number is not None:
            self.proof.claims.discard("minimality")
            raise UnprovedError(
                "minimality",
                f"{self._statement(number)} is not needed: without it the class is proved too, though not by the"
                " reference ranges; drop it, or withdraw the claim",
                false=True,
            )

    def _require_not_refuted(self, image: Image) -> None:
        try:
            refuted = self._claims.refuted(self._certificate, image)
        except UnprovedError as error:
            if error.reason != "uncovered":
                raise
            return
        if refuted:
            raise self._refuted()

    def _refuted(self) -> RefutedError:
        return RefutedError(
            "at the latents, which satisfy every statement, some rival's logit is at least that of the predicted class"
            f" {self._certificate.predicted}; the certificate is wrong"
        )

    def _not_entailed(self) -> UnprovedError:
        if self._claims.entails_at_all(self._certificate):
            return UnprovedError(
                "margin", "a margin is smaller than stated; the class is proved, state a smaller margin"
            )
        return UnprovedError(
            "entailment", "the statements are not proved to entail the class; state more, or less widely"
        )


def _uncovered(what: str, remedy: str) -> UnprovedError:
    return UnprovedError("uncovered", f"not covered by the proof: {what}; {remedy}")
