"""Steps 1, 3 and 4 of certificates/v1.md, "Verification", once for all kernels: what a certificate is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Protocol

from .certificate import Certificate
from .errors import NetworkError, PictureError, UnprovedError
from .head import read_head
from .limit import allowed
from .read.latents import Image, Latents

if TYPE_CHECKING:
    from .deployment import Deployment
    from .numbers import LatentsBox, Margins, Numbers, StatementAt
    from .options import AuditOptions
    from .read.network_file import Network
    from .read.pictures import Picture, PictureFile, Pictures

NO_PICTURE = "no network and picture were given, of whose latents something could be proved"
"""Why nothing is proved of a picture where none is at hand."""


@dataclass(frozen=True)
class Subject:
    """A certificate that fits its head, and what it is about.

    Attributes:
        certificate: the certificate.
        seconds: of processor time that a proof may take.
        image: whose latents it names, or a witness; None if no instance is to be proved.
        picture: that it names; None if none is to be proved.
        minimality: whether that claim is to be proved.
        deployment: how the deployed head computes; None if nothing is to be proved of that.
    """

    certificate: Certificate
    seconds: float
    image: Image | None = None
    picture: Picture | None = None
    minimality: bool = False
    deployment: Deployment | None = None

    @property
    def asked(self) -> frozenset[str]:
        """The claims that are to be proved."""
        images = ("instance", self.image), ("picture", self.picture)
        others = ("minimality", self.minimality), ("deployment", self.deployment)
        return frozenset({"entailment", *(claim for claim, what in (*images, *others) if what)})


class Subjects:
    """A head, and what certificates of it may be about.

    Args:
        head: the bytes of the head file.
        latents: those of a latents file; None if no instance is to be checked.
        limit: seconds for each megabyte.
        network, pictures: of a network file, and its pictures; None if no picture is to be checked.

    Attributes:
        size: of the head file, in bytes.

    Raises (step 1):
        HeadError, LatentsError, NetworkError, PictureError: a file that cannot be used, does not fit the head, or is a
            network without pictures or the reverse.
    """

    def __init__(
        self,
        head: bytes,
        latents: bytes | None,
        limit: float,
        network: bytes | None = None,
        pictures: bytes | Sequence[PictureFile] | None = None,
    ) -> None:
        self.head, self.size, self.limit = read_head(head), len(head), limit
        self.latents = None if latents is None else Latents(latents, self.head.depth)
        self.network: Network | None = None
        self.pictures: Pictures | None = None
        if network is None or pictures is None:
            if pictures is not None:
                raise NetworkError("pictures are given without a network; give its file too")
            if network is not None:
                raise PictureError("a network is given without pictures; give a file or a folder of them too")
            return
        from .read.network_file import read_network
        from .read.pictures import PictureFile, Pictures

        self.network = read_network(network)
        if self.network.depth != self.head.depth:
            raise NetworkError(
                f"network file: its latents have {self.network.depth} channels, expected {self.head.depth}, as many as"
                " the head's prototypes"
            )
        files = [PictureFile("", partial(bytes, pictures))] if isinstance(pictures, bytes) else pictures
        self.pictures = Pictures(files, self.network.shape, limit)

    def of_head(self, certificate: Certificate, size: int, image: Image | None = None) -> Subject:
        """Step 3 for the head alone, and step 4, for a certificate of so many bytes and for an image. Nothing else that
        the certificate names is looked up. Raises UnprovedError, FormatError."""
        _require("head", certificate.head, self.head.sha256)
        certificate.check_against(self.head)
        return Subject(certificate, self._seconds(size, image), image)

    def at(self, certificate: Certificate, size: int, latents: str) -> tuple[Subject, Image]:
        """A certificate's statements, as sentences about this head's prototypes by their numbers; and the image that
        has these latents. Raises UnprovedError, FormatError."""
        image = None if self.latents is None else self.latents.find(latents)
        if image is None:
            raise _none("image of the latents file", latents, "latents")
        certificate.check_statements(self.head)
        margins = (None, *(Fraction(1),) * (self.head.classes - 1))
        here = replace(certificate, head=self.head.sha256, predicted=0, margins=margins, prices={})
        return Subject(here, self._seconds(size, image), image), image

    def of(self, certificate: Certificate, size: int, options: AuditOptions) -> Subject:
        """Steps 3 and 4 for a certificate of so many bytes, of which the options say what is to be proved.

        Raises:
            UnprovedError: `subject`: it is about something else; `limit`: too many pictures would have to be read.
            FormatError: it does not fit the head.
            PictureError: its picture is none of those that can be read, and some file cannot be used.
        """
        image, picture, taken = None, None, 0.0
        _require("head", certificate.head, self.head.sha256)
        if self.network is not None and certificate.network is not None:
            _require("network", certificate.network, self.network.sha256)
        if self.latents is not None and certificate.latents is not None:
            image = self.latents.find(certificate.latents)
            if image is None:
                raise _none("image of the latents file", certificate.latents, "latents, or without any")
        if self.network is not None and self.pictures is not None and certificate.picture is not None:
            picture = self.pictures.find(certificate.picture)
            if picture is None:
                raise _none("picture that is given", certificate.picture, "picture, or without")
            size, taken = size + picture.size + self.network.size, picture.taken
        subject = self.of_head(certificate, size, image)  # 4. Statements
        seconds = max(0.0, subject.seconds - taken)
        minimality = options.minimality and "minimality" in certificate.claims
        return replace(subject, seconds=seconds, picture=picture, minimality=minimality, deployment=options.deployment)

    def _seconds(self, size: int, image: Image | None) -> float:
        """Of processor time that a proof may take, for so many bytes of other files than the head's."""
        return allowed(self.limit, self.size + size + (0 if image is None else 8 * len(image.values)))


def _require(what: str, named: str, digest: str) -> None:
    if named != digest:
        raise UnprovedError(
            "subject",
            f"the certificate speaks of the {what} {named[:16]}..., this one is {digest[:16]}...;"
            f" check it with its own {what}",
        )


def _none(what: str, named: str, instead: str) -> UnprovedError:
    return UnprovedError("subject", f"no {what} has the digest {named[:16]}...; check it with its own {instead}")


@dataclass
class Proof:
    """What a kernel has proved of a certificate, so far.

    Attributes:
        claims: those that are proved.
        margins: the lower bound for every class, None at the predicted one; empty before they are known.
        deployed: what is left of them in binary32; empty before it is known.
        box: how exactly the latents of a picture were enclosed; None where that is not said.
    """

    claims: set[str] = field(default_factory=set)
    margins: Margins = ()
    deployed: Margins = ()
    box: LatentsBox | None = None


class Side(Protocol):
    """A subject in one kernel."""

    proof: Proof

    def prove(self) -> None:
        """Steps 5 to 9. Raises UnprovedError or RefutedError at the first that fails."""

    def prove_picture(self) -> None:
        """Step 5 for the picture alone. Raises UnprovedError."""

    def refute(self, witness: Image) -> None:
        """Steps 5 and 6. Raises RefutedError, or UnprovedError at the first that fails."""

    def numbers(self) -> Numbers:
        """What the statements prove of activations and rivals. Raises UnprovedError."""

    def at_image(self, image: Image) -> tuple[StatementAt, ...]:
        """Each statement at an image. Raises UnprovedError: the latents have another number of patches, or lie outside
        the head's domain."""
