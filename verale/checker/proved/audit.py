"""The steps of certificates/v1.md with the kernel `proved`: reading stays here, every claim is left to the executable.

What it does not cover is refused by name. No rule of this package is asked instead.
"""

from __future__ import annotations

from ..deployment import Deployment
from ..errors import RefutedError, UnprovedError
from ..numbers import Numbers
from ..read.latents import Image
from ..read.pictures import Picture
from ..steps import Given, Steps
from .claims import ProvedClaims


class ProvedAudit(Steps):
    """One certificate in the kernel `proved`, whose processor time is limited.

    Args:
        given: the certificate.
        claims: proves what is claimed of this head.
    """

    def __init__(self, given: Given, *, claims: ProvedClaims) -> None:
        super().__init__(given)
        self._claims = claims

    def run(self, minimality: bool, deployment: Deployment | None = None) -> None:
        self.ask(deployment)
        certificate = self._certificate
        image, picture = self._subject(), self._picture()  # 3.
        certificate.check_against(self._head)  # 4. Statements
        self._claims.allow(self._allowed(image, picture))
        if image is not None:  # 5. Instance
            self._require_instance(image)
            self.proved.add("instance")
        if self._claims.entails(certificate):  # 7. Entailment
            self.margins = certificate.margins
            self.proved.add("entailment")
            asked = minimality and "minimality" in certificate.claims
            uncovered = self._uncovered_minimality() if asked else None  # 8. Minimality
            if asked and uncovered is None:
                self.proved.add("minimality")
            if picture is not None:  # 5.
                self._require_pictured(picture)
                self.proved.add("picture")
            if asked:
                self._require_none_spare()
            if uncovered is not None:
                raise uncovered
            if deployment is not None:  # 9.
                raise _uncovered("deployment")
            return
        if image is not None:  # 6. What is refuted cannot be entailed, so it is tried only where the proof fails.
            self._require_not_refuted(image)
        raise self._not_entailed()

    def numbers(self) -> Numbers:
        self._require_head()
        self._certificate.check_against(self._head)
        self._claims.allow(self._allowed(None))
        return self._claims.numbers(self._certificate)

    def refute(self, image: Image) -> None:
        certificate = self._certificate
        self._require_head()  # 3., of the head alone
        certificate.check_against(self._head)  # 4. Statements
        self._claims.allow(self._allowed(image))
        if self._claims.refuted(certificate, image):  # 5. and 6.
            raise self._refuted()
        self._require_instance(image)
        raise UnprovedError(
            "witness",
            "the witness satisfies every statement, and no rival's logit is proved to be at least that of class"
            f" {certificate.predicted}: it is no counterexample, which proves nothing",
        )

    def _require_instance(self, image: Image) -> None:
        if self._claims.instance(self._certificate, image):
            return
        number = self._claims.first_untrue(self._certificate, image)
        if number is None:
            what = "the latents have another number of patches, or lie outside the head's domain"
        else:
            what = f"statement {number} ({self._certificate.statements[number]}) is false, or cannot be decided"
        raise UnprovedError("instance", f"{what}; it is not proved of these latents")

    def _require_pictured(self, picture: Picture) -> None:
        if self._certificate.arithmetic != "real":
            raise _uncovered_picture()
        if self._claims.pictured(self._certificate, picture):
            return
        raise UnprovedError("picture", self._not_pictured(picture))

    def _not_pictured(self, picture: Picture) -> str:
        """Why a picture is not proved."""
        given = "the latents that the network gives for the picture"
        try:
            number = self._claims.first_untrue(self._certificate, picture)
        except UnprovedError as error:  # to find the statement takes more than is left of the limit
            return (
                f"{given} are not proved to lie in the head's domain and to satisfy every statement; which one fails"
                f" was not found: {error}"
            )
        if number is None:
            return f"{given} have another number of patches, or are not proved to lie in the head's domain"
        return (
            f"statement {number} ({self._certificate.statements[number]}) is not proved to hold for {given}; state an"
            " interval that holds the observable's whole range"
        )

    def _uncovered_minimality(self) -> UnprovedError | None:
        """None where every statement is proved to be needed, by the reference ranges; the error where that is not
        covered. Raises UnprovedError."""
        try:
            self._require_minimal()
        except UnprovedError as error:
            if error.reason != "uncovered":
                raise
            return error
        return None

    def _require_minimal(self) -> None:
        if self._claims.minimal(self._certificate):
            return
        number = self._claims.first_unneeded(self._certificate)
        if number is None:
            return
        raise UnprovedError(
            "minimality",
            f"statement {number} ({self._certificate.statements[number]}) is not proved to be needed: drop it, or"
            " withdraw the claim",
        )

    def _require_none_spare(self) -> None:
        """Raises UnprovedError: the class is proved without a statement that the reference ranges need. What is left of
        the limit is spent on this; it cannot show that there is none, and minimality does not say so."""
        try:
            number = self._claims.first_spare(self._certificate)
        except UnprovedError:
            return
        if number is not None:
            self.proved.discard("minimality")
            raise UnprovedError(
                "minimality",
                f"statement {number} ({self._certificate.statements[number]}) is not needed: without it the class is"
                " proved too, though not by the reference ranges; drop it, or withdraw the claim",
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


def _uncovered(claim: str) -> UnprovedError:
    return UnprovedError(
        "uncovered",
        f"not covered by the proof: {claim}; leave --{claim} out, or audit it with another kernel, such as arb",
    )


def _uncovered_picture() -> UnprovedError:
    return UnprovedError(
        "uncovered",
        "not covered by the proof: picture in float32; audit it with another kernel, such as arb, or without the"
        " network",
    )
