"""What the audit of a certificate does in every kernel: step 3 of certificates/v1.md, "Verification", and the record of
what has been proved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from .certificate import Certificate
from .deployment import Deployment
from .errors import UnprovedError
from .head import Head
from .limit import allowed
from .numbers import Numbers
from .read.latents import Image, Latents
from .read.network_file import Network
from .read.pictures import Picture, Pictures
from .verdict import Status, Verdict

__all__ = ["Given", "Margins", "Steps"]

Margins: TypeAlias = tuple[Fraction | None, ...]


@dataclass(frozen=True)
class Given:
    """A certificate, and what it is audited with.

    Attributes:
        certificate: the certificate.
        head: the head.
        latents: of images; None if no instance is to be checked.
        limit: seconds for each megabyte (`limit`).
        size: of head and certificate, in bytes.
        network, pictures: None if no picture is to be checked.
    """

    certificate: Certificate
    head: Head
    latents: Latents | None
    limit: float
    size: int
    network: Network | None = None
    pictures: Pictures | None = None


class Steps(ABC):
    """One certificate in one kernel: what has been proved so far.

    Attributes:
        proved: the claims.
        margins: the lower bound for every class, None at the predicted one; empty before they are known.
        deployed: what is left of them in binary32; empty before it is known.
    """

    def __init__(self, given: Given) -> None:
        self._given, self._certificate, self._head = given, given.certificate, given.head
        self.proved: set[str] = set()
        self._deployment: Deployment | None = None
        self.margins: Margins = ()
        self.deployed: Margins = ()

    @abstractmethod
    def run(self, minimality: bool, deployment: Deployment | None = None) -> None:
        """Steps 3 to 9. Raises FormatError, UnprovedError or RefutedError at the first that fails."""

    def ask(self, deployment: Deployment | None) -> None:
        """Remember what is asked for that no certificate claims."""
        self._deployment = deployment

    @abstractmethod
    def numbers(self) -> Numbers:
        """What the statements prove of activations and rivals; the certificate is one of this head, and fits it. Raises
        FormatError or UnprovedError."""

    @abstractmethod
    def refute(self, image: Image) -> None:
        """Steps 3 to 6 for a witness. Raises FormatError, RefutedError, or UnprovedError at the first that fails."""

    def claims(self) -> dict[str, str]:
        """What became of each claim; the instance is among them even where neither it nor a picture is claimed, and
        what a user asked for besides."""
        claimed = (*self._certificate.claims, *(() if self._deployment is None else ("deployment",)))
        return {
            claim: "proved" if claim in self.proved else "not checked" if claim in claimed else "not claimed"
            for claim in ("entailment", "picture" if "picture" in claimed else "instance", *claimed)
        }

    def verdict(self, status: Status, reason: str, message: str) -> Verdict:
        """The verdict of that status, with what was proved."""
        certificate = self._certificate
        return Verdict(
            status,
            reason,
            message,
            self.claims(),
            certificate.predicted,
            certificate.paradigm,
            len(certificate.statements),
            self.margins,
            self.deployed,
            elements=certificate.elements,
            arithmetic=certificate.arithmetic,
            deployment=self._deployment,
            stated=certificate.margins,
        )

    def _allowed(self, image: Image | None, picture: Picture | None = None) -> float:
        """The seconds that the files may take, of which the image's numbers count as 8 bytes each. Those of a picture
        count with it, its network among them, and reading it has taken some."""
        given = self._given
        size = given.size + (0 if image is None else 8 * len(image.values))
        if picture is None or given.network is None:
            return allowed(given.limit, size)
        return max(0.0, allowed(given.limit, size + picture.size + given.network.size) - picture.taken)

    def _subject(self) -> Image | None:
        """Step 3. The head, the latents and the network are the ones named."""
        given, certificate = self._given, self._certificate
        self._require_head()
        if given.network is not None and certificate.network is not None:
            self._require("network", certificate.network, given.network.sha256)
        if given.latents is None or certificate.latents is None:
            return None
        image = given.latents.find(certificate.latents)
        if image is None:
            raise UnprovedError(
                "subject",
                f"no image of the latents file has the digest {certificate.latents[:16]}...;"
                " check it with its own latents, or without any",
            )
        return image

    def _picture(self) -> Picture | None:
        """Step 3. The picture is the one named."""
        named, pictures = self._certificate.picture, self._given.pictures
        if pictures is None or named is None:
            return None
        picture = pictures.find(named)
        if picture is None:
            raise UnprovedError(
                "subject",
                f"no picture that is given has the digest {named[:16]}...; check it with its own picture, or without",
            )
        return picture

    def _require_head(self) -> None:
        self._require("head", self._certificate.head, self._head.sha256)

    def _require(self, what: str, named: str, given: str) -> None:
        if named != given:
            raise UnprovedError(
                "subject",
                f"the certificate speaks of the {what} {named[:16]}..., this one is {given[:16]}...;"
                f" check it with its own {what}",
            )
